package runview

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

// View prints a run for people while it goes on: the model's text as it
// comes, tool calls, and what hooks decided where they did. Agents that work for
// the first one are indented below it.
type View struct {
	P       *show.Printer
	Folded  bool // a call is one line, printed when it has ended; diffs and reasoning wait in details
	Echoed  bool // the terminal shows prompts as they are typed
	began   time.Time
	steps   int
	calls   int
	refused int
	failed  string // agent-error's message

	Flow     *show.Flow // of the open text, nil without one
	thinking bool       // the open text is reasoning
	Depth    int        // of the agent that is spoken of, 0 = the run's own
	root     int        // Depth of the run's own agent
	rooted   bool
	texts    map[string]int // Depth of the agent by message id
	written  string         // message id of the text that was printed last
	Open     map[string]*openCall
	Order    []string // of the open calls
	Details  []detail
}

func New(p *show.Printer) *View {
	return &View{P: p, began: time.Now(), texts: map[string]int{}, Open: map[string]*openCall{}}
}

// See prints one thing that a run yielded.
func (v *View) See(y agentloop.Yield) error {
	switch y.Kind {
	case agentloop.YieldDelta:
		if v.texts[y.Delta.MessageID] == 0 && (v.Folded || !y.Delta.Thinking) {
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
	v.EndLine()
	if !v.rooted {
		v.root, v.rooted = y.Event.Agent.Depth, true
	}
	v.Depth = max(y.Event.Agent.Depth-v.root, 0)
	v.event(&y)
	return nil
}

// indent is what stands before a line that belongs to the agent at work.
func (v *View) indent() string { return strings.Repeat("  ", v.Depth) }

// event prints an event, and what hooks decided about it.
func (v *View) event(y *agentloop.Yield) {
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
			v.texts[d.MessageID] = v.Depth
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
			v.Line(v.P.In(show.Bad, "✗ the run ended:") + " " + show.Line(d.Message))
		}
	}
	v.decision(y)
}

// data is an event's data. A hook's change may leave what cannot be read.
func data[T any](y *agentloop.Yield) (d T, read bool) {
	return d, json.Unmarshal(y.Event.Data, &d) == nil
}

func (v *View) Line(text string) { v.P.Print("%s%s\n", v.indent(), text) }

func (v *View) prompt(y *agentloop.Yield) {
	d, read := data[protocol.PromptSubmitData](y)
	switch {
	case !read:
	case v.Depth > 0 || y.Event.Recipe != nil:
		v.Line(v.P.In(show.Quiet, "› "+show.Line(show.Shorten(show.FirstLine(d.Prompt), 100))))
	case v.Echoed && d.Source != "follow-up":
		clear(v.texts)
	default:
		clear(v.texts)
		v.Line(v.P.In(show.Quiet, "›") + " " + v.P.In(show.Strong, show.Line(d.Prompt)))
	}
}

// inference counts the steps. Of a further try the loop tells itself, once it is
// sure that there is one: a hook may refuse it, or answer in its place.
func (v *View) inference(y *agentloop.Yield) {
	if d, read := data[protocol.InferenceStartData](y); !read || d.Attempt <= 1 {
		v.steps++
	}
}

// messageEnd prints what an agent below the run's own said: it is not streamed,
// since several may speak at once.
func (v *View) messageEnd(y *agentloop.Yield) {
	d, read := data[protocol.DeltaEndData](y)
	if !read || v.Depth == 0 {
		return
	}
	if text := strings.TrimSpace(d.Content); text != "" {
		v.P.Paragraphs(v.indent()+"  ", show.Quiet, show.Shorten(text, 2000))
	}
}

func (v *View) subagent(y *agentloop.Yield) {
	if y.Outcome.Refused() {
		return
	}
	if d, read := data[protocol.SubagentStopData](y); read && y.Event.Event == protocol.SubagentStop {
		v.Line(v.P.In(show.Name, "◂ sub-agent") + v.P.In(show.Quiet, " ended: "+show.Line(d.StopReason)))
	} else if d, read := data[protocol.SubagentStartData](y); read {
		name := ""
		if d.Name != "" {
			name = " " + show.Line(d.Name)
		}
		v.Line(v.P.In(show.Name, "▸ sub-agent"+name))
	}
}

func (v *View) compaction(y *agentloop.Yield) {
	switch d, read := data[protocol.CompactEndData](y); {
	case !read || y.Outcome.Refused():
	case y.Event.Event == protocol.CompactStart:
		v.Line(v.P.In(show.Name, "⇣") + v.P.In(show.Quiet, fmt.Sprintf(" compacting the conversation (%s)", d.Trigger)))
	default:
		v.Line(v.P.In(show.Name, "⇣") + fmt.Sprintf(" compacted: %s → %s", extent(d.Before), extent(d.After)))
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
func (v *View) notification(y *agentloop.Yield) {
	if d, read := data[protocol.NotificationData](y); read && d.Kind != "permission" && d.Kind != "idle" {
		v.Line("  " + v.P.In(show.Warn, "!") + " " + show.Line(d.Text))
	}
}

// write prints the next piece of the model's text.
func (v *View) write(text string, thinking bool) {
	if v.Flow != nil && v.thinking != thinking {
		v.EndLine()
	}
	if v.Flow == nil {
		if text = strings.TrimLeft(text, "\n "); text == "" {
			return
		}
		tone, mark := show.Plain, v.P.In(show.Name, "●")
		if thinking {
			tone, mark = show.Quiet, v.P.In(show.Quiet, "○")
		}
		v.P.Raw(mark + " ")
		v.Flow = show.NewFlow(v.P.Width, 2, "  ", func(s string) string { return v.P.In(tone, s) })
		v.thinking = thinking
	}
	v.P.Raw(v.Flow.Write(show.Visible(text)))
}

// drop marks a text that is not kept: the model is asked again, or the run ends.
// Most often its message has ended before that is known.
func (v *View) drop(messageID string) {
	switch mark := v.P.In(show.Warn, "(dropped)"); {
	case v.Flow != nil:
		v.P.Raw(v.Flow.End() + " " + mark + "\n")
		v.Flow = nil
	case messageID == v.written && messageID != "":
		v.Line("  " + mark)
	}
	v.written = ""
}

func (v *View) EndLine() {
	if v.Flow != nil {
		v.P.Raw(v.Flow.End() + "\n")
		v.Flow = nil
	}
}

// aside prints something to another place.
func (v *View) aside(to io.Writer, print func()) {
	whole := v.P
	v.P = &show.Printer{W: to, Color: whole.Color, Width: whole.Width}
	print()
	v.P = whole
}

// Begin counts anew: the next turn of the same conversation.
func (v *View) Begin(at time.Time) {
	v.began, v.steps, v.calls, v.refused, v.failed = at, 0, 0, 0, ""
	clear(v.Open)
	v.Order = v.Order[:0]
}

// Untold reports whether the run's error was not an event that was printed.
func (v *View) Untold(err error) bool {
	return v.failed == "" || !strings.Contains(err.Error(), v.failed)
}

// UntoldEnd says how the run ended, where no event did: it compacted nothing, say.
func (v *View) UntoldEnd(err error) {
	if err != nil && v.Untold(err) {
		v.P.Print("%s %s\n", v.P.In(show.Bad, "✗"), show.OneLine(err.Error()))
	}
}

// End prints what the run came to.
func (v *View) End(result agentloop.Result) {
	v.EndLine()
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
	v.P.Print("%s\n", v.P.In(show.Quiet, strings.Join(parts, " · ")))
}
