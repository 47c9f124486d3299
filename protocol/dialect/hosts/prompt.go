package hosts

import (
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
)

// promptFrom is the input of a prompt that an agent has under another name.
func promptFrom(in *dialect.Input, row *dialect.Row, where string) *dialect.Input {
	if row.Event != protocol.PromptSubmit || in.At("prompt") != nil {
		return in
	}
	return in.With("prompt", in.At(where))
}
