package loader

import (
	"slices"

	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// An assembly puts together the snapshot of one load from what was decided.
type assembly struct {
	*report.Report
	opts             *Options
	env              *environment
	scopes           []*scope // the lowest first
	settings         schema.Settings
	hooks            []*hook
	resources        []*decidedResource
	missing          []missingName
	unasked          []string
	unaskedResources []string
}

// take takes in the decided hooks with the answers of those that were asked, and
// settles everything about them.
func (p *assembly) take(decided []*decidedHook, answers map[*decidedHook]*told) {
	for _, d := range decided {
		f := &hook{decidedHook: d, told: answers[d]}
		if f.told != nil {
			f.described = append(f.described, f.told.described)
		}
		p.hooks = append(p.hooks, f)
	}
	p.settings.Agent.MCPServers = p.servers()
	for _, f := range p.hooks {
		p.finalize(f)
	}
	p.missing = p.missingNames()
	p.bound()
}

func (p *assembly) scopeOf(layer protocol.Layer) *scope {
	return p.scopes[slices.IndexFunc(p.scopes, func(s *scope) bool { return s.layer == layer })]
}

func (p *assembly) user() *scope    { return p.scopeOf(protocol.User) }
func (p *assembly) machine() *scope { return p.scopeOf(protocol.Managed) }
