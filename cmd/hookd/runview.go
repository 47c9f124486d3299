//go:build !lean

package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// runView prints a run for people while it goes on: the model's text as it
// comes, tool calls, and what hooks decided where they did. Agents that work for
// the first one are indented below it.
type runView struct {
	p       *show.Printer
	folded  bool // a call is one line, printed when it has ended; diffs and reasoning wait in details
	echoed  bool // the terminal shows prompts as they are typed
	began   time.Time
	steps   int
	calls   int
	refused int
	failed  string // agent-error's message

	flow     *show.Flow // of the open text, nil without one
	thinking bool       // the open text is reasoning
	depth    int        // of the agent that is spoken of, 0 = the run's own
	root     int        // depth of the run's own agent
	rooted   bool
	texts    map[string]int // depth of the agent by message id
	written  string         // message id of the text that was printed last
	open     map[string]*openCall
	order    []string // of the open calls
	details  []detail
}

func newRunView(p *show.Printer) *runView {
	return &runView{p: p, began: time.Now(), texts: map[string]int{}, open: map[string]*openCall{}}
}

// see prints one thing that a run yielded.
func (v *runView) see(y agentloop.Yield) error {
	switch y.Kind {
	case agentloop.YieldDelta:
		if v.texts[y.Delta.MessageID] == 0 && (v.folded || !y.Delta.Thinking) {
			v.write(y.Delta.Text, y.Delta.Thinking)
			v.written = y.Delta.MessageID
		}
		return nil
	case agentloop.YieldDropped:
		if v.texts[y.Delta.MessageID] == 0 {
			v.drop(y.Delta.MessageID)
		}
		return nil
	case agentloop.YieldOutput:
		v.toolOutput(y.Output.ToolCallID, y.Output.Text)
		return nil
	}
	v.endLine()
	if !v.rooted {
		v.root, v.rooted = y.Event.Agent.Depth, true
	}
	v.depth = max(y.Event.Agent.Depth-v.root, 0)
	v.event(&y)
	return nil
}

// indent is what stands before a line that belongs to the agent at work.
func (v *runView) indent() string { return strings.Repeat("  ", v.depth) }

// event prints an event, and what hooks decided about it.
func (v *runView) event(y *agentloop.Yield) {
	switch y.Event.Event {
	case protocol.ToolCallStart:
		v.callStart(y)
		return
	case protocol.PermissionRequest:
		v.callDecision(y)
		return
	case protocol.ToolCallEnd:
		v.callEnd(y)
		return
	case protocol.ToolCallError:
		v.callError(y)
		return
	case protocol.PromptSubmit:
		v.prompt(y)
	case protocol.InferenceStart:
		v.inference(y)
	case protocol.MessageStart, protocol.ThinkingStart:
		if d, read := data[protocol.DeltaStartData](y); read {
			v.texts[d.MessageID] = v.depth
		}
	case protocol.MessageEnd:
		v.messageEnd(y)
	case protocol.SubagentStart, protocol.SubagentStop:
		v.subagent(y)
	case protocol.CompactStart, protocol.CompactEnd:
		v.compaction(y)
	case protocol.Notification:
		v.notification(y)
	case protocol.AgentError:
		if d, read := data[protocol.AgentErrorData](y); read {
			v.failed = d.Message
			v.line(v.p.In(show.Bad, "✗ the run ended:") + " " + show.Line(d.Message))
		}
	}
	v.decision(y)
}

// data is an event's data. A hook's change may leave what cannot be read.
func data[T any](y *agentloop.Yield) (d T, read bool) {
	return d, json.Unmarshal(y.Event.Data, &d) == nil
}

func (v *runView) line(text string) { v.p.Print("%s%s\n", v.indent(), text) }

func (v *runView) prompt(y *agentloop.Yield) {
	d, read := data[protocol.PromptSubmitData](y)
	switch {
	case !read:
	case v.depth > 0 || y.Event.Recipe != nil:
		v.line(v.p.In(show.Quiet, "› "+show.Line(show.Shorten(show.FirstLine(d.Prompt), 100))))
	case v.echoed && d.Source != "follow-up":
		clear(v.texts)
	default:
		clear(v.texts)
		v.line(v.p.In(show.Quiet, "›") + " " + v.p.In(show.Strong, show.Line(d.Prompt)))
	}
}

// inference counts the steps. Of a further try the loop tells itself, once it is
// sure that there is one: a hook may refuse it, or answer in its place.
func (v *runView) inference(y *agentloop.Yield) {
	if d, read := data[protocol.InferenceStartData](y); !read || d.Attempt <= 1 {
		v.steps++
	}
}

// messageEnd prints what an agent below the run's own said: it is not streamed,
// since several may speak at once.
func (v *runView) messageEnd(y *agentloop.Yield) {
	d, read := data[protocol.DeltaEndData](y)
	if !read || v.depth == 0 {
		return
	}
	if text := strings.TrimSpace(d.Content); text != "" {
		v.p.Paragraphs(v.indent()+"  ", show.Quiet, show.Shorten(text, 2000))
	}
}

func (v *runView) subagent(y *agentloop.Yield) {
	if y.Outcome.Refused() {
		return
	}
	if d, read := data[protocol.SubagentStopData](y); read && y.Event.Event == protocol.SubagentStop {
		v.line(v.p.In(show.Name, "◂ sub-agent") + v.p.In(show.Quiet, " ended: "+show.Line(d.StopReason)))
	} else if d, read := data[protocol.SubagentStartData](y); read {
		name := ""
		if d.Name != "" {
			name = " " + show.Line(d.Name)
		}
		v.line(v.p.In(show.Name, "▸ sub-agent"+name))
	}
}

func (v *runView) compaction(y *agentloop.Yield) {
	switch d, read := data[protocol.CompactEndData](y); {
	case !read || y.Outcome.Refused():
	case y.Event.Event == protocol.CompactStart:
		v.line(v.p.In(show.Name, "⇣") + v.p.In(show.Quiet, fmt.Sprintf(" compacting the conversation (%s)", d.Trigger)))
	default:
		v.line(v.p.In(show.Name, "⇣") + fmt.Sprintf(" compacted: %s → %s", extent(d.Before), extent(d.After)))
	}
}

func extent(e protocol.Measures) string {
	text := show.Plural(e.Messages, "message")
	if e.Tokens != nil {
		text += fmt.Sprintf(", %d tokens", *e.Tokens)
	}
	return text
}

// notification prints what the loop has to say to the person: that it stops
// although a hook wants it to go on, that a hook's context found no place. What
// asks for permission is a question of its own, and that the agent is done is seen.
func (v *runView) notification(y *agentloop.Yield) {
	if d, read := data[protocol.NotificationData](y); read && d.Kind != "permission" && d.Kind != "idle" {
		v.line("  " + v.p.In(show.Warn, "!") + " " + show.Line(d.Text))
	}
}

// write prints the next piece of the model's text.
func (v *runView) write(text string, thinking bool) {
	if v.flow != nil && v.thinking != thinking {
		v.endLine()
	}
	if v.flow == nil {
		if text = strings.TrimLeft(text, "\n "); text == "" {
			return
		}
		tone, mark := show.Plain, v.p.In(show.Name, "●")
		if thinking {
			tone, mark = show.Quiet, v.p.In(show.Quiet, "○")
		}
		v.p.Raw(mark + " ")
		v.flow = show.NewFlow(v.p.Width, 2, "  ", func(s string) string { return v.p.In(tone, s) })
		v.thinking = thinking
	}
	v.p.Raw(v.flow.Write(show.Visible(text)))
}

// drop marks a text that is not kept: the model is asked again, or the run ends.
// Most often its message has ended before that is known.
func (v *runView) drop(messageID string) {
	switch mark := v.p.In(show.Warn, "(dropped)"); {
	case v.flow != nil:
		v.p.Raw(v.flow.End() + " " + mark + "\n")
		v.flow = nil
	case messageID == v.written && messageID != "":
		v.line("  " + mark)
	}
	v.written = ""
}

func (v *runView) endLine() {
	if v.flow != nil {
		v.p.Raw(v.flow.End() + "\n")
		v.flow = nil
	}
}

// aside prints something to another place.
func (v *runView) aside(to io.Writer, print func()) {
	whole := v.p
	v.p = &show.Printer{W: to, Color: whole.Color, Width: whole.Width}
	print()
	v.p = whole
}

// begin counts anew: the next turn of the same conversation.
func (v *runView) begin(at time.Time) {
	v.began, v.steps, v.calls, v.refused, v.failed = at, 0, 0, 0, ""
	clear(v.open)
	v.order = v.order[:0]
}

// untold reports whether the run's error was not an event that was printed.
func (v *runView) untold(err error) bool {
	return v.failed == "" || !strings.Contains(err.Error(), v.failed)
}

// untoldEnd says how the run ended, where no event did: it compacted nothing, say.
func (v *runView) untoldEnd(err error) {
	if err != nil && v.untold(err) {
		v.p.Print("%s %s\n", v.p.In(show.Bad, "✗"), show.OneLine(err.Error()))
	}
}

// end prints what the run came to.
func (v *runView) end(result agentloop.Result) {
	v.endLine()
	parts := []string{show.Plural(v.steps, "step"), show.Plural(v.calls, "tool call")}
	if v.refused > 0 {
		parts = append(parts, fmt.Sprintf("%d refused", v.refused))
	}
	if u := result.Usage; u.InputTokens != nil && u.OutputTokens != nil {
		parts = append(parts, fmt.Sprintf("%d tokens in, %d out", *u.InputTokens, *u.OutputTokens))
	}
	parts = append(parts, show.Milliseconds(float64(time.Since(v.began).Milliseconds())))
	if result.StopReason != "" && result.StopReason != "done" {
		parts = append(parts, "ended by: "+result.StopReason)
	}
	v.p.Print("%s\n", v.p.In(show.Quiet, strings.Join(parts, " · ")))
}
