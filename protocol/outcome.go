package protocol

import (
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// Outcome is what the hooks of one event decided together. A host obeys it,
// event/fire returns it, and hookd fire --json prints it.
//
// Action is the strongest answer. Whatever it is, a host also obeys the rest:
// Event is the event to go on with, Messages are to be added (continue, also a
// block at agent-stop and subagent-stop), Callback is to be run, Context and
// Notices are to be shown. Two pairs of cases look alike and are not:
//
//   - Failure is empty when a hook said the action, and names the kind when a
//     hook could not be asked and its rule decided. A stop that a hook said ends
//     the run as the table says (agent-end, at prompt-submit agent-error); a stop
//     with Failure always ends it with agent-error, also at agent-stop and
//     subagent-stop, where the rule block comes out as stop for that reason.
//   - At agent-stop and subagent-stop a block is continue with the reason: Action
//     is then continue, the run's own record keeps block.
type Outcome struct {
	Action     Action        `json:"action"`           // the strongest answer
	By         *string       `json:"by"`               // the hook that gave it
	Reason     string        `json:"reason"`           // what the model and the person read
	Failure    FailureKind   `json:"failure,omitzero"` // set when a failure's rule decided, not an answer
	ByExit     bool          `json:"byExit,omitzero"`  // the block is an exit code 2; at agent-stop and subagent-stop the run goes on with the text of stderr
	Event      Event         `json:"event"`            // final
	Context    []HookText    `json:"context"`          // text for the model, in running order
	Notices    []HookText    `json:"notices"`          // text for the person, in running order
	Messages   []Message     `json:"messages"`         // from continue, joined in running order
	Callback   *CallbackCall `json:"callback"`         // the recipe to run
	Generation int64         `json:"generation"`       // of the set of hooks that decided
	Runs       []Run         `json:"runs"`             // of the hooks that took part

	Answered   *Answered  `json:"answered,omitzero"`   // who answered, if a person was to be asked; absent while nobody has answered
	Replaced   RawMessage `json:"replaced,omitzero"`   // the result or response that a modifier gave in place of the work itself
	ReplacedBy string     `json:"replacedBy,omitzero"` // the hook that gave it
	Lost       []string   `json:"lost,omitzero"`       // what the host cannot carry out of it, each a sentence for the person
	ArgsHidden bool       `json:"argsHidden,omitzero"` // a sensitive hook changed a call's args: do not send the model's own as data.original with later events of the call

	// Changes are the changes made to the event, with their owners, in the order
	// in which they were made. They are listed for a refused event too, whose
	// Event is the unchanged one.
	Changes []Change `json:"-"`
	// Conflicts are the changes that wrote a field which another hook had
	// written before. Each is a warning of the later hook's run, too.
	Conflicts []Conflict `json:"-"`

	changed Event // with all changes, also where the event was refused; see [Outcome.Shown]
}

// Conflict is a field that two hooks wrote. The later one's value stands.
type Conflict struct {
	Path  string // JSON Pointer below data that the later hook wrote
	By    string // the later hook
	Owner string // the hook that had written it
}

// Refused reports whether the event must not take effect: a block or stop, said
// by a hook or made by the rule of one that could not be asked, or an ask that
// nobody has answered yet.
func (o Outcome) Refused() bool {
	return o.Action == Block || o.Action == Stop || o.Action == Ask
}

// Withholds reports whether a decided tool-call-end keeps the result from the model:
// it was refused, and not by a hook that said stop, which ends the run and is no word
// against the result.
func (o Outcome) Withholds() bool {
	return o.Refused() && !(o.Action == Stop && o.Failure == "")
}

// CouldNotAsk reports whether the rule of a hook that failed decided, in place of
// an answer: the run then ends with agent-error wherever it ends, and the model
// reads no more than Reason.
func (o Outcome) CouldNotAsk() bool { return o.Failure != "" }

// DecidedBy is the origin of the hook that decided, zero if no hook did.
func (o Outcome) DecidedBy() Origin {
	if o.By == nil {
		return Origin{}
	}
	return OriginOf(o.DecidedLayer(), *o.By)
}

// DecidedLayer is the layer of the hook that decided, for [FoldOptions] of the
// permission-request that follows an ask. It is "" if no hook did.
func (o Outcome) DecidedLayer() Layer {
	if o.By == nil {
		return ""
	}
	// Equal names in different layers are different hooks: the highest counts, so
	// that no lower one is taken for it.
	layer := Layer("")
	for _, run := range o.Runs {
		if run.Hook == *o.By && run.Skipped == "" && (layer == "" || run.Source.Rank() > layer.Rank()) {
			layer = run.Source
		}
	}
	return layer
}

// HookText is a text and the hook that wrote it.
type HookText struct {
	Hook    string      `json:"hook"`
	Source  Layer       `json:"source,omitzero"` // the hook's layer, absent where hookd itself speaks
	Text    string      `json:"text"`
	Failure FailureKind `json:"failure,omitzero"` // set if the notice says that the hook could not be asked; its run says more
	// Warning is set where the text is one of the warnings of the hook's run.
	Warning bool `json:"-"`
}

// Change is one changed field: who changed it, from what to what.
type Change struct {
	Path   string     `json:"path"` // JSON Pointer below data
	By     string     `json:"by"`
	Before RawMessage `json:"before"` // nil if it was absent
	After  RawMessage `json:"after"`  // nil if it was removed

	Source    Layer `json:"source"`             // of By
	Sensitive bool  `json:"sensitive,omitzero"` // By is: no screen shows the values
}

// NullString is a string that is null in JSON when empty.
type NullString string

// Skip is why a hook that belongs to the event was not run.
type Skip string

const (
	SkipAfterBlock Skip = "after-block" // an earlier hook refused the event already
	SkipNoMatch    Skip = "no-match"    // only listed with explain
	SkipDisabled   Skip = "disabled"
	SkipAbsent     Skip = "absent"  // it does not run at all, detail says why; only listed with explain
	SkipDropped    Skip = "dropped" // the observer's queue was full
)

// Run is one hook's part in an event, as it is recorded.
type Run struct {
	Hook         string      `json:"hook"`
	Source       Layer       `json:"source"` // the hook's layer
	Hash         string      `json:"hash"`   // of the bundle that ran, "" for a built-in
	Class        Class       `json:"class"`
	Mode         Mode        `json:"mode"`
	Action       Action      `json:"action,omitzero"` // enforce
	Would        Action      `json:"would,omitzero"`  // audit: in place of action
	Reason       string      `json:"reason"`
	Failure      FailureKind `json:"failure"`         // null if none
	Detail       string      `json:"detail,omitzero"` // the failure in words, for the person
	Remedy       string      `json:"remedy,omitzero"` // what to do about it
	Rule         Rule        `json:"rule"`            // the rule a failure follows
	Exit         *int        `json:"exit"`            // exit code, null without an end of its own
	ByExit       bool        `json:"byExit"`          // its block is an exit code 2
	Signal       NullString  `json:"signal"`          // SIGSEGV; null if none
	TookMs       float64     `json:"tookMs"`
	Changed      []string    `json:"changed"` // JSON Pointers below data
	ContextBytes int         `json:"contextBytes"`
	Stderr       string      `json:"stderr"`            // tail
	Warnings     []string    `json:"warnings,omitzero"` // warnings about its answer, a line each
	Skipped      Skip        `json:"skipped"`           // null if it ran
	Dialect      string      `json:"dialect,omitzero"`  // whose protocol it speaks, where that is not hookd's

	// Sensitive hooks see what nobody else may see.
	Sensitive bool `json:"sensitive,omitzero"` // the run leaves out stderr, and details and warnings that quote what the hook wrote
}

// Shows reports whether a screen may show a change with its values, from what to
// what: only of a call's arguments, which a person must see as they run, and only
// while no sensitive hook took part. All else that a hook changed (a tool's result, a
// prompt, the model's words) it may have changed because something in it was to be
// seen by nobody: of that a screen tells who changed what, and how much.
func (o *Outcome) Shows(c *Change) bool {
	if o.Event.Event != ToolCallStart || !changesArgs(*c) {
		return false
	}
	for i := range o.Changes {
		if o.Changes[i].Sensitive {
			return false
		}
	}
	return true
}

// Shown is the outcome as a screen may show it. A refused event is as it came in, so
// that what hooks had taken out before the refusal would be in it again: Shown has it
// as they changed it.
func (o Outcome) Shown() Outcome {
	for i := range o.Changes {
		if o.Action == Block && !o.Shows(&o.Changes[i]) {
			o.Event = o.changed
			break
		}
	}
	return o
}

// ContinuedBy returns the origins whose hooks want the agent to go on. An outcome that names
// no hooks counts as one.
func (o *Outcome) ContinuedBy() (origins []Origin) {
	for i := range o.Runs {
		run := &o.Runs[i]
		wants := run.Action == Continue || run.Action == Block
		if wants && run.Failure == "" && run.Skipped == "" && !slices.Contains(origins, run.Origin()) {
			origins = append(origins, run.Origin())
		}
	}
	if len(origins) == 0 {
		origins = append(origins, Origin{})
	}
	return origins
}

// RefusesAsk reports whether [Outcome.Lost] says that nobody could be asked, and that an ask was taken
// as a refusal. All hosts say it with these words.
func RefusesAsk(lost []string) bool {
	return slices.ContainsFunc(lost, func(s string) bool {
		return strings.Contains(s, " wants a person to decide") && strings.HasSuffix(s, ": refused")
	})
}

// Redacted is a refused call's args as hooks had changed them, where a sensitive one
// took part: the host goes on with these, for what that hook took away is nobody's to
// read, also of a call that does not run. It is nil in any other outcome.
func (o *Outcome) Redacted() RawMessage {
	sensitive := slices.ContainsFunc(o.Changes, func(c Change) bool { return c.Sensitive && changesArgs(c) })
	if o.Action != Block || !sensitive {
		return nil
	}
	return jsonspan.Get(o.changed.Data, "args")
}

// memberOriginal is the member of a call's data in which hooks read the model's own
// args where other hooks changed them. No hook changes it. It is no part of the event
// as it is decided: the host has given these args itself.
const memberOriginal = "original"

func changesArgs(c Change) bool { return c.Path == "/args" || strings.HasPrefix(c.Path, "/args/") }

// Asker is a hook that wants a person to decide about a call.
type Asker struct {
	Name, Reason string
	Layer        Layer
}

// Askers returns the hooks that ask at a decided tool-call-start: the one that decided, then
// the others as they ran. Hooks of one name in different layers are different hooks.
func (o *Outcome) Askers() []Asker {
	first := Asker{Reason: o.Reason, Layer: o.DecidedLayer()}
	if o.By != nil {
		first.Name = *o.By
	}
	var list []Asker
	for _, run := range o.Runs {
		if run.Action != Ask {
			continue
		}
		next := Asker{Name: run.Hook, Reason: run.Reason, Layer: run.Source}
		if next.Name == first.Name && next.Reason == first.Reason {
			first.Layer = next.Layer
		}
		if !slices.ContainsFunc(list, next.same) {
			list = append(list, next)
		}
	}
	return append([]Asker{first}, slices.DeleteFunc(list, first.same)...)
}

func (a Asker) same(b Asker) bool { return a.Name == b.Name && a.Layer == b.Layer }

// LeavesOpen reports whether a decided permission-request leaves the asker's question to the
// person. Only a grant answers it: hooks that only watched leave it open, and so does a grant
// by a lower layer than the one that asked. A project must not grant what a built-in asks.
func (a Asker) LeavesOpen(o *Outcome) bool {
	origin := OriginOf(a.Layer, a.Name)
	if a.Layer == Builtin || a.Layer == "" {
		origin = Origin{Layer: User}
	}
	granted := o.Action == Allow && o.DecidedBy().Compare(origin) >= 0
	return o.Action != Block && o.Action != Stop && !granted
}

// Origin is where the hook comes from.
func (r Run) Origin() Origin { return OriginOf(r.Source, r.Hook) }

// RefusalText is what the model reads of a refusal: the reason, or who refused. Of a hook that
// could not be asked it reads no more than that.
func (o *Outcome) RefusalText() string {
	by := "hookd"
	if o.By != nil && *o.By != "" {
		by = *o.By
	}
	switch {
	case o.Failure != "":
		return o.Failure.Refusal(by)
	case strings.TrimSpace(o.Reason) != "":
		return o.Reason
	case o.Action == Stop:
		return "stopped by " + by
	}
	return "blocked by " + by
}
