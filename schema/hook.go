// Package schema holds the rules for what comes from outside: the shapes of
// settings and hook descriptions, their checks, and the JSON Schemas that are
// generated from the Go types.
package schema

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// RunMode is how a hook's process lives.
type RunMode string

const (
	Once     RunMode = "once"     // one process per event
	Standby  RunMode = "standby"  // the next process already waits on stdin
	Resident RunMode = "resident" // one process per session
)

// Hook is a hook's description with every field resolved: settings entry over
// comment header over side file over what the program said of itself.
type Hook struct {
	Name        string
	Layer       protocol.Layer
	Path        string   // absolute path of the hook's own file; "" for a command found on PATH or a built-in
	Command     []string // a program in place of a file
	Args        []string
	Description string
	Protocol    int
	Events      []protocol.EventName
	Match       Match
	Can         protocol.Class
	Mode        protocol.Mode
	Priority    int // -1000 to 1000, higher first within class and layer
	Timeout     time.Duration
	OnFailure   protocol.Rule
	Required    bool
	Run         RunMode
	Env         []string // names passed besides the allow list
	Files       []string // helpers, relative to the hook's folder
	InPlace     bool
	InProject   bool // dir: project, of a hook of user or machine
	Sensitive   bool
	Dialect     string // "hookd" for our own protocol
	Enabled     bool
}

// Match narrows the events a hook is asked about; see [protocol.Match].
type Match = protocol.Match

// CouldGuard reports whether the hook may refuse an event, so that its absence
// must not go unnoticed.
func (h *Hook) CouldGuard() bool { return h.Can == protocol.CanBlock || h.Required }

// Guards reports whether the hook is there to refuse: it judges, or must answer,
// or was given a rule that refuses. When it cannot run it must fail in its
// place.
func (h *Hook) Guards() bool {
	if h.Mode == protocol.Audit && !h.Required {
		return false
	}
	return h.CouldGuard() || h.Can == protocol.CanModify && (h.OnFailure == protocol.RuleBlock || h.OnFailure == protocol.RuleStop)
}
