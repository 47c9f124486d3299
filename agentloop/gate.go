package agentloop

import (
	"context"

	"github.com/hookd-dev/hookd/protocol"
)

// Gate decides events. The loop waits for the outcome of every gate and point
// and obeys it. Fire returns an error for one reason only: the context ended.
type Gate interface {
	Fire(ctx context.Context, event protocol.Event) (protocol.Outcome, error)
}
