package bundle

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rule"
	"github.com/hookd-dev/hookd/schema"
)

// Entry is a description as it is allowed and recorded: every field comes
// from header, side file and the project's settings, and from nothing else, so
// that neither the user's settings nor a program's answer change the hash. Its JSON is
// one flat object, whose members are sorted before it is hashed.
type Entry struct {
	Asked
	Ruled
	Started
	Spoken
	Description string `json:"description,omitzero"`
	Rejected    bool   `json:"rejected,omitzero"` // never equal to one that was allowed
}

// Asked says which events a hook is asked about, and when.
type Asked struct {
	Events   []protocol.EventName `json:"events,omitzero"`
	Match    schema.Match         `json:"match,omitzero"`
	Priority int                  `json:"priority,omitzero"`
	Enabled  bool                 `json:"enabled"`
}

// Ruled says what a hook may answer, and what happens if it fails.
type Ruled struct {
	Can       protocol.Class `json:"can"`
	Mode      protocol.Mode  `json:"mode"`
	OnFailure protocol.Rule  `json:"onFailure"`
	Required  bool           `json:"required,omitzero"`
	Timeout   string         `json:"timeout,omitzero"`
	Sensitive bool           `json:"sensitive,omitzero"`
	Reply     *rule.Reply    `json:"reply,omitzero"` // of a rule
}

// Started says how a hook's program is started, and with what.
type Started struct {
	Command []string       `json:"command,omitzero"`
	Args    []string       `json:"args,omitzero"`
	Run     schema.RunMode `json:"run"`
	Env     []string       `json:"env,omitzero"`
	Files   []string       `json:"files,omitzero"`
	InPlace bool           `json:"inPlace,omitzero"`
}

// Spoken says whose protocol a hook speaks.
type Spoken struct {
	Dialect   string   `json:"dialect"`
	Protocol  int      `json:"protocol"`
	Named     []string `json:"named,omitzero"`     // with another agent's dialect: its events as they are written
	Matcher   string   `json:"matcher,omitzero"`   // in that agent's form
	ByDialect bool     `json:"byDialect,omitzero"` // that agent says what a failure does
}

// EntryOf returns the entry of a description.
func EntryOf(r schema.Resolution) Entry {
	h := r.Hook
	e := Entry{
		Asked:   Asked{Events: h.Events, Match: h.Match, Priority: h.Priority, Enabled: h.Enabled},
		Ruled:   Ruled{Can: h.Can, Mode: h.Mode, OnFailure: h.OnFailure, Required: h.Required, Sensitive: h.Sensitive, Reply: h.Reply},
		Started: Started{Command: h.Command, Args: h.Args, Run: h.Run, Env: h.Env, Files: h.Files, InPlace: h.InPlace},
		Spoken:  Spoken{Dialect: h.Dialect, Protocol: h.Protocol, Named: h.Named, Matcher: h.Matcher, ByDialect: h.ByDialect},

		Description: h.Description,
	}
	if h.Timeout > 0 {
		e.Timeout = h.Timeout.String()
	}
	return e
}

// Hook turns a recorded entry back into a description. timeout is what counts
// where the entry says nothing.
func (e *Entry) Hook(layer protocol.Layer, name, path string, timeout time.Duration) schema.Hook {
	h := schema.Hook{
		Name: name, Layer: layer, Path: path, Events: e.Events, Match: e.Match, Can: e.Can, Mode: e.Mode,
		OnFailure: e.OnFailure, Required: e.Required, Priority: e.Priority, Enabled: e.Enabled,
		Command: e.Command, Args: e.Args, Run: e.Run, Env: e.Env, Files: e.Files, InPlace: e.InPlace,
		Sensitive: e.Sensitive, Reply: e.Reply, Dialect: e.Dialect, Named: e.Named, Matcher: e.Matcher, ByDialect: e.ByDialect, Protocol: e.Protocol, Description: e.Description,
		Timeout: timeout,
	}
	if d, err := time.ParseDuration(e.Timeout); err == nil {
		h.Timeout = d
	}
	return h
}
