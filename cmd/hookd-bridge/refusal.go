package main

import (
	"time"
)

//go:generate go test -run ^TestRefusals$ . -update

// shortestLimit is for agents that nobody knows: hookd says that in time.
const shortestLimit = 5 * time.Second

// refusal returns how the event of a call is refused. An event that is not named on the
// command line, or that the table does not have, is refused as the agent's table says of
// events that nobody names.
func (a *arguments) refusal() refusal {
	r := refusal{limit: shortestLimit, exit: refusingExit, stderr: "hookd: REASON"}
	for i := range refusals {
		switch known := &refusals[i]; {
		case known.agent != a.agent:
		case known.event == a.event:
			return *known
		case known.event == "":
			r = *known
		}
	}
	return r
}

// ownTime is the time within which an answer must be there: 80 % of the agent's limit, as
// bridge.OwnShare says. Nearly every agent lets the tool run when its own limit ends the
// hook.
func (a *arguments) ownTime() time.Duration {
	limit := a.limit
	if limit == 0 {
		limit = a.refusal().limit
	}
	return limit / 10 * 8
}
