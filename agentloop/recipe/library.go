package recipe

import (
	"cmp"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/agentloop/frontmatter"
	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/protocol"
)

// Library is the recipes that can be run. It does not change.
type Library struct {
	byName map[string][]*Recipe // one of each layer, the one that counts first
}

//go:embed embedded/*.md
var embedded embed.FS

// New returns the recipes that come with the program and those of the files. Of several with
// one name the managed one counts before the project's, that before the user's, and any
// before the program's own: the layer nearest to the work says how it is done, but none
// undoes what the managed layer fixed. Of two with one name in one layer the second is an
// error.
func New(files ...File) (*Library, []Finding) {
	l := &Library{byName: map[string][]*Recipe{}}
	findings := l.addEmbedded()
	for _, file := range files {
		text, err := file.read()
		if err != nil {
			findings = append(findings, fileFault(file, err)...)
			continue
		}
		r, more := Parse(text, file)
		findings = append(findings, more...)
		if r == nil {
			continue
		}
		if other := l.of(r.Layer, r.Name); other != nil {
			findings = append(findings, Finding{Path: r.Path, Recipe: r.Name, Error: true,
				Message: fmt.Sprintf("the recipe %s is in %s already", r.Name, other.Path)})
			continue
		}
		l.add(r)
	}
	return l, findings
}

func (l *Library) add(r *Recipe) {
	l.byName[r.Name] = append(l.byName[r.Name], r)
	slices.SortStableFunc(l.byName[r.Name], func(a, b *Recipe) int { return nearness(b.Layer) - nearness(a.Layer) })
}

// of returns a layer's recipe of a name, nil if it has none.
func (l *Library) of(layer protocol.Layer, name string) *Recipe {
	i := slices.IndexFunc(l.byName[name], func(r *Recipe) bool { return r.Layer == layer })
	if i < 0 {
		return nil
	}
	return l.byName[name][i]
}

// nearness says which of two recipes of one name counts. It is not the rank of layers, which
// says which hook may overrule which.
func nearness(layer protocol.Layer) int {
	return slices.Index([]protocol.Layer{protocol.Builtin, protocol.User, protocol.Project, protocol.Managed}, layer)
}

func (l *Library) addEmbedded() []Finding {
	entries, err := embedded.ReadDir("embedded")
	if err != nil {
		return []Finding{{Message: err.Error(), Error: true}}
	}
	var findings []Finding
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".md")
		text, err := embedded.ReadFile(path.Join("embedded", entry.Name()))
		if err != nil {
			findings = append(findings, Finding{Recipe: name, Message: err.Error(), Error: true})
			continue
		}
		r, more := Parse(text, File{Name: name, Layer: protocol.Builtin})
		findings = append(findings, more...)
		if r != nil {
			l.add(r)
		}
	}
	return findings
}

// read reads a file, not more of it than a recipe may have.
func (f *File) read() ([]byte, error) {
	if f.Text != nil {
		return f.Text, nil
	}
	return fsutil.ReadRegular(f.Path, frontmatter.MaxSize)
}

// Get returns a recipe by name, as a person names it. The error lists all names.
func (l *Library) Get(name string) (*Recipe, error) {
	if l != nil {
		if all := l.byName[name]; len(all) > 0 {
			return all[0], nil
		}
	}
	return nil, fmt.Errorf("there is no recipe %.80q; there are: %s", name, strings.Join(l.Names(), ", "))
}

// For returns a recipe as a layer names it, in a hook or in settings: one of its own, of a
// layer below it, or one that comes with the program. Of the last kind the managed layer's
// version counts if there is one. A person who may write in a project must not run the
// user's recipes with the tools that they have.
func (l *Library) For(layer protocol.Layer, name string) (*Recipe, error) {
	counts, err := l.Get(name)
	switch {
	case err != nil || layer == protocol.Builtin || layer == protocol.Managed:
		return counts, err
	case counts.Layer == protocol.Managed && l.of(protocol.Builtin, name) != nil:
		return counts, nil
	case counts.Layer != protocol.Managed:
		for _, r := range l.byName[name] {
			if r.Layer == protocol.Builtin || r.Layer.Rank() <= layer.Rank() {
				return r, nil
			}
		}
	}
	return nil, fmt.Errorf("the recipe %s is of the %s layer, whose recipes the %s layer cannot run", name, counts.Layer, layer)
}

// Names returns the names of all recipes, sorted.
func (l *Library) Names() []string {
	var names []string
	for _, r := range l.List() {
		names = append(names, r.Name)
	}
	return names
}

// List returns all recipes, sorted by name.
func (l *Library) List() []*Recipe {
	if l == nil {
		return nil
	}
	var list []*Recipe
	for _, all := range l.byName {
		list = append(list, all[0])
	}
	slices.SortFunc(list, func(a, b *Recipe) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
