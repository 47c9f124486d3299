package executor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/executor/internal/match"
	"github.com/hookd-dev/hookd/executor/internal/worker"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/protocol/readreply"
	"github.com/hookd-dev/hookd/schema"
)

// Hook is one hook of a [Set]: its resolved description, its compiled matcher
// and the way to ask it. A Hook never changes once it is in a Set.
type Hook struct {
	schema.Hook
	Hash   string // of the bundle: description, file and helpers
	Status Status
	Home   string // of a project's hook: the real path of its project
	Outer  int    // of a project above the one that is worked in: how many projects up
	Why    string // for any status but ready, in words

	// Unwatched describes, in words, code of the project that the hook runs and that
	// Hash does not cover.
	Unwatched []string

	// Imported is where the hook was read from, if that is another agent's settings.
	Imported *Imported

	// SwitchedOff goes with Disabled: a person decided it, outside what an agent
	// at work in the project could have written. A session obeys that at once.
	SwitchedOff bool

	// Monitored goes with the mode audit: a person decided that the hook refuses nothing
	// for the agent that sent the event. A session obeys that at once.
	Monitored bool

	// Fault, when set, stands in place of an answer: the hook is known to guard
	// something but cannot be asked (untrusted, gone, broken). It is a failure
	// under the hook's own rule at every event the hook is for.
	Fault *protocol.Failure

	// Own are the settings as the hook's own layer and those above it set them:
	// they bind the hook, not what a lower layer writes. nil: the set's settings.
	Own *schema.HookSettings

	// Watches is the promise of a Go hook; see [protocol.GoHook].
	Watches bool

	// Asker runs the hook. It is nil when Fault is set or the hook does not run.
	Asker Asker

	match    match.Matcher          // compiled by NewSet
	selector *foreignhooks.Selector // of a hook of another agent's dialect, compiled by NewSet
}

// Imported is the place in another agent's settings that a hook was read from.
type Imported struct {
	Agent string `json:"agent"` // as in hooks.import
	File  string `json:"file"`
	Line  int    `json:"line,omitzero"` // 0 for a file that is the hook itself
}

// Status says whether a hook runs, and if not, why.
type Status string

const (
	Ready     Status = "ready"
	Untrusted Status = "untrusted"
	Changed   Status = "changed"
	Gone      Status = "gone"
	Rejected  Status = "rejected" // its description is wrong
	Broken    Status = "broken"   // its file cannot be run
	Disabled  Status = "disabled"
)

// runs reports whether a hook is asked about events.
func (h *Hook) runs() bool { return h.Fault != nil || h.Asker != nil }

// takesPart reports whether a hook is asked, or recorded as one that a person has
// disabled. All others are only listed.
func (h *Hook) takesPart() bool { return h.runs() || h.Status == Disabled }

// Decides reports whether the hook's answer can refuse or change an event.
func (h *Hook) Decides() bool {
	return h.runs() && h.Mode != protocol.Audit && (h.Can != protocol.CanObserve || h.Required)
}

// Asker is one way of asking a hook: a program, a process that waits for its event, a
// Go function.
type Asker interface {
	// Info says how the hook is asked. It is called for every event and returns at
	// once.
	Info() AskerInfo

	// Ask asks the hook about one event. ctx is done with the hook's own limit, the
	// event's budget or an abort; its cause is then the [protocol.Failure] of that
	// limit, or why the caller gave up. Ask returns soon after ctx is done: the
	// executor gives the answer up 150 ms later, and does not ask the hook again
	// before the call has returned. What is still ending when Ask returns belongs to
	// the Asker.
	Ask(ctx context.Context, q *Question) protocol.Answer
}

// AskerInfo is what the executor must know before it asks a hook. The zero value is
// right for an Asker of which nothing is known.
type AskerInfo struct {
	// InProcess says that the hook is a function of this program. It takes no process
	// slot, gets no encoded event, and its time is not charged to that of programs.
	InProcess bool

	// Prompt says that Ask returns at the latest when its context is done. Such an
	// Asker is called on the event's own goroutine, all others on one of their own.
	Prompt bool

	// Refuses says that the hook blocks every event that it is asked about, whatever else
	// the event says.
	Refuses bool

	// Workers are the processes of a hook that are started before their event, nil
	// for a hook without.
	Workers *worker.Hook
}

// Info says how the hook is asked.
func (h *Hook) Info() AskerInfo {
	if h.Asker == nil {
		return AskerInfo{}
	}
	return h.Asker.Info()
}

// HookInfo is the hook as package protocol knows it.
func (h *Hook) HookInfo() protocol.HookInfo {
	info := protocol.HookInfo{
		Name: h.Name, Layer: h.Layer, Class: h.Can, Mode: h.Mode,
		Rule: h.OnFailure, Required: h.Required, Hash: h.Hash, Sensitive: h.Sensitive,
	}
	if h.Dialect != foreignhooks.Own {
		info.Dialect = h.Dialect
	}
	return info
}

// ruleAt is what a failure of the hook does at an event: its own rule, or where its
// description states none and it speaks another agent's dialect, what that agent does.
func (h *Hook) ruleAt(event protocol.EventName, kind protocol.FailureKind) protocol.Rule {
	if f := h.Foreign(); f != nil && h.ByDialect {
		return f.Rule(event, h.Named, kind)
	}
	return h.OnFailure
}

// selects reports whether the event is one that another agent would ask the hook about:
// by the names of its events there, and by its matcher.
func (h *Hook) selects(ev *protocol.Event) bool {
	return h.selector == nil || h.selector.Ask(ev, ev.Project) != nil
}

// PoolState is what is kept for a hook whose processes start before their event.
type PoolState struct {
	Size     int   `json:"size"`     // processes that may be kept
	Ready    int   `json:"ready"`    // that wait
	Started  int64 `json:"started"`  // since the hook became active
	Used     int64 `json:"used"`     // events that a kept process answered
	Restarts int64 `json:"restarts"` // processes that were no use
}

// PoolState returns what is kept for the hook, nil for one that runs once per event.
func (h *Hook) PoolState() *PoolState {
	workers := h.Info().Workers
	if workers == nil {
		return nil
	}
	state := PoolState(workers.Stats())
	return &state
}

// Question is one event as one hook gets it.
type Question struct {
	Hook    *Hook
	Event   *protocol.Event // final for this hook: layer, outcome, state and metadata filled in
	Spec    *protocol.Spec
	Payload [][]byte      // the encoded event with its newline, in pieces; shared, not to be changed
	Grace   time.Duration // TERM to KILL
	Limits  schema.Limits

	// Lease is the process that a resident hook has for the session, nil where the
	// hook has none or the question is not asked by an executor.
	Lease *worker.Lease

	// OnTreeGone, if set, is called before Ask returns where processes of the hook may
	// still be alive then. gone is closed when the last of them is gone; ending, if it
	// is not nil, then tells how the program ended and what it wrote after its answer.
	OnTreeGone func(gone <-chan struct{}, ending func() *worker.Ending)

	// Transcript, if set, gets what a program was given on stdin and what it wrote on
	// stdout. It is for showing a hook's author what passed.
	Transcript func(stdin [][]byte, stdout []byte)

	// Undecided says, for a rule that refuses, why nobody can tell whether it is about
	// the event, nil where that is known.
	Undecided error

	// Hidden says that the data of the event is not to be shown: a sensitive hook has
	// seen it.
	Hidden bool

	fault *protocol.Failure // the event cannot be given to this hook
}

// ReplyLimits returns the bounds within which the hook's reply is read.
func (q *Question) ReplyLimits() readreply.Limits {
	return readreply.Limits{
		Size: q.Limits.Reply, Depth: q.Limits.Depth,
		State: noneIfZero(q.Limits.State), Metadata: noneIfZero(q.Limits.Metadata),
	}
}

// StderrText returns the end of a program's stderr as text. cut is how many bytes of
// its beginning are missing.
func StderrText(stderr []byte, cut int64) string {
	text := strings.ToValidUTF8(string(stderr), "\uFFFD")
	if cut > 0 {
		text = fmt.Sprintf("[%d bytes cut]\n", cut) + text
	}
	return text
}

// noneIfZero returns a limit as package protocol takes it, where 0 is the default and
// below 0 is none.
func noneIfZero(limit int64) int64 {
	if limit == 0 {
		return -1
	}
	return limit
}

// hookKey names a hook: equal names in different layers are different hooks.
type hookKey struct {
	layer protocol.Layer
	name  string
}

func keyOf(h *Hook) hookKey { return hookKey{h.Layer, h.Name} }

func originOf(h *Hook) protocol.Origin { return protocol.OriginOf(h.Layer, h.Name) }

// projectPrefix is what stands before the name of an outer project's hook: ../../
func projectPrefix(h *Hook) string { return strings.Repeat("../", originOf(h).Above) }
