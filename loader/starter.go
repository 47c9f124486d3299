package loader

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/report"
)

// A pin is the program that starts a hook as it was found when a person allowed
// the hook. It is not part of what is hashed, so that one hash allows the same
// hook on every machine: the words that name the program are.
type pin struct {
	Path string `json:"path"` // where it was found
	Real string `json:"real"` // what was there, symbolic links followed

	stray bool // found only on the PATH of the shell that asked
}

// pins are what starts one hook: the program of its command, and the interpreter
// of a script, its own file or one of the project that the command starts.
type pins struct {
	Program     *pin `json:"program,omitzero"`
	Interpreter *pin `json:"interpreter,omitzero"`
}

func (p *pins) each() []*pin {
	return slices.DeleteFunc([]*pin{p.Program, p.Interpreter}, func(one *pin) bool { return one == nil })
}

// starter is the program that some words lead to, looked for now.
type starter struct {
	pin     pin
	bad     *report.Problem
	refused bool // it is there, and leads into the project
	shim    bool // it is a script itself
}

// starterKey is what a starter depends on within one load.
type starterKey struct {
	foreign, rootOnly bool
	searchPath, words string
}

// starter finds the interpreter of a script.
func (in *place) starter(p program) starter {
	if p.binary {
		return starter{}
	}
	return in.remembered("#!"+p.words, func() starter { return in.interpreter(p) })
}

// programOf finds the program of a command. A word with a slash has been made
// absolute.
func (in *place) programOf(word string) starter {
	return in.remembered(word, func() starter {
		found := in.look(word, true)
		if found.bad == nil && found.pin.Path == "" {
			found.bad = &report.Problem{Why: fmt.Sprintf("the program %s was not found on PATH", word), Remedy: "install it, or name its folder in hooks.path"}
		}
		return found
	})
}

func (in *place) remembered(words string, find func() starter) starter {
	key := starterKey{in.foreign, in.rootOnly, in.searchPath, words}
	found, ok := in.starters[key]
	if !ok {
		found = find()
		found.shim = in.pinned && found.pin.Real != "" && bytes.HasPrefix(firstBytes(found.pin.Real), []byte("#!"))
		in.starters[key] = found
	}
	return found
}

// interpreter finds what starts a script, and refuses a line that leads into the
// project: what lies there could be changed without any change to the hook.
func (in *place) interpreter(p program) starter {
	l, bad := p.line()
	if _, err := files.Stat(l.first); err != nil {
		return starter{bad: notFound(l.first, "install it, or name another interpreter")}
	}
	if bad != nil {
		return starter{bad: bad}
	}
	if in.foreign {
		if bad := in.lineLeadsInside(&l); bad != nil {
			return starter{bad: bad, refused: true}
		}
	}
	found := in.look(l.starter(), l.name != "")
	if found.bad == nil && found.pin.Path == "" {
		found.bad = notFound(l.starter(), "install it, or name its folder in hooks.path")
	}
	return found
}

// look finds a program by an absolute path, or by a mere name: for what a project
// brings along first in the folders that do not depend on the caller, where one
// that others could change counts only if there is no other. The pin is empty if
// there is none.
func (in *place) look(name string, search bool) (best starter) {
	if !search || strings.ContainsRune(name, filepath.Separator) {
		found, _ := in.judge(name, false)
		return found
	}
	for _, folders := range [][]string{in.fixed, filepath.SplitList(in.searchPath)} {
		for _, folder := range folders {
			candidate := filepath.Join(folder, name)
			if !filepath.IsAbs(folder) {
				continue
			}
			found, usable := in.judge(candidate, true)
			if !usable {
				continue
			}
			found.pin.stray = in.pinned && !slices.Contains(in.fixed, folder)
			if !in.pinned || in.unsafe(candidate) == "" {
				return found
			}
			if best.pin.Path == "" {
				best = found
			}
		}
		if best.pin.Path != "" {
			break
		}
	}
	return best
}

// judge follows one candidate. It is not usable if there is no such program, nor,
// where others may have it, if it lies in the project.
func (in *place) judge(candidate string, others bool) (found starter, usable bool) {
	if !isProgram(candidate) {
		return found, false
	}
	walk := in.checks
	walk.Links = nil
	real, unsafe, err := walk.Follow(candidate)
	switch {
	case err != nil:
		return starter{bad: &report.Problem{Why: fmt.Sprintf("the interpreter %s cannot be looked at: %v", candidate, err), Remedy: "name another interpreter"}}, true
	case unsafe != "" && in.rootOnly:
		return starter{bad: &report.Problem{Why: fmt.Sprintf("its interpreter %s is not root's alone: %s", candidate, unsafe), Remedy: "name one that belongs to root and is writable by nobody else"}}, true
	}
	if in.inside != nil && (in.inside(candidate) || in.inside(real)) {
		return starter{bad: insideTrouble(candidate), refused: true}, !others
	}
	if in.foreign && slices.ContainsFunc(append(walk.Links, candidate, real), func(part string) bool { return files.Within(in.root, part) }) {
		return starter{bad: insideTrouble(candidate), refused: true}, !others
	}
	return starter{pin: pin{Path: candidate, Real: real}}, true
}

func insideTrouble(path string) *report.Problem {
	return &report.Problem{Why: fmt.Sprintf("its interpreter %s lies inside the project", path), Remedy: "name one outside of the project, or run the hook with inPlace"}
}

// unsafe says who else could change a program, "" if nobody.
func (in *place) unsafe(path string) string {
	_, unsafe, err := in.checks.Follow(path)
	if err != nil {
		return err.Error()
	}
	return unsafe
}
