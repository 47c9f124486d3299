package executor

import (
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Set is one immutable snapshot of everything that rules an event: the hooks in
// running order and the effective settings. An event uses one Set from begin to
// end.
type Set struct {
	Generation  int64
	Project     string // absolute path, "" without a project
	Settings    schema.Settings
	ManagedHash string  // hash of the managed layer, "" without one
	Hooks       []*Hook // in running order, those that cannot run included

	// Refuse, when set, refuses every gate: settings that could hold a guard
	// cannot be read.
	Refuse *protocol.Failure

	byEvent map[protocol.EventName][]*Hook
}

// Source hands out the current Set. An event takes it once.
type Source interface{ Current() *Set }
