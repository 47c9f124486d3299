package agentloop

import (
	"context"

	"github.com/hookd-dev/hookd/protocol"
)

// Gate decides events; see [protocol.EventGate].
type Gate = protocol.EventGate

// Holder is a [Gate] that can say beforehand whether a hook that may block or
// change the named event could match it. While one could, the model's text is
// not yielded before the event was decided. The data of event is what is known
// so far. A Gate that is no Holder is taken to hold always.
type Holder interface {
	Holds(name protocol.EventName, event protocol.Event) bool
}

// Approver asks a person. Without one, or when it returns an error, the answer
// is no.
type Approver interface {
	Approve(ctx context.Context, question Question) (Answer, error)
}

// Question is what a person is asked.
type Question struct {
	Event   protocol.EventName // what waits for the answer
	Call    *protocol.Call     // the tool call, nil where it is not about one
	AskedBy string             // "hook:NAME", or "policy" for the loop's own rule
	Layer   protocol.Layer     // of the hook
	Text    string             // the hook's reason; may be empty
	Options []protocol.PermissionOption

	alone string // why it is refused where nobody can be asked; "" for the usual reason
}

// Answer is what a person chose.
type Answer struct {
	OptionID string // of one of the options; any other refuses
	Text     string // for the model, with a refusal; may be empty
}
