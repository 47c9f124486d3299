package daemon

import (
	"github.com/hookd-dev/hookd/protocol"
)

// Capabilities are what a client says in initialize that it can carry out, and
// what it wants to be told. What it does not name it cannot do.
type Capabilities struct {
	Ask           bool     `json:"ask"`      // let a person decide
	Callback      bool     `json:"callback"` // run a recipe
	Continue      bool     `json:"continue"` // go on with a step or run that would end
	Notifications []string `json:"notifications,omitzero"`
}

// peer is what a client said of itself in initialize.
type peer struct {
	name  string
	can   Capabilities
	known bool // has said it
}

// wants reports whether the client asked for a notification.
func (p *peer) wants(notification string) bool {
	for _, n := range p.can.Notifications {
		if n == notification {
			return true
		}
	}
	return false
}

// ours are the capabilities of the daemon: it passes on everything.
var ours = Capabilities{Ask: true, Callback: true, Continue: true, Notifications: []string{
	hooksChanged, hookStarted, hookFinished, logMessage,
}}

// lost says what fit takes from an outcome, for its record.
func (can Capabilities) lost(out *protocol.Outcome) (lost []string) {
	for _, n := range can.fit(*out).Notices[len(out.Notices):] {
		if n.Hook != "" {
			n.Text = "the hook " + n.Hook + " " + n.Text
		}
		lost = append(lost, n.Text)
	}
	return lost
}

// fit reduces an outcome to what the host can carry out. An ask becomes a block if the
// host cannot ask a person. A notice says what else is lost, so that the person knows
// what a hook wanted.
func (can Capabilities) fit(out protocol.Outcome) protocol.Outcome {
	by := ""
	if out.By != nil {
		by = *out.By
	}
	out.Notices = append([]protocol.HookText(nil), out.Notices...)
	note := func(hook, text string) {
		out.Notices = append(out.Notices, protocol.HookText{Hook: hook, Text: text})
	}
	if out.Action == protocol.Ask && !can.Ask {
		out.Action = protocol.Block
		note(by, "wants a person to decide, and this host cannot ask one: refused")
	}
	if out.Callback != nil && !can.Callback {
		note(out.Callback.By, "asked for the recipe "+quote(out.Callback.Name)+", and this host cannot run recipes: lost")
		out.Callback = nil
		if out.Action == protocol.Callback {
			out.Action = protocol.Observe
		}
	}
	if !can.Continue && (out.Action == protocol.Continue || len(out.Messages) > 0) {
		note(by, "wants the run to go on, and this host cannot: lost")
		out.Messages = nil
		if out.Action == protocol.Continue {
			out.Action = protocol.Observe
		}
	}
	return out
}

// The notifications that the daemon sends. The first goes to every client that
// has used the project, the others to those that asked for them.
const (
	hooksChanged = "hooks/changed"
	hookStarted  = "hook/started"
	hookFinished = "hook/finished"
	logMessage   = "log"
)

var offered = map[string]bool{hooksChanged: true, hookStarted: true, hookFinished: true, logMessage: true}
