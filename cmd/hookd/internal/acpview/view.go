package acpview

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/runview"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
)

// Options say for which client a view is.
type Options struct {
	Notices     bool // the client shows notices
	Compactions bool // and compactions

	// ReadFile returns what a file holds before a call changes it, so that a diff can be
	// shown; known is false where there is none, or nothing that can be shown.
	ReadFile func(path string) (text string, known bool)

	Now func() time.Time // nil: the system's clock
}

// View is what a client sees of one session.
type View struct {
	options Options
	calls   map[string]*call // at work, by their id for the client
	figures figures

	compaction compaction

	depths map[string]int  // of the agents, by the id of a message that streams
	sent   map[string]bool // messages of which something was sent
	names  map[string]string

	open   bool // the last that was said is a text of the model
	rooted bool
	root   int // depth of the session's own agent
}

// New returns a view.
func New(options Options) *View {
	if options.Now == nil {
		options.Now = time.Now
	}
	return &View{options: options, calls: map[string]*call{}, depths: map[string]int{}, sent: map[string]bool{}, names: map[string]string{}}
}

// Updates returns the updates for one thing that a run shows.
func (v *View) Updates(y *agentloop.Update) []any {
	switch y.Kind {
	case agentloop.UpdateDelta:
		return v.delta(&y.Delta)
	case agentloop.UpdateDropped:
		return v.dropped(y.Delta.MessageID)
	case agentloop.UpdateOutput:
		return v.output(&y.Output)
	}
	if !v.rooted {
		v.root, v.rooted = y.Event.Agent.Depth, true
	}
	return v.event(y)
}

// End returns the updates for calls, and for a compaction, of which no end was shown, after a run.
func (v *View) End(cancelled bool) (updates []any) {
	if cancelled {
		updates = v.compaction.over(acp.CompactionCancelled)
	} else {
		updates = v.compaction.over(acp.CompactionFailed)
	}
	for _, id := range slices.Sorted(maps.Keys(v.calls)) {
		updates = append(updates, &acp.ToolCall{UpdateKind: acp.ToolCallChanged, ToolCallID: id, Status: acp.ToolFailed})
	}
	clear(v.calls)
	clear(v.depths)
	clear(v.sent)
	v.open = false
	v.figures.endRun()
	return updates
}

func (v *View) isOwn(y *agentloop.Update) bool { return y.Event.Agent.Depth <= v.root }

// delta is a piece of text. What an agent below the session's own says comes in one piece when
// it has ended: several may speak at once.
func (v *View) delta(d *agentloop.Delta) []any {
	depth := v.depths[d.MessageID]
	switch {
	case d.Text == "":
		return nil
	case depth == 1 && v.compaction.id != "" && !d.Thinking:
		v.sent[d.MessageID] = true
		return v.compaction.chunk(d.Text)
	case depth > 0:
		return nil
	}
	kind := acp.AgentMessageChunk
	if d.Thinking {
		kind = acp.AgentThoughtChunk
	}
	v.sent[d.MessageID] = true
	v.open = !d.Thinking
	return []any{&acp.Chunk{Kind: kind, Content: acp.Text(show.Visible(d.Text)), MessageID: d.MessageID}}
}

// dropped says that a text which was shown is not kept.
func (v *View) dropped(message string) []any {
	if !v.sent[message] {
		return nil
	}
	delete(v.sent, message)
	if v.depths[message] > 0 {
		return v.compaction.anew()
	}
	return v.Says(Warning, "the answer above is not kept: it was not whole, or it was refused")
}

func (v *View) event(y *agentloop.Update) []any {
	v.figures.take(y, v.isOwn(y))
	v.open = v.open && y.Event.Event != protocol.ToolCallStart
	return append(v.compacting(y), v.told(y)...)
}

// told returns the updates for an event besides those of a compaction.
func (v *View) told(y *agentloop.Update) []any {
	switch y.Event.Event {
	case protocol.ToolCallStart:
		return v.callStart(y)
	case protocol.PermissionRequest:
		return v.callDecision(y)
	case protocol.ToolCallEnd:
		return v.callEnd(y)
	case protocol.ToolCallError:
		return v.callError(y)
	case protocol.MessageStart, protocol.ThinkingStart:
		if d, read := data[protocol.DeltaStartData](y); read {
			v.depths[d.MessageID] = y.Event.Agent.Depth - v.root
		}
	case protocol.MessageEnd:
		return append(v.nestedMessage(y), v.decision(y)...)
	case protocol.InferenceEnd:
		return append(v.decision(y), v.figures.update()...)
	case protocol.SubagentStart:
		if d, read := data[protocol.SubagentStartData](y); read {
			v.names[d.AgentID] = d.Name
		}
	case protocol.CompactEnd:
		if d, read := data[protocol.CompactEndData](y); read && !y.Outcome.Refused() && !(v.options.Compactions && v.isOwn(y)) {
			return append(v.Says(Info, compacted(&d)), v.decision(y)...)
		}
	case protocol.Notification:
		d, read := data[protocol.NotificationData](y)
		if !read || d.Kind == "permission" || d.Kind == "idle" {
			return nil
		}
		return append(v.Says(severityOf(d.Kind), show.Line(d.Text)), v.decision(y)...)
	}
	return v.decision(y)
}

// nestedMessage is what an agent below the session's own has said.
func (v *View) nestedMessage(y *agentloop.Update) []any {
	d, read := data[protocol.DeltaEndData](y)
	text := strings.TrimSpace(d.Content)
	if !read || v.isOwn(y) || text == "" || v.compaction.id != "" { // the summary is shown by itself
		return nil
	}
	who := "sub-agent"
	if y.Event.Recipe != nil {
		who = "recipe " + show.Line(*y.Event.Recipe)
	} else if name := v.names[y.Event.Agent.ID]; name != "" {
		who += " " + show.Line(name)
	}
	return []any{&acp.Chunk{Kind: acp.AgentThoughtChunk, Content: acp.Text(who + ": " + show.Visible(show.Shorten(text, 2000)) + "\n"), MessageID: d.MessageID}}
}

// decision is what hooks did to an event that is about no call.
func (v *View) decision(y *agentloop.Update) []any {
	lines := runview.DecisionLines(&y.Outcome)
	if len(lines) == 0 {
		return nil
	}
	severity := Info
	if y.Outcome.Refused() {
		severity = Warning
	}
	return v.Says(severity, strings.Join(lines, "\n"))
}

// data is an event's data. A change of a hook may leave what cannot be read.
func data[T any](y *agentloop.Update) (d T, read bool) {
	return d, json.Unmarshal(y.Event.Data, &d) == nil
}
