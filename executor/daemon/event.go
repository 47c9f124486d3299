package daemon

import (
	"errors"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// readEvent reads the params of event/fire: an event without what the daemon
// adds. Members that the daemon sets itself are ignored.
func readEvent(params protocol.RawMessage) (protocol.Event, *rpc.Error) {
	if jsonspan.Kind(params) != '{' {
		return protocol.Event{}, badParam("", "params must be an object")
	}
	event, err := protocol.DecodeEvent(params, protocol.DecodeLimits{})
	var wrong *protocol.DecodeError
	switch {
	case errors.Is(err, protocol.ErrTooLarge):
		return event, rpc.Errorf(rpc.TooLarge, "the event is not taken: %v", err)
	case errors.As(err, &wrong):
		return event, badParam(wrong.Path, where(wrong.Path)+wrong.Err.Error())
	case err != nil:
		return event, badParam("", err.Error())
	case event.Session.ID == "":
		return event, badParam("/session/id", "/session/id: must name an open session")
	}
	return event, nil
}
