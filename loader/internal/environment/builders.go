package environment

import (
	"slices"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/protocol"
)

// Builder makes the bundles of what a scope holds; it is made once in a load.
func (e *Environment) Builder(s *candidate.Scope, runsInPlace bool) *bundle.Builder {
	key := builderKey{s, runsInPlace}
	if in := e.memo.builders[key]; in != nil {
		return in
	}
	in := &bundle.Builder{HooksDir: e.HooksDir(s), Hashes: e.Hashes, See: e.Inputs.See, Finder: &interpreter.Finder{
		Root: s.Root, SearchPath: e.SearchPath(s),
		Pinned: s.NeedsTrust(), Foreign: s.NeedsTrust() && !runsInPlace, Starters: e.memo.starters,
		Checks: e.ChecksFor(s.Layer), RootOnly: s.Layer == protocol.Managed,
	}}
	if s.Layer != protocol.Project {
		in.Inside = func(path string) bool { return e.LiesInside(s.Layer, path) }
	}
	if in.Pinned {
		in.Fixed = slices.Concat(e.EnvConfig(s, nil).Path, hookenv.FixedPath)
	}
	e.memo.builders[key] = in
	return in
}

// HooksDir is the folder that a scope's hook files lie in.
func (e *Environment) HooksDir(s *candidate.Scope) string {
	if e.HooksFolder != "" {
		return e.HooksFolder
	}
	return s.HooksDir()
}

// ProjectAllowed reports whether a person allowed anything of this project, or
// never wants to be asked about it.
func (e *Environment) ProjectAllowed() bool {
	return e.Inner != nil && (e.Inner.Decided.Always || e.Inner.Decided.Here.AnyAllowed())
}

// LiesInside reports whether a file of user or machine is really one of the project
// at work, so that those who change the project change it. Without a project it is
// the checkout that hookd works in.
func (e *Environment) LiesInside(layer protocol.Layer, path string) bool {
	if layer == protocol.Project || e.Inner != nil && e.Inner.Decided.Always {
		return false
	}
	tops := append([]string{e.Workspace.Project, e.Workspace.Root}, e.Workspace.Outer...)
	if e.Workspace.Project == "" {
		tops = []string{e.checkouts.of(e.Workspace.Root)}
	}
	return slices.ContainsFunc(tops, func(top string) bool { return top != "" && inFolder(top, path) })
}

// StartersNow are what would start a hook if it were allowed now.
func (e *Environment) StartersNow(f *candidate.Subject, inPlace bool) interpreter.Pins {
	in := e.Builder(f.Scope, inPlace)
	var now interpreter.Pins
	if !in.Pinned {
		return now
	}
	if word := f.ProgramWord(); word != "" {
		if s := in.ProgramOf(word); s.Bad == nil {
			now.Program = &s.Pin
		}
	}
	if program, is := f.Script(); is {
		if s := in.Starter(program); s.Bad == nil {
			now.Interpreter = &s.Pin
		}
	}
	return now
}
