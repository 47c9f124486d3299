package verify

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/loader/install"
)

// check looks at one thing that must hold for an agent to run hookd.
type check struct {
	name   string   // stable, for programs
	agents []string // that it is for, none for all
	find   func(*subject) []finding
}

// checks is the list.
var checks = []check{
	{"readable", nil, unreadable},
	{"entries", nil, entries},
	{"program", nil, replacedProgram},
	{"limit", nil, limits},
	{"matcher", nil, matchers},
	{"background", nil, background},
	{"first", []string{"factory"}, allowsFirst},
	{"shadowed", []string{"openhands", "factory"}, shadowed},
	{"folder-trust", []string{"claude", "gemini", "qwen", "codex"}, untrustedFolder},
	{"hook-trust", []string{"codex"}, untrustedHooks},
	{"mods", []string{"claude"}, mods},
	{"version", nil, unknownVersion},
}

// finding is what a check found: a fault, or in doubt.
type finding struct {
	doubt   bool
	problem Problem
}

func (s *subject) fault(file string, line int, remedy, format string, args ...any) finding {
	return finding{false, Problem{File: file, Line: line, Text: fmt.Sprintf(format, args...), Remedy: remedy}}
}

func (s *subject) doubtful(file string, line int, remedy, format string, args ...any) finding {
	f := s.fault(file, line, remedy, format, args...)
	f.doubt = true
	return f
}

// again is the command that repairs an installation.
func (s *subject) again() string {
	command := "hookd install " + s.agent.Name
	if s.installed.Scope != install.User {
		command += " --" + string(s.installed.Scope)
	}
	return command
}

// unreadable finds files that are there and cannot be read.
func unreadable(s *subject) (found []finding) {
	for _, f := range s.unreadable {
		why := f.err
		if path, is := errors.AsType[*fs.PathError](why); is {
			why = path.Err
		}
		found = append(found, s.fault(f.path, 0, "make the file readable for you, then run hookd verify again", "%s cannot be read, so that nobody can say whether hookd is in it: %v", f.path, why))
	}
	return found
}

// entries finds what package install knows of its own entries, and of settings that
// switch hooks off.
func entries(s *subject) (found []finding) {
	if len(s.unreadable) > 0 && len(s.installed.Entries) == 0 {
		return nil // unreadable says so
	}
	version := s.found.Version
	for _, p := range s.verifier.Installer.Problems(s.installed, version) {
		if !version.Known() && strings.Contains(p.Text, "is not started for") {
			continue // which events it has depends on the version
		}
		found = append(found, finding{false, Problem{File: p.File, Line: p.Line, Text: p.Text, Remedy: p.Remedy}})
	}
	if absent := s.absent(); !version.Known() && len(absent) > 0 {
		found = append(found, s.fault(s.installed.File, 0, s.again(), "hookd is not started for %s", strings.Join(absent, ", ")))
	}
	return found
}

// absent are the events without an entry of ours that every version of the agent has.
func (s *subject) absent() (names []string) {
	if len(s.installed.Entries) == 0 || s.installed.Entries[0].Event == "*" {
		return nil
	}
	oldest, _ := s.agent.Events(install.Version{})
	newest, _ := s.agent.Events(install.Version{Major: 1 << 30})
	has := func(events []install.Event, name string) bool {
		return slices.ContainsFunc(events, func(e install.Event) bool { return e.Name == name })
	}
	for _, e := range oldest {
		there := slices.ContainsFunc(s.installed.Entries, func(entry install.Entry) bool { return strings.EqualFold(entry.Event, e.Name) })
		if !there && has(newest, e.Name) {
			names = append(names, e.Name)
		}
	}
	return names
}

// limits finds entries that do not tell hookd when the agent ends it.
func limits(s *subject) (found []finding) {
	for _, e := range s.installed.Entries {
		row := s.agent.Dialect.Row(e.Event)
		switch {
		case row == nil || e.Command.Limit > 0:
		case e.Limit > 0 && e.Limit < row.Limit:
			found = append(found, s.fault(s.installed.File, e.Line, s.again(), "%s ends hookd after %s at %s, and the entry does not tell hookd (--limit is missing): its answer can come too late", s.agent.Title, e.Limit, e.Event))
		case e.Limit > 0:
			found = append(found, s.doubtful(s.installed.File, e.Line, s.again(), "the entry of %s does not tell hookd the time-out of %s (--limit is missing)", e.Event, e.Limit))
		}
	}
	return found
}

// unknownVersion finds an agent whose version nobody knows.
func unknownVersion(s *subject) []finding {
	if s.verifier.Run == nil || s.found.Version.Known() {
		return nil
	}
	why := s.found.Problem
	switch {
	case why != "":
	case s.found.Program == "" && len(s.agent.Programs) == 0:
		return nil // it is no program that can be asked
	case s.found.Program == "":
		why = "its program is not on PATH"
	default:
		why = "it did not say"
	}
	return []finding{s.doubtful("", 0, "install "+s.agent.Title+" or put it on PATH, then run hookd verify again", "the version of %s is not known (%s): whether it has these hooks cannot be said", s.agent.Title, why)}
}

// gate reports whether the agent can refuse what an event announces.
func (s *subject) gate(event string) bool {
	if s.agent.Dialect == nil {
		return false
	}
	return slices.ContainsFunc(s.agent.Dialect.Rows, func(r row) bool { return r.Name == event && r.Can.Block.Possible() })
}
