package interpreter

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/report"
)

// Located is where a path leads, as a program with the project for its working
// directory would take it.
type Located struct {
	Name   string // below the project's root, with slashes; "" if it leads elsewhere, "." for the root
	Where  string
	Info   files.Info
	Exists bool
}

// Locate reports whether a path lies in the project, as it is written or as its links
// lead.
func (in *Finder) Locate(path string) (at Located) {
	if in.Root == "" || path == "" || strings.ContainsRune(path, 0) {
		return at
	}
	where := path
	if !filepath.IsAbs(where) {
		where = in.Root + string(filepath.Separator) + where
	}
	at.Where = filepath.Clean(where)
	if !files.Within(in.Root, at.Where) {
		real, err := filepath.EvalSymlinks(where)
		if err != nil || !files.Within(in.Root, real) {
			return at
		}
		at.Where = real
	}
	rel, err := filepath.Rel(in.Root, at.Where)
	if err != nil {
		return at
	}
	at.Name = filepath.ToSlash(rel)
	at.Info, err = files.Stat(at.Where)
	at.Exists = err == nil
	return at
}

// LineLeadsInside refuses an interpreter line that may run code of the project,
// beside the hook's own: "#!/bin/sh x.sh" runs x.sh of the working directory,
// "env -S PYTHONPATH=lib python3" loads modules from there, whatever the hook's
// file says.
func (in *Finder) LineLeadsInside(l *Line) *report.Problem {
	refuse := func(word, why string) *report.Problem {
		return &report.Problem{Why: "its interpreter line names " + word + ", " + why, Remedy: "leave it out of the line, or run the hook with inPlace"}
	}
	if l.Vague {
		return refuse("something", "which only env can read for sure")
	}
	for _, set := range l.Sets {
		if in.SetsCode(set) {
			return refuse(set, "which may make its interpreter load code of the project")
		}
	}
	kind := KindOf(l.Starter())
	for i, word := range l.Args {
		if in.leadsInside(word) {
			return refuse(word, "which would be looked for in the project")
		}
		value := ""
		if i+1 < len(l.Args) {
			value = l.Args[i+1]
		}
		if kind.loadsByName(word, value) {
			return refuse(strings.TrimSpace(word+" "+value), "which runs code by its name, looked for in the project")
		}
	}
	return nil
}

// SetsCode reports whether an assignment NAME=VALUE leads into the project. Where
// the variable can make programs load code, every part of its value must be an
// absolute path outside; of others no part may lie in the project.
func (in *Finder) SetsCode(assignment string) bool {
	name, value, _ := strings.Cut(assignment, "=")
	parts := strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune(":;, ", c) })
	if hookenv.LoadsCode(name) {
		outside := func(path string) bool { return filepath.IsAbs(path) && !in.leadsInside(path) }
		return len(parts) == 0 && value != "" || !all(parts, func(part string) bool {
			carried := optionValue(part)
			option := strings.HasPrefix(part, "--") && (strings.Trim(carried, "0123456789") == "" || outside(carried))
			return option || outside(part)
		})
	}
	return slices.ContainsFunc(append(parts, value), in.leadsInside)
}

func all(parts []string, holds func(string) bool) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !holds(part) })
}

// leadsInside reports whether a word is, or carries, a path that leads into the
// project: one that begins with a dot, one with a slash that is not absolute, one
// that lies there, or the name of a file that is there.
func (in *Finder) leadsInside(word string) bool {
	for _, path := range []string{word, optionValue(word)} {
		if path == "" || strings.HasPrefix(path, "-") {
			continue
		}
		if !filepath.IsAbs(path) && (strings.ContainsRune(path, '/') || path == "." || path == "..") {
			return true
		}
		at := in.Locate(path)
		// A plain word is a path only if there is such a file: run, pipefail.
		if at.Name != "" && (filepath.IsAbs(path) || strings.ContainsRune(path, '.') || at.Exists && (path != word || at.Info.Mode.IsRegular())) {
			return true
		}
	}
	return false
}

// optionValue is what an option may carry: -Ilib, --require=./x.js.
func optionValue(word string) string {
	if _, value, ok := strings.Cut(word, "="); ok {
		return value
	}
	if strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && len(word) > 2 {
		return word[2:]
	}
	return ""
}

// OptionPath splits an argument such as --config=FILE into what stands before
// the path that it may hold, and that.
func OptionPath(arg string) (before, path string) {
	if name, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
		return name + "=", value
	}
	return "", arg
}
