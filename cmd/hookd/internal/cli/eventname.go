package cli

import (
	"fmt"

	"github.com/hookd-dev/hookd/protocol"
)

// EventName returns the event that a person named, by its name or an alias.
func EventName(name string) (protocol.EventName, error) {
	event, _, ok := protocol.Canonical(name)
	if !ok {
		return "", Usage("unknown-event", fmt.Sprintf("there is no event %q", name), protocol.EventHint(name))
	}
	return event, nil
}
