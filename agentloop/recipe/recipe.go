package recipe

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/agentloop/frontmatter"
	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/protocol"
)

// Recipe is a prompt with a name.
type Recipe struct {
	Name         string
	Description  string
	AllowedTools []string // names of tools; empty: none
	Arguments    []Argument
	Body         string // with {{name}} where an argument goes
	Layer        protocol.Layer
	Path         string // of its file, "" for one that comes with the program
}

// Argument is what a recipe can be given.
type Argument struct {
	Name        string
	Description string
	Required    bool
	Default     string // of one that is not required
}

// File is a file that may hold a recipe. The caller has decided that it may be used.
type File struct {
	Name  string // of the recipe, if its front matter states none: the file's name without .md
	Path  string // absolute
	Layer protocol.Layer
	Text  []byte // what the file holds, if it was read before; nil: it is read
}

// Finding is what is wrong with a file, or what its author should know.
type Finding struct {
	Path    string // "" for one that comes with the program
	Line    int    // counted from 1, 0 for the file as a whole
	Recipe  string
	Message string
	Error   bool // the file is not used
}

func (f Finding) String() string {
	place := cmp.Or(f.Path, "embedded recipe "+f.Recipe)
	if f.Line > 0 {
		place += fmt.Sprintf(":%d", f.Line)
	}
	return place + ": " + f.Message
}

// head is a recipe's front matter.
type head struct {
	Name         string           `yaml:"name"`
	Description  string           `yaml:"description"`
	AllowedTools frontmatter.List `yaml:"allowed_tools"`
	Arguments    []struct {
		Name        string `yaml:"name"`
		Description string `yaml:"description"`
		Required    bool   `yaml:"required"`
		Default     string `yaml:"default"`
	} `yaml:"arguments"`
}

var (
	// Compiled when first used: the program is started for single events, and most of
	// them need no recipe.
	nameForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	})
	placeholder = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\{\{[ \t]*([A-Za-z0-9][A-Za-z0-9._-]*)[ \t]*\}\}`)
	})
)

// Parse reads the text of a recipe's file. The name of the front matter counts before the
// file's. The recipe is nil if one of the findings is an error; otherwise it can be used.
func Parse(text []byte, file File) (*Recipe, []Finding) {
	fault := func(line int, format string, args ...any) []Finding {
		return []Finding{{Path: file.Path, Line: line, Recipe: file.Name, Message: fmt.Sprintf(format, args...), Error: true}}
	}
	document, err := frontmatter.Parse(text)
	var h head
	var unknown []frontmatter.Unknown
	if err == nil {
		unknown, err = document.Decode(&h)
	}
	if err != nil {
		return nil, fileFault(file, err)
	}
	r := &Recipe{
		Name: file.Name, Description: h.Description, AllowedTools: h.AllowedTools, Body: document.Body,
		Layer: file.Layer, Path: file.Path,
	}
	if h.Name != "" {
		r.Name = h.Name
	}
	switch {
	case !nameForm().MatchString(r.Name):
		return nil, fault(document.Line("name"), "the name %.80q is not made of letters, digits, dots, dashes and underscores, 64 at most", r.Name)
	case r.Body == "":
		return nil, fault(document.BodyLine, "there is no text after the front matter, so nothing to ask the model")
	}
	for _, a := range h.Arguments {
		line := document.Line("arguments")
		switch {
		case !nameForm().MatchString(a.Name):
			return nil, fault(line, "the argument name %.80q is not made of letters, digits, dots, dashes and underscores", a.Name)
		case r.argument(a.Name) != nil:
			return nil, fault(line, "two arguments are named %s", a.Name)
		case a.Required && a.Default != "":
			return nil, fault(line, "the argument %s is required, so it can have no default", a.Name)
		}
		r.Arguments = append(r.Arguments, Argument(a))
	}
	return r, append(unknownFindings(r, unknown), r.undeclared(document)...)
}

// fileFault returns the finding of an error, with its line if the error has one.
func fileFault(file File, err error) []Finding {
	f := Finding{Path: file.Path, Recipe: file.Name, Message: fsutil.WithoutPath(err).Error(), Error: true}
	var placed *frontmatter.Error
	if errors.As(err, &placed) {
		f.Line, f.Message = placed.Line, placed.Message
	}
	return []Finding{f}
}

func unknownFindings(r *Recipe, unknown []frontmatter.Unknown) []Finding {
	var findings []Finding
	for _, u := range unknown {
		findings = append(findings, Finding{
			Path: r.Path, Line: u.Line, Recipe: r.Name,
			Message: fmt.Sprintf("the key %.80s means nothing in a recipe; known are name, description, allowed_tools and arguments", u.Key),
		})
	}
	return findings
}

// undeclared returns a finding for each place in the text that looks like an argument and
// is none: it stays as it is.
func (r *Recipe) undeclared(document *frontmatter.Document) []Finding {
	var findings []Finding
	for _, at := range placeholder().FindAllStringSubmatchIndex(r.Body, -1) {
		if name := r.Body[at[2]:at[3]]; r.argument(name) == nil {
			findings = append(findings, Finding{
				Path: r.Path, Line: document.BodyLine + strings.Count(r.Body[:at[0]], "\n"), Recipe: r.Name,
				Message: fmt.Sprintf("{{%.80s}} is no argument of this recipe and stays as it is; arguments names those that there are", name),
			})
		}
	}
	return findings
}

func (r *Recipe) argument(name string) *Argument {
	for i := range r.Arguments {
		if r.Arguments[i].Name == name {
			return &r.Arguments[i]
		}
	}
	return nil
}

// Render returns the recipe's text with the arguments in their places. The error names an
// argument that the recipe does not have, or a required one that is missing. A place in the
// text of an argument stays as it is.
func (r *Recipe) Render(args map[string]string) (string, error) {
	for name := range args {
		if r.argument(name) == nil {
			return "", fmt.Errorf("recipe %s has no argument %.80q%s", r.Name, name, r.known())
		}
	}
	for _, a := range r.Arguments {
		if _, given := args[a.Name]; a.Required && !given {
			return "", fmt.Errorf("recipe %s needs the argument %s%s", r.Name, a.Name, describe(a))
		}
	}
	return placeholder().ReplaceAllStringFunc(r.Body, func(place string) string {
		a := r.argument(placeholder().FindStringSubmatch(place)[1])
		if a == nil {
			return place
		}
		if value, given := args[a.Name]; given {
			return value
		}
		return a.Default
	}), nil
}

// Allows reports whether the recipe may use a tool.
func (r *Recipe) Allows(tool string) bool { return slices.Contains(r.AllowedTools, tool) }

func (r *Recipe) known() string {
	if len(r.Arguments) == 0 {
		return "; it has none"
	}
	names := make([]string, len(r.Arguments))
	for i, a := range r.Arguments {
		names[i] = a.Name
	}
	return "; it has " + strings.Join(names, ", ")
}

func describe(a Argument) string {
	if a.Description == "" {
		return ""
	}
	return " (" + a.Description + ")"
}
