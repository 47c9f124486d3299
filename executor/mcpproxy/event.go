package mcpproxy

import (
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/protocol"
)

// Host is what events of the proxy name as their host, whatever the client calls itself: a
// client must not choose which agent's rules count.
const Host = "mcp"

// mayChange reports whether hooks may withhold or change the result of a call.
func (g *guard) mayChange(call *protocol.Call) bool {
	return g.events.MayChange(protocol.ToolCallEnd, protocol.ToolCallEndData{Call: *call})
}

// judges reports whether hooks may refuse or change a call, or its result.
func (g *guard) judges(call *protocol.Call) bool {
	return g.mayChange(call) || g.events.MayChange(protocol.ToolCallStart, protocol.ToolCallStartData{Call: *call, Parallel: 1})
}

// lost says what of an outcome cannot be carried out between a client that cannot be asked
// and a server.
func lost(o *protocol.Outcome) (list []string) {
	if o.Action == protocol.Ask {
		list = append(list, fmt.Sprintf("%s wants a person to decide, and this MCP client cannot ask one: refused", proxied.Who(o)))
	}
	return append(list, lostHere(o)...)
}

// lostHere says what of an outcome cannot be carried out between any client and a server.
func lostHere(o *protocol.Outcome) (list []string) {
	switch {
	case o.Action == protocol.Stop && o.Event.Event == protocol.ToolCallStart:
		list = append(list, fmt.Sprintf("%s ends the run, and an MCP proxy cannot: only this call was refused", proxied.Who(o)))
	case o.Action == protocol.Stop:
		list = append(list, fmt.Sprintf("%s ends the run, and an MCP proxy cannot", proxied.Who(o)))
	}
	if o.Callback != nil {
		list = append(list, fmt.Sprintf("%s asked for the recipe %q, which an MCP proxy cannot run", proxied.Who(o), o.Callback.Name))
	}
	return list
}

// refusal is what the model reads of a refusal.
func refusal(o *protocol.Outcome) string {
	if o.Action != protocol.Ask || o.Failure != "" {
		return o.RefusalText()
	}
	text := "not allowed: a person has to decide this, and nobody can be asked here"
	if reason := strings.TrimSpace(o.Reason); reason != "" {
		text += ": " + reason
	}
	return text
}
