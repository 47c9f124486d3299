package daemon

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// readEvent reads the params of event/fire: an event without what the daemon
// adds. Members that the daemon sets itself are ignored.
func readEvent(params jsontext.Value) (event protocol.Event, failure *rpc.Error) {
	if params.Kind() != '{' {
		return event, badParam("", "params must be an object")
	}
	if err := json.Unmarshal(params, &event); err != nil {
		return event, badJSON(err)
	}
	name, nearest, ok := protocol.Canonical(string(event.Event))
	switch {
	case !ok:
		return event, badParam("/event", "/event: there is no event "+quote(string(event.Event))+"; the nearest is "+quote(nearest))
	case event.Protocol > protocol.Version:
		return event, badParam("/protocol", "/protocol: this daemon speaks version "+itoa(protocol.Version))
	case event.Data.Kind() != '{':
		return event, badParam("/data", "/data: must be an object")
	case event.Session.ID == "":
		return event, badParam("/session/id", "/session/id: must name an open session")
	}
	event.Event = name
	event.Layer, event.Outcome, event.State, event.Metadata = "", protocol.Standing{}, nil, nil
	return event, nil
}
