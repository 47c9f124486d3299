package mcpproxy

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// Host is what events of the proxy name as their host, whatever the client calls itself: a
// client must not choose which agent's rules count.
const Host = "mcp"

// Hooks are the hooks of the project that the proxy works in.
type Hooks interface {
	Project() string // root, "" outside of any project
	// Begin gives an event its place and returns what decides it; see [protocol.EventGate].
	Begin(ctx context.Context, event protocol.Event) func() (protocol.Outcome, error)
	// MayChange reports whether a hook that may block or change an event could match it.
	MayChange(event protocol.Event) bool
}

// events fires the events of a connection, which is a session of its own.
type events struct {
	options *Options
	opened  time.Time

	mu  sync.Mutex
	seq int64
}

// begin begins an event: those that begin one after the other meet the hooks in this order.
// data is the struct of the event's row.
func (e *events) begin(ctx context.Context, name protocol.EventName, data any) func() (*protocol.Outcome, error) {
	return e.beginAs(ctx, name, data, false)
}

// beginDetached begins an event of which nobody waits for the outcome: it tells what has
// happened, also when the connection has ended.
func (e *events) beginDetached(ctx context.Context, name protocol.EventName, data any) func() (*protocol.Outcome, error) {
	return e.beginAs(ctx, name, data, true)
}

func (e *events) beginAs(ctx context.Context, name protocol.EventName, data any, detached bool) func() (*protocol.Outcome, error) {
	event, err := protocol.NewEvent(name, data)
	if err != nil {
		return func() (*protocol.Outcome, error) { return nil, err }
	}
	e.complete(&event)
	event.Lost = lost
	event.Detached = detached
	e.mu.Lock()
	e.seq++
	seq := e.seq
	event.Seq = &seq
	decide := e.options.Hooks.Begin(ctx, event)
	e.mu.Unlock()
	return func() (*protocol.Outcome, error) {
		outcome, err := decide()
		if err != nil {
			return nil, err
		}
		e.options.tell(&outcome)
		return &outcome, nil
	}
}

func (e *events) complete(event *protocol.Event) {
	o := e.options
	event.ID, event.Time, event.Epoch = protocol.NewID(), time.Now().UTC(), e.opened.UnixNano()
	event.Session.ID = o.Session
	event.Agent = protocol.Agent{ID: "main", Depth: o.Depth, Host: Host}
	event.Project, event.Cwd = o.Hooks.Project(), o.Cwd
}

// mayChange reports whether hooks may withhold or change the result of a call.
func (e *events) mayChange(call *protocol.Call) bool {
	event, err := protocol.NewEvent(protocol.ToolCallEnd, protocol.ToolCallEndData{Call: *call})
	if err != nil {
		return true
	}
	e.complete(&event)
	return e.options.Hooks.MayChange(event)
}

// lost says what of an outcome cannot be carried out between a client and a server.
func lost(o *protocol.Outcome) (list []string) {
	switch {
	case o.Action == protocol.Ask:
		list = append(list, fmt.Sprintf("%s wants a person to decide, and nobody can be asked through an MCP proxy: refused", who(o)))
	case o.Action == protocol.Stop && o.Event.Event == protocol.ToolCallStart:
		list = append(list, fmt.Sprintf("%s ends the run, and an MCP proxy cannot: only this call was refused", who(o)))
	case o.Action == protocol.Stop:
		list = append(list, fmt.Sprintf("%s ends the run, and an MCP proxy cannot", who(o)))
	}
	if o.Callback != nil {
		list = append(list, fmt.Sprintf("%s asked for the recipe %q, which an MCP proxy cannot run", who(o), o.Callback.Name))
	}
	return list
}

func who(o *protocol.Outcome) string {
	if o.By == nil || *o.By == "" {
		return "hookd"
	}
	return "the hook " + *o.By
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

// contexts are the texts that hooks add for the model.
func contexts(o *protocol.Outcome) (texts []string) {
	for _, c := range o.Context {
		texts = append(texts, "[context from hook "+c.Hook+"]\n"+c.Text)
	}
	return texts
}
