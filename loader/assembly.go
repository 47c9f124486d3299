package loader

import (
	"slices"

	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/discover"
	"github.com/hookd-dev/hookd/loader/internal/environment"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/trust"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// An assembly puts together the snapshot of one load from what was decided.
type assembly struct {
	*report.Report
	opts               *Options
	env                *environment.Environment
	scopes             []*candidate.Scope // the lowest first
	settings           schema.Settings
	hooks              []*hook
	resources          []*trust.DecidedResource
	missing            []missingName
	unallowed          []string
	unallowedResources []string
}

func (p *assembly) scopeOf(layer protocol.Layer) *candidate.Scope {
	return p.scopes[slices.IndexFunc(p.scopes, func(s *candidate.Scope) bool { return s.Layer == layer })]
}

func (p *assembly) user() *candidate.Scope    { return p.scopeOf(protocol.User) }
func (p *assembly) machine() *candidate.Scope { return p.scopeOf(protocol.Managed) }

// hook is a decided hook on its way into the set.
type hook struct {
	*trust.DecidedHook
	answer       *discover.DescribeAnswer // the program's own answer, the last one of Described; nil if it was not asked
	offByProject bool                     // the project's own settings switch it off
}

// hookName names a hook: equal names in different layers are different hooks.
type hookName struct {
	layer protocol.Layer
	name  string
}

// missingName is a name of hooks.required that no hook has.
type missingName struct {
	scope *candidate.Scope
	name  string
}

// projectScopes are the scopes of projects, the innermost first.
func (p *assembly) projectScopes() []*candidate.Scope {
	var projects []*candidate.Scope
	for _, s := range p.scopes {
		if s.Layer == protocol.Project {
			projects = append(projects, s)
		}
	}
	return projects
}

// noteAnswer notes files of the project that the answer of a program names as
// arguments.
func (p *assembly) noteAnswer(f *hook) {
	if f.Scope.Layer != protocol.Project || f.answer == nil {
		return
	}
	in := p.env.Builder(f.Scope, false)
	for _, word := range f.Resolution.Hook.Args {
		if at := in.Locate(word); at.Exists && f.Swaps[word].Name == "" {
			f.Note("its own answer names %s as an argument", at.Name)
		}
	}
}
