package builtin

import (
	"context"

	"github.com/hookd-dev/hookd/protocol"
)

// ask is the Func of a hook that asks.
func ask(reason string) func(context.Context, *protocol.Event) (protocol.Reply, error) {
	return func(context.Context, *protocol.Event) (protocol.Reply, error) {
		return protocol.Reply{Action: protocol.Ask, Reason: reason}, nil
	}
}
