package agentloop

import (
	"context"

	"github.com/hookd-dev/hookd/protocol"
)

// Gate decides events; see [protocol.EventGate].
type Gate = protocol.EventGate

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
