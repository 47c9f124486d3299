package skill

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/agentloop/frontmatter"
	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/protocol"
)

// Limits of what is read. An event carries 64 KiB of context, so a larger skill could never
// be added to a prompt.
const (
	maxText        = 32 << 10 // bytes of a skill's text
	maxDescription = 1024     // bytes of a description; the rest is cut off
	maxSkills      = 200      // of all layers together
)

// File is a skill's file that may be used: the caller has checked that. Of a project's skill,
// Path is what was trusted.
type File struct {
	Name  string // the file's name without .md, or that of its folder
	Path  string // absolute
	Layer protocol.Layer

	// Origin is where the skill was written, if Path is a copy: problems name it.
	Origin string

	// Text is what the file holds, if it was read before; nil: it is read, and
	// read again when a later run begins.
	Text []byte

	// Beside are the further files of a skill's folder that may be read, relative
	// to the folder that holds Path, with slashes.
	Beside []string
}

func (f File) shown() string { return cmp.Or(f.Origin, f.Path) }

// Skill is a skill that was read.
type Skill struct {
	Name        string
	Description string // one line; may be empty
	Keywords    []string
	Always      bool
	Text        string
	Revision    string // changes with Text: 12 hexadecimal digits
	File        File
}

// Problem is why a file is not used, or not all of it.
type Problem struct {
	Path    string
	Line    int // counted from 1; 0: the file as a whole
	Message string
}

func (p Problem) Error() string {
	if p.Line == 0 {
		return fmt.Sprintf("skill %s: %s", p.Path, p.Message)
	}
	return fmt.Sprintf("skill %s:%d: %s", p.Path, p.Line, p.Message)
}

// Read reads skills and returns them sorted by name. Of equal names the project's counts
// before the user's, and the managed layer's before both; within a layer the first. A file
// that cannot be used does not affect the others.
func Read(files []File) ([]Skill, []Problem) {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b File) int { return cmp.Compare(precedence(a.Layer), precedence(b.Layer)) })
	taken := map[string]File{}
	var skills []Skill
	var problems []Problem
	for _, file := range files {
		s, problem := readOne(file)
		if problem != nil {
			problems = append(problems, *problem)
		}
		if s == nil {
			continue
		}
		switch other, is := taken[s.Name]; {
		case is && other.Layer == file.Layer:
			problems = append(problems, Problem{Path: file.shown(), Message: fmt.Sprintf("not used: %s is named %s too; give one of them another name", other.shown(), s.Name)})
		case is: // a closer layer has its own, as settings do
		case len(skills) == maxSkills:
			problems = append(problems, Problem{Path: file.shown(), Message: fmt.Sprintf("not used: there are more than %d skills", maxSkills)})
		default:
			taken[s.Name] = file
			skills = append(skills, *s)
		}
	}
	slices.SortFunc(skills, func(a, b Skill) int { return cmp.Compare(a.Name, b.Name) })
	return skills, problems
}

// precedence orders the layers, those whose skills hide the others' first.
func precedence(l protocol.Layer) int {
	switch l {
	case protocol.Managed:
		return 0
	case protocol.Project:
		return 1
	case protocol.User:
		return 2
	}
	return 3
}

func readOne(file File) (*Skill, *Problem) {
	text := file.Text
	if text == nil {
		var err error
		if text, err = readFile(file.Path, filepath.Base(file.Path), frontmatter.MaxSize); err != nil {
			return nil, &Problem{Path: file.shown(), Message: "not used: " + fsutil.WithoutPath(err).Error()}
		}
	}
	s, err := Parse(file.Name, text)
	if s != nil {
		s.File = file
	}
	var located *frontmatter.Error
	switch {
	case err == nil:
		return s, nil
	case errors.As(err, &located):
		return s, &Problem{Path: file.shown(), Line: located.Line, Message: located.Message}
	}
	return s, &Problem{Path: file.shown(), Message: err.Error()}
}

// nameForm is what can be written after $ and / in a prompt, and by a model.
var nameForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
})

// head is the front matter.
type head struct {
	Name        string           `yaml:"name"`
	Description string           `yaml:"description"`
	Keywords    frontmatter.List `yaml:"keywords"`
	Always      bool             `yaml:"always"`
}

// Parse reads the text of a skill's file. An error that comes with a skill says what of it
// was left out. It is a [*frontmatter.Error] if the line is known.
func Parse(fileName string, text []byte) (*Skill, error) {
	document, err := frontmatter.Parse(text)
	if err != nil {
		return nil, unused(err)
	}
	var h head
	if _, err := document.Decode(&h); err != nil {
		return nil, unused(err)
	}
	s := &Skill{
		Name: cmp.Or(strings.TrimSpace(h.Name), fileName), Description: oneLine(h.Description), Always: h.Always,
		Text: document.Body,
	}
	sum := sha256.Sum256([]byte(s.Text))
	s.Revision = hex.EncodeToString(sum[:6])
	for _, keyword := range h.Keywords {
		if keyword = oneLine(keyword); keyword != "" && !slices.Contains(s.Keywords, keyword) {
			s.Keywords = append(s.Keywords, keyword)
		}
	}
	switch {
	case !nameForm().MatchString(s.Name):
		return nil, unused(&frontmatter.Error{Line: document.Line("name"), Message: fmt.Sprintf("the name %q is not made of letters, digits, - _ and . (at most 64)", clip(s.Name, 80))})
	case s.Text == "":
		return nil, unused(errors.New("there is no text after the front matter"))
	case len(s.Text) > maxText:
		return nil, unused(fmt.Errorf("the text has %d bytes, a skill may have %d; move parts of it into files next to a SKILL.md", len(s.Text), maxText))
	case len(s.Description) > maxDescription:
		cut := clip(s.Description, maxDescription)
		err = &frontmatter.Error{Line: document.Line("description"), Message: fmt.Sprintf("the description has %d bytes; what follows byte %d is left out", len(s.Description), maxDescription)}
		s.Description = cut
	}
	return s, err
}

// unused says that an error keeps the file from being used.
func unused(err error) error {
	var located *frontmatter.Error
	if errors.As(err, &located) {
		return &frontmatter.Error{Line: located.Line, Message: "not used: " + located.Message}
	}
	return fmt.Errorf("not used: %w", err)
}

// ReadBeside returns the text of a file next to the skill's own. It reads only files that
// [File] lists, and never through a link that leaves the folder.
func (s *Skill) ReadBeside(name string) (string, error) {
	if !slices.Contains(s.File.Beside, name) {
		if len(s.File.Beside) == 0 {
			return "", fmt.Errorf("the skill %s has no further files", s.Name)
		}
		return "", fmt.Errorf("the skill %s has no file %q; it has: %s", s.Name, clip(name, 80), strings.Join(s.File.Beside, ", "))
	}
	text, err := readFile(s.File.Path, filepath.FromSlash(name), maxText)
	if err != nil {
		return "", fmt.Errorf("%s of the skill %s: %s", name, s.Name, fsutil.WithoutPath(err).Error())
	}
	return string(text), nil
}

// readFile reads a regular file of limited size in the folder of the file next to it.
func readFile(next, name string, limit int64) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Dir(next))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return fsutil.ReadRegularIn(root, name, limit)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len("…")], "") + "…"
}
