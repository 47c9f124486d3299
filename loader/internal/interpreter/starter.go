package interpreter

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/report"
)

// Starter finds the interpreter of a script.
func (in *Finder) Starter(p Program) Starter {
	if p.Binary {
		return Starter{}
	}
	return in.remembered("#!"+p.Words, func() Starter { return in.interpreter(p) })
}

// ProgramOf finds the program of a command. A word with a slash has been made
// absolute.
func (in *Finder) ProgramOf(word string) Starter {
	return in.remembered(word, func() Starter {
		found := in.look(word, true)
		if found.Bad == nil && found.Pin.Path == "" {
			found.Bad = &report.Problem{Why: fmt.Sprintf("the program %s was not found on PATH", word), Remedy: "install it, or name its folder in hooks.path"}
		}
		return found
	})
}

func (in *Finder) remembered(words string, find func() Starter) Starter {
	key := StarterKey{in.Foreign, in.RootOnly, in.SearchPath, words}
	found, ok := in.Starters[key]
	if !ok {
		found = find()
		found.Shim = in.Pinned && found.Pin.Real != "" && bytes.HasPrefix(FirstBytes(found.Pin.Real), []byte("#!"))
		in.Starters[key] = found
	}
	return found
}

// interpreter finds what starts a script, and refuses a line that leads into the
// project: what lies there could be changed without any change to the hook.
func (in *Finder) interpreter(p Program) Starter {
	l, bad := p.Line()
	if _, err := files.Stat(l.first); err != nil {
		return Starter{Bad: notFound(l.first, "install it, or name another interpreter")}
	}
	if bad != nil {
		return Starter{Bad: bad}
	}
	if in.Foreign {
		if bad := in.LineLeadsInside(&l); bad != nil {
			return Starter{Bad: bad, Refused: true}
		}
	}
	found := in.look(l.Starter(), l.name != "")
	if found.Bad == nil && found.Pin.Path == "" {
		found.Bad = notFound(l.Starter(), "install it, or name its folder in hooks.path")
	}
	return found
}

// look finds a program by an absolute path, or by a mere name: for what a project
// brings along first in the folders that do not depend on the caller, where one
// that others could change counts only if there is no other. The pin is empty if
// there is none.
func (in *Finder) look(name string, search bool) (best Starter) {
	if !search || strings.ContainsRune(name, filepath.Separator) {
		found, _ := in.Judge(name, false)
		return found
	}
	for _, folders := range [][]string{in.Fixed, filepath.SplitList(in.SearchPath)} {
		for _, folder := range folders {
			candidate := filepath.Join(folder, name)
			if !filepath.IsAbs(folder) {
				continue
			}
			found, usable := in.Judge(candidate, true)
			if !usable {
				continue
			}
			found.Pin.Stray = in.Pinned && !slices.Contains(in.Fixed, folder)
			if !in.Pinned || in.Unsafe(candidate) == "" {
				return found
			}
			if best.Pin.Path == "" {
				best = found
			}
		}
		if best.Pin.Path != "" {
			break
		}
	}
	return best
}

// Judge follows one candidate. It is not usable if there is no such program, nor,
// where others may have it, if it lies in the project.
func (in *Finder) Judge(candidate string, others bool) (found Starter, usable bool) {
	if !IsProgram(candidate) {
		return found, false
	}
	walk := in.Checks
	walk.Links = nil
	real, unsafe, err := walk.Follow(candidate)
	switch {
	case err != nil:
		return Starter{Bad: &report.Problem{Why: fmt.Sprintf("the interpreter %s cannot be looked at: %v", candidate, err), Remedy: "name another interpreter"}}, true
	case unsafe != "" && in.RootOnly:
		return Starter{Bad: &report.Problem{Why: fmt.Sprintf("its interpreter %s is not root's alone: %s", candidate, unsafe), Remedy: "name one that belongs to root and is writable by nobody else"}}, true
	}
	if in.Inside != nil && (in.Inside(candidate) || in.Inside(real)) {
		return Starter{Bad: insideTrouble(candidate), Refused: true}, !others
	}
	if in.Foreign && slices.ContainsFunc(append(walk.Links, candidate, real), func(part string) bool { return files.Within(in.Root, part) }) {
		return Starter{Bad: insideTrouble(candidate), Refused: true}, !others
	}
	return Starter{Pin: Pin{Path: candidate, Real: real}}, true
}

func insideTrouble(path string) *report.Problem {
	return &report.Problem{Why: fmt.Sprintf("its interpreter %s lies inside the project", path), Remedy: "name one outside of the project, or run the hook with inPlace"}
}

// Unsafe says who else could change a program, "" if nobody.
func (in *Finder) Unsafe(path string) string {
	_, unsafe, err := in.Checks.Follow(path)
	if err != nil {
		return err.Error()
	}
	return unsafe
}

// LocateStarter is Locate for what starts a hook.
func (in *Finder) LocateStarter(pin Pin) Located {
	at, known := in.located[pin.Path]
	if !known {
		if in.located == nil {
			in.located = map[string]Located{}
		}
		at = in.Locate(pin.Path)
		in.located[pin.Path] = at
	}
	return at
}

// Hold returns a pin that still holds, with the path to execute; nil if what was
// pinned is gone or has come to lie in the project.
func (in *Finder) Hold(was Pin) *Pin {
	held, known := in.held[was]
	if !known {
		if in.held == nil {
			in.held = map[Pin]*Pin{}
		}
		held = in.hold(was)
		in.held[was] = held
	}
	return held
}

func (in *Finder) hold(was Pin) *Pin {
	if real, err := filepath.EvalSymlinks(was.Path); err == nil && real == was.Real && IsProgram(was.Path) {
		return &was
	}
	if !IsProgram(was.Real) {
		return nil
	}
	if real, err := filepath.EvalSymlinks(was.Real); err != nil || in.Foreign && files.Within(in.Root, real) {
		return nil
	}
	return &Pin{Path: was.Real, Real: was.Real}
}
