package loader

import (
	"slices"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
	"github.com/hookd-dev/hookd/protocol"
)

// checksFor are the checks of who could change what a layer's hooks are made of.
// Of the managed layer that may be nobody but root, the user included.
func (e *environment) checksFor(layer protocol.Layer) *ownership.Walk {
	checks := ownership.User(e.exempt...)
	if layer != protocol.Managed {
		return checks
	}
	checks.Strict = true
	checks.Owners = func(uid int) bool { return uid == 0 }
	if m := e.managedLayer; m != nil {
		checks.Owners = func(uid int) bool { return uid == 0 || uid == m.Owner }
		checks.Top = m.Top
	}
	return checks
}

// builderKey tells the builders of one load apart.
type builderKey struct {
	scope       *scope
	runsInPlace bool
}

// builder makes the bundles of what a scope holds; it is made once in a load.
func (e *environment) builder(s *scope, runsInPlace bool) *bundle.Builder {
	key := builderKey{s, runsInPlace}
	if in := e.memo.builders[key]; in != nil {
		return in
	}
	in := &bundle.Builder{HooksDir: e.hooksDir(s), Hashes: e.hashes, See: e.Inputs.See, Finder: &interpreter.Finder{
		Root: s.root, SearchPath: e.searchPath(s),
		Pinned: s.needsTrust(), Foreign: s.needsTrust() && !runsInPlace, Starters: e.memo.starters,
		Checks: e.checksFor(s.layer), RootOnly: s.layer == protocol.Managed,
	}}
	if s.layer != protocol.Project {
		in.Inside = func(path string) bool { return e.liesInside(s.layer, path) }
	}
	if in.Pinned {
		in.Fixed = slices.Concat(e.envConfig(s, nil).Path, hookenv.FixedPath)
	}
	e.memo.builders[key] = in
	return in
}

// hooksDir is the folder that a scope's hook files lie in.
func (e *environment) hooksDir(s *scope) string {
	if e.hooksFolder != "" {
		return e.hooksFolder
	}
	return s.hooksDir()
}

// projectAllowed reports whether a person allowed anything of this project, or
// never wants to be asked about it.
func (e *environment) projectAllowed() bool {
	return e.inner != nil && (e.inner.always || e.inner.decisions.AnyAllowed())
}

// liesInside reports whether a file of user or machine is really one of the project
// at work, so that those who change the project change it. Without a project it is
// the checkout that hookd works in.
func (e *environment) liesInside(layer protocol.Layer, path string) bool {
	if layer == protocol.Project || e.inner != nil && e.inner.always {
		return false
	}
	tops := append([]string{e.place.Project, e.place.Root}, e.place.Outer...)
	if e.place.Project == "" {
		tops = []string{e.checkouts.of(e.place.Root)}
	}
	return slices.ContainsFunc(tops, func(top string) bool { return top != "" && inFolder(top, path) })
}

// startersNow are what would start a hook if it were allowed now.
func (e *environment) startersNow(f *subject, inPlace bool) interpreter.Pins {
	in := e.builder(f.scope, inPlace)
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
