package runview

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// Lines prints a run for programs: a JSON object on each line.
type Lines struct{ p *show.Printer }

// NewLines returns a painter for programs.
func NewLines(p *show.Printer) Lines { return Lines{p} }

type eventLine struct {
	Kind  string          `json:"kind"` // event
	Event *protocol.Event `json:"event"`
	// Decision is what the hooks decided, without their runs: those are lines of
	// their own, before this one.
	Decision decision `json:"decision"`
}

type decision struct {
	Action protocol.Action `json:"action"`
	By     *string         `json:"by"`
	Reason string          `json:"reason"`

	Answered *protocol.Answered  `json:"answered,omitzero"` // who answered, where a person was to be asked
	Notices  []protocol.HookText `json:"notices,omitempty"` // what hooks say to the person
}

// hookLine is what one hook did. Of built-in hooks only those that did something
// have one.
type hookLine struct {
	Kind  string             `json:"kind"` // hook
	Event protocol.EventName `json:"event"`
	ID    string             `json:"id"` // of the event
	protocol.Run
	Late bool `json:"late,omitzero"` // the event has gone on without waiting for it
}

// noticeLine is what a hook says to the person that nobody waited for; what others say
// is in the line of their event.
type noticeLine struct {
	Kind  string             `json:"kind"`           // notice
	Event protocol.EventName `json:"event,omitzero"` // none: of hookd itself
	ID    string             `json:"id,omitzero"`
	protocol.HookText
}

type DeltaLine struct {
	Kind      string `json:"kind"` // delta
	Agent     string `json:"agent"`
	MessageID string `json:"messageId"`
	Thinking  bool   `json:"thinking"`
	Text      string `json:"text"`
}

// DroppedLine says that a message whose deltas were told is not kept.
type DroppedLine struct {
	Kind      string `json:"kind"` // dropped
	Agent     string `json:"agent"`
	MessageID string `json:"messageId"`
}

// OutputLine is a piece of what a tool puts out while it works.
type OutputLine struct {
	Kind       string `json:"kind"` // output
	Agent      string `json:"agent"`
	ToolCallID string `json:"toolCallId"`
	Text       string `json:"text"`
}

type ResultLine struct {
	Kind       string            `json:"kind"` // result
	Response   string            `json:"response"`
	StopReason string            `json:"stopReason"`
	Continued  int               `json:"continued"`
	Usage      protocol.RunUsage `json:"usage"`
	Error      string            `json:"error,omitzero"`
}

func (l Lines) See(y agentloop.Update) error {
	switch y.Kind {
	case agentloop.UpdateDelta:
		return l.Line(DeltaLine{"delta", y.Delta.AgentID, y.Delta.MessageID, y.Delta.Thinking, y.Delta.Text})
	case agentloop.UpdateDropped:
		return l.Line(DroppedLine{"dropped", y.Delta.AgentID, y.Delta.MessageID})
	case agentloop.UpdateOutput:
		return l.Line(OutputLine{"output", y.Output.AgentID, y.Output.ToolCallID, y.Output.Text})
	}
	for i := range y.Outcome.Runs {
		if idle(&y.Outcome.Runs[i]) {
			continue
		}
		if err := l.Line(hookLine{"hook", y.Event.Event, y.Event.ID, y.Outcome.Runs[i], false}); err != nil {
			return err
		}
	}
	return l.Line(eventLine{"event", &y.Event, decision{y.Outcome.Action, y.Outcome.By, y.Outcome.Reason, y.Outcome.Answered, y.Outcome.Notices}})
}

// ForProgram prints lines for notes, too. It returns what prints lines for hooks that
// nobody waits for.
func ForProgram(console *cli.Console) engine.Late {
	lines := Lines{console.Out}
	console.NoteTo(func(note protocol.HookText) { lines.Line(noticeLine{"notice", "", "", note}) })
	return lines.late
}

// late prints what a hook did, or says, that nobody waited for. A failure and a warning
// are part of its run.
func (l Lines) late(ev *protocol.Event, run *protocol.Run, notice *protocol.HookText) {
	switch {
	case run != nil && !idle(run):
		l.Line(hookLine{"hook", ev.Event, ev.ID, *run, true})
	case notice != nil && notice.Failure == "" && !notice.Warning:
		l.Line(noticeLine{"notice", ev.Event, ev.ID, *notice})
	}
}

// idle reports whether a run is one of a built-in hook that did nothing. Each
// event has some of them, and who reads the lines waits for what hooks did; the
// record has them all.
func idle(run *protocol.Run) bool {
	builtIn := run.Hash == ""
	said := run.Action != protocol.Observe || run.Reason != "" || run.Failure != "" || run.Skipped != ""
	did := len(run.Changed) > 0 || run.ContextBytes > 0 || len(run.Warnings) > 0
	return builtIn && !said && !did
}

func (l Lines) Line(value any) error {
	text, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	l.p.Raw(string(text) + "\n")
	return nil
}

// End prints the last line of a run.
func (l Lines) End(result agentloop.Result, ended error) error {
	line := ResultLine{Kind: "result", Response: result.Response, StopReason: result.StopReason, Continued: result.Continued, Usage: result.Usage}
	if ended != nil {
		line.Error = ended.Error()
	}
	return l.Line(line)
}
