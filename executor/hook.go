package executor

import (
	"context"
	"time"

	"github.com/hookd-dev/hookd/protocol"
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

	// Unwatched is code of the project that the hook runs and that Hash does not
	// cover, in words.
	Unwatched []string

	// SwitchedOff goes with Disabled: a person decided it, outside what an agent
	// at work in the project could have written. A session obeys that at once.
	SwitchedOff bool

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

	match matcher // compiled by NewSet
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

// Asker is one way of asking a hook: a process, a resident process, a Go
// function. The context ends with the hook's own limit, the event's budget or an
// abort; its cause is then the [protocol.Failure] of that limit, or whatever the
// caller gave up for.
// Ask returns when the answer stands, soon after the context has ended at the
// latest: the executor gives the answer up 150 ms later, and does not ask the
// hook again before the call has returned. (Programs whose
// files lie on this machine are asked without that guard.) What Ask leaves to end
// behind it belongs to the Asker, which must not be asked again before that has
// ended.
type Asker interface {
	Ask(ctx context.Context, q *Question) protocol.Answer
}

// Question is one event as one hook gets it.
type Question struct {
	Hook    *Hook
	Event   *protocol.Event // final for this hook: layer, outcome, state and metadata filled in
	Spec    *protocol.Spec
	Payload [][]byte      // the encoded event with its newline, in pieces; shared, not to be changed
	Grace   time.Duration // TERM to KILL
	Limits  schema.Limits

	fault *protocol.Failure // the event cannot be given to this hook
	seat  *seat             // of a resident hook, while it is this event's turn
}
