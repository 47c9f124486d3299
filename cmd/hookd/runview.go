package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// runView prints a run for people while it goes on: the model's text as it
// comes, each tool call on a line, and what hooks decided where they did.
type runView struct {
	p       *show.Printer
	writing bool // a line of the model's text is open
	steps   int
	calls   int
	refused int
	began   time.Time
}

func newRunView(p *show.Printer) *runView { return &runView{p: p, began: time.Now()} }

// see prints one thing that a run yielded.
func (v *runView) see(y agentloop.Yield) error {
	switch y.Kind {
	case agentloop.YieldDelta:
		if !y.Delta.Thinking {
			v.write(y.Delta.Text)
		}
		return nil
	case agentloop.YieldDropped:
		if v.writing {
			v.p.Print(" %s", v.p.In(show.Warn, "(dropped)"))
		}
		v.endLine()
		return nil
	case agentloop.YieldOutput:
		return nil // the result's line tells
	}
	v.endLine()
	switch y.Event.Event {
	case protocol.PromptSubmit:
		var d protocol.PromptSubmitData
		if json.Unmarshal(y.Event.Data, &d) == nil {
			v.p.Print("%s %s\n", v.p.In(show.Quiet, "›"), v.p.In(show.Strong, show.Line(d.Prompt)))
		}
	case protocol.InferenceStart:
		v.steps++
	case protocol.ToolCallStart:
		v.call(&y)
	case protocol.ToolCallEnd:
		v.callEnd(&y)
	case protocol.ToolCallError:
		v.callError(&y)
	case protocol.Notification:
		v.notification(&y)
	case protocol.AgentError:
		var d protocol.AgentErrorData
		if json.Unmarshal(y.Event.Data, &d) == nil {
			v.p.Print("%s %s\n", v.p.In(show.Bad, "✗ the run ended:"), show.Line(d.Message))
		}
	}
	v.decision(&y)
	return nil
}

// notification prints what the loop has to say to the person: that it stops
// although a hook wants it to go on, that a hook's context found no place. What
// asks for permission is a question of its own.
func (v *runView) notification(y *agentloop.Yield) {
	var d protocol.NotificationData
	if json.Unmarshal(y.Event.Data, &d) == nil && d.Kind != "permission" {
		v.p.Print("  %s %s\n", v.p.In(show.Warn, "!"), show.Line(d.Text))
	}
}

func (v *runView) write(text string) {
	if !v.writing {
		text = strings.TrimLeft(text, "\n")
		if text == "" {
			return
		}
		v.p.Print("%s ", v.p.In(show.Name, "●"))
		v.writing = true
	}
	v.p.Print("%s", strings.ReplaceAll(show.Visible(text), "\n", "\n  "))
}

func (v *runView) endLine() {
	if v.writing {
		v.p.Print("\n")
		v.writing = false
	}
}

// call prints a tool call as it will run, hooks' changes included.
func (v *runView) call(y *agentloop.Yield) {
	v.calls++
	var d protocol.ToolCallStartData
	if json.Unmarshal(y.Event.Data, &d) != nil {
		return
	}
	v.p.Print("  %s %s\n", v.p.In(show.Strong, show.Line(d.Name)), show.Line(show.Shorten(argsLine(d.Args), 100)))
}

func (v *runView) callEnd(y *agentloop.Yield) {
	var d protocol.ToolCallEndData
	if json.Unmarshal(y.Event.Data, &d) != nil || y.Outcome.Refused() {
		return
	}
	text := strings.TrimSpace(d.Result.Content.Text())
	first, rest, _ := strings.Cut(text, "\n")
	more := ""
	if rest != "" {
		more = fmt.Sprintf(" … %d lines", strings.Count(text, "\n")+1)
	}
	mark := v.p.In(show.Good, "✓")
	if d.Result.IsError {
		mark = v.p.In(show.Warn, "!")
	}
	if first == "" {
		first = "no output"
	}
	v.p.Print("    %s %s%s\n", mark, v.p.In(show.Quiet, show.Line(show.Shorten(first, 80))+more), v.p.In(show.Quiet, ", "+milliseconds(d.DurationMs)))
}

func (v *runView) callError(y *agentloop.Yield) {
	var d protocol.ToolCallErrorData
	if json.Unmarshal(y.Event.Data, &d) != nil {
		return
	}
	if d.Error.Kind == protocol.CallBlocked || d.Error.Kind == protocol.CallDenied {
		v.refused++
		return // the refusal itself was printed where it was decided
	}
	v.p.Print("    %s %s\n", v.p.In(show.Bad, "✗"), show.Line(show.Shorten(d.Error.Text, 120)))
}

// decision prints what hooks did to an event, if anything.
func (v *runView) decision(y *agentloop.Yield) {
	const indent = "    "
	p, o := v.p, &y.Outcome
	showChanges(p, indent, o)
	if o.By != nil {
		by := p.In(show.Name, show.Line(*o.By))
		switch o.Action {
		case protocol.Block:
			p.Print("%s%s blocked by %s: %s\n", indent, p.In(show.Bad, "✗"), by, show.Line(o.Reason))
		case protocol.Stop:
			p.Print("%s%s stopped by %s: %s\n", indent, p.In(show.Bad, "■"), by, show.Line(o.Reason))
		case protocol.Continue, protocol.Callback, protocol.Ask:
			p.Print("%s%s %s asks to %s: %s\n", indent, p.In(show.Warn, "→"), by, o.Action, show.Line(o.Reason))
		}
	}
	for _, c := range o.Context {
		p.Print("%s%s %s\n", indent, p.In(show.Name, "+ "+show.Line(c.Hook)+" tells the model:"), show.Line(show.Shorten(c.Text, 120)))
	}
	for i := range o.Runs {
		if run := &o.Runs[i]; run.Failure != "" {
			p.Print("%s%s %s\n", indent, p.In(show.Warn, "!"), failureLine(p, run))
		}
	}
	for _, n := range notices(o) {
		p.Print("%s%s %s\n", indent, p.In(show.Name, "· "+show.Line(n.Hook)+":"), show.Line(n.Text))
	}
}

// argsLine shows a call's arguments: the one that says it all, else all.
func argsLine(args jsontext.Value) string {
	var members map[string]jsontext.Value
	if json.Unmarshal(args, &members) != nil {
		return show.Compact(args)
	}
	for _, key := range []string{"command", "path"} {
		var text string
		if json.Unmarshal(members[key], &text) == nil && text != "" {
			if len(members) > 1 && key == "path" {
				if pattern := members["pattern"]; len(pattern) > 0 {
					return text + " " + string(pattern)
				}
			}
			return text
		}
	}
	return show.Compact(args)
}

// end prints what the run came to.
func (v *runView) end(result agentloop.Result) {
	v.endLine()
	parts := []string{plural(v.steps, "step"), plural(v.calls, "tool call")}
	if v.refused > 0 {
		parts = append(parts, fmt.Sprintf("%d refused", v.refused))
	}
	if u := result.Usage; u.InputTokens != nil && u.OutputTokens != nil {
		parts = append(parts, fmt.Sprintf("%d tokens in, %d out", *u.InputTokens, *u.OutputTokens))
	}
	parts = append(parts, milliseconds(float64(time.Since(v.began).Milliseconds())))
	if result.StopReason != "" && result.StopReason != "done" {
		parts = append(parts, "ended by: "+result.StopReason)
	}
	v.p.Print("%s\n", v.p.In(show.Quiet, strings.Join(parts, " · ")))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// runLines prints a run for programs: a JSON object a line.
type runLines struct{ p *show.Printer }

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
}

type hookLine struct {
	Kind  string             `json:"kind"` // hook
	Event protocol.EventName `json:"event"`
	ID    string             `json:"id"` // of the event
	protocol.Run
}

type deltaLine struct {
	Kind      string `json:"kind"` // delta
	MessageID string `json:"messageId"`
	Thinking  bool   `json:"thinking"`
	Text      string `json:"text"`
}

// droppedLine says that a message whose deltas were told is not kept.
type droppedLine struct {
	Kind      string `json:"kind"` // dropped
	MessageID string `json:"messageId"`
}

// outputLine is a piece of what a tool puts out while it works.
type outputLine struct {
	Kind       string `json:"kind"` // output
	ToolCallID string `json:"toolCallId"`
	Text       string `json:"text"`
}

type resultLine struct {
	Kind       string            `json:"kind"` // result
	Response   string            `json:"response"`
	StopReason string            `json:"stopReason"`
	Continued  int               `json:"continued"`
	Usage      protocol.RunUsage `json:"usage"`
	Error      string            `json:"error,omitzero"`
}

func (l runLines) see(y agentloop.Yield) error {
	switch y.Kind {
	case agentloop.YieldDelta:
		return l.line(deltaLine{"delta", y.Delta.MessageID, y.Delta.Thinking, y.Delta.Text})
	case agentloop.YieldDropped:
		return l.line(droppedLine{"dropped", y.Delta.MessageID})
	case agentloop.YieldOutput:
		return l.line(outputLine{"output", y.Output.ToolCallID, y.Output.Text})
	}
	for i := range y.Outcome.Runs {
		if err := l.line(hookLine{"hook", y.Event.Event, y.Event.ID, y.Outcome.Runs[i]}); err != nil {
			return err
		}
	}
	return l.line(eventLine{"event", &y.Event, decision{y.Outcome.Action, y.Outcome.By, y.Outcome.Reason}})
}

func (l runLines) line(value any) error {
	text, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	l.p.Raw(string(text) + "\n")
	return nil
}
