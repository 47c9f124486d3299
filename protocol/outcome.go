package protocol

import "github.com/go-json-experiment/json/jsontext"

// Outcome is what the hooks of one event decided together. It is what a host
// obeys, the result of event/fire, and what hookd fire --json prints.
type Outcome struct {
	Action     Action        `json:"action"`
	By         *string       `json:"by"`               // the hook whose voice counts
	Reason     string        `json:"reason"`           // what the model and the person read
	Failure    FailureKind   `json:"failure,omitzero"` // set when a failure's rule decided, not an answer
	ByExit     bool          `json:"byExit,omitzero"`  // the block is an exit code 2: never forces a run on
	Event      Event         `json:"event"`            // final
	Context    []HookText    `json:"context"`          // text for the model, in running order
	Notices    []HookText    `json:"notices"`          // text for the person, in running order
	Messages   []Message     `json:"messages"`         // from continue, joined in running order
	Callback   *CallbackCall `json:"callback"`
	Generation int64         `json:"generation"` // of the set of hooks that decided
	Runs       []Run         `json:"runs"`

	// Replaced is the result or response a modifier gave in place of the work
	// itself, nil if none; ReplacedBy is its owner.
	Replaced   jsontext.Value `json:"replaced,omitzero"`
	ReplacedBy string         `json:"replacedBy,omitzero"`
	// Changes are the changes made to the event, with their owners.
	Changes []Change `json:"-"`
}

// HookText is a text and the hook that wrote it.
type HookText struct {
	Hook string `json:"hook"`
	Text string `json:"text"`
}

// Change is one changed field: who changed it, from what to what.
type Change struct {
	Path   string         `json:"path"` // JSON Pointer below data
	By     string         `json:"by"`
	Before jsontext.Value `json:"before"` // nil if it was absent
	After  jsontext.Value `json:"after"`  // nil if it was removed
}

// Skip is why a hook that belongs to the event was not run.
type Skip string

const (
	SkipAfterBlock Skip = "after-block" // an earlier hook refused the event already
	SkipNoMatch    Skip = "no-match"    // only listed with explain
	SkipDisabled   Skip = "disabled"
	SkipDropped    Skip = "dropped" // the observer's queue was full
)

// Run is one hook's part in an event, as it is recorded.
type Run struct {
	Hook         string      `json:"hook"`
	Source       Layer       `json:"source"`
	Hash         string      `json:"hash"` // of the bundle that ran, "" for a built-in
	Class        Class       `json:"class"`
	Mode         Mode        `json:"mode"`
	Action       Action      `json:"action,omitzero"` // enforce
	Would        Action      `json:"would,omitzero"`  // audit: in place of action
	Reason       string      `json:"reason"`
	Failure      FailureKind `json:"failure"`         // null if none
	Detail       string      `json:"detail,omitzero"` // the failure in words, for the person
	Remedy       string      `json:"remedy,omitzero"`
	Rule         Rule        `json:"rule"` // the rule a failure follows
	Exit         *int        `json:"exit"`
	ByExit       bool        `json:"byExit"`
	Signal       string      `json:"signal"` // null if none
	TookMs       float64     `json:"tookMs"`
	Changed      []string    `json:"changed"` // JSON Pointers below data
	ContextBytes int         `json:"contextBytes"`
	Stderr       string      `json:"stderr"` // tail
	Warnings     []string    `json:"warnings,omitzero"`
	Skipped      Skip        `json:"skipped"` // null if it ran
}
