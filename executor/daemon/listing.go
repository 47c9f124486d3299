package daemon

import (
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rule"
	"github.com/hookd-dev/hookd/schema"
)

// Listing is the result of hooks/list, and what hookd list --json prints: the hooks of
// a project in running order, and what is wrong with them.
type Listing struct {
	Generation int64            `json:"generation"`
	Project    string           `json:"project"` // absolute path, "" without a project
	Settings   []ListedSettings `json:"settings"`
	Hooks      []Listed         `json:"hooks"`
	Findings   []schema.Finding `json:"findings"`
}

// ListedSettings is one settings file of a [Listing], and whether it counts.
type ListedSettings struct {
	Source protocol.Layer `json:"source"`
	File   string         `json:"file"`
	State  string         `json:"state"` // in-force untrusted changed gone denied unreadable
}

// Listed is one hook of a [Listing].
type Listed struct {
	Name        string               `json:"name"`
	Source      protocol.Layer       `json:"source"`
	Path        string               `json:"path"`
	Events      []protocol.EventName `json:"events"`
	Match       schema.Match         `json:"match"`
	Reply       *rule.Reply          `json:"reply,omitzero"` // of a rule: its answer, in place of a program
	Can         protocol.Class       `json:"can"`
	Mode        protocol.Mode        `json:"mode"`
	Priority    int                  `json:"priority"`
	TimeoutMs   int64                `json:"timeoutMs"`
	OnFailure   protocol.Rule        `json:"onFailure"`
	Required    bool                 `json:"required"`
	Dialect     string               `json:"dialect,omitzero"`   // whose protocol it speaks, where that is not hookd's
	Named       []string             `json:"named,omitzero"`     // its events as that agent names them
	Matcher     string               `json:"matcher,omitzero"`   // in that agent's form
	ByDialect   bool                 `json:"byDialect,omitzero"` // what its agent does counts when it fails; onFailure is for one that cannot be asked
	Run         schema.RunMode       `json:"run"`
	Pool        *executor.PoolState  `json:"pool,omitzero"` // of a standby or resident hook
	Status      executor.Status      `json:"status"`
	Why         string               `json:"why"`
	Unwatched   []string             `json:"unwatched,omitzero"` // code of the project that it runs and that its hash does not cover, in words
	DescribedBy string               `json:"describedBy"`        // settings header side-file asked import
	Imported    *executor.Imported   `json:"imported,omitzero"`  // where in another agent's settings it was read from
	Order       int                  `json:"order"`              // place in the running order, from 1
}

// Describe lists the hooks of a set.
func Describe(set *executor.Set, findings []schema.Finding) Listing {
	l := Listing{Generation: set.Generation, Project: set.Project, Findings: findings}
	for i, h := range set.Hooks {
		l.Hooks = append(l.Hooks, Listed{
			Name: h.Name, Source: h.Layer, Path: h.Path, Events: h.Events, Match: h.Match, Reply: h.Reply, Can: h.Can,
			Mode: h.Mode, Priority: h.Priority, TimeoutMs: h.Timeout.Milliseconds(), OnFailure: h.OnFailure,
			Required: h.Required, Dialect: h.HookInfo().Dialect, Named: h.Named, Matcher: h.Matcher, ByDialect: h.ByDialect, Run: h.Run, Pool: h.PoolState(), Status: h.Status, Why: h.Why, Unwatched: h.Unwatched, Imported: h.Imported, Order: i + 1,
		})
	}
	return l.filled()
}

// filled has empty lists in place of none, since a client expects lists.
func (l Listing) filled() Listing {
	if l.Hooks == nil {
		l.Hooks = []Listed{}
	}
	if l.Settings == nil {
		l.Settings = []ListedSettings{}
	}
	if l.Findings == nil {
		l.Findings = []schema.Finding{}
	}
	return l
}
