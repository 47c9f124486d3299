package runview

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// TextPrinter prints a run for people while it goes on. Agents that work for the first one are
// indented below it.
type TextPrinter struct {
	p       *show.Printer
	options Options

	text  modelText
	calls openCalls
	tally tally
	hooks hookLog // folded: of the turn

	depth  int // of the agent that is spoken of, 0 = the run's own
	root   int // depth of the run's own agent
	rooted bool
}

// Options choose the form of a text.
type Options struct {
	// Folded: a call is one line, printed when it has ended. Diffs and reasoning wait until
	// the person asks for them.
	Folded bool
	// Echoed: the terminal shows prompts as they are typed.
	Echoed bool
}

// NewTextPrinter returns a printer that prints to p.
func NewTextPrinter(p *show.Printer, options Options) *TextPrinter {
	return &TextPrinter{
		p: p, options: options, tally: tally{began: time.Now()},
		text: modelText{depths: map[string]int{}}, calls: openCalls{byID: map[string]*OpenCall{}},
	}
}

// Print prints one thing that a run shows.
func (v *TextPrinter) Print(y agentloop.Update) error {
	switch y.Kind {
	case agentloop.UpdateDelta:
		if v.text.depths[y.Delta.MessageID] == 0 && (v.options.Folded || !y.Delta.Thinking) {
			v.text.write(v.p, &y.Delta)
		}
		return nil
	case agentloop.UpdateDropped:
		if v.text.depths[y.Delta.MessageID] == 0 {
			v.text.drop(v.p, v.indent(), y.Delta.MessageID)
		}
		return nil
	case agentloop.UpdateOutput:
		v.callOutput(y.Output.ToolCallID, y.Output.Text)
		return nil
	}
	v.text.end(v.p)
	if !v.rooted {
		v.root, v.rooted = y.Event.Agent.Depth, true
	}
	v.depth = max(y.Event.Agent.Depth-v.root, 0)
	v.event(&y)
	return nil
}

// Begin counts anew: the next turn of the same conversation.
func (v *TextPrinter) Begin(at time.Time) {
	v.tally, v.hooks = tally{began: at}, hookLog{}
	v.calls.clear()
}

// End prints what the run came to.
func (v *TextPrinter) End(result agentloop.Result) {
	v.text.end(v.p)
	v.hooks.end(v.p, &v.calls.details)
	v.p.Print("%s\n", v.p.In(show.Quiet, v.tally.line(result)))
}

// EndAborted says that the person ended the turn.
func (v *TextPrinter) EndAborted() {
	v.text.end(v.p)
	v.hooks.end(v.p, &v.calls.details)
	v.depth = 0
	v.line(v.p.In(show.Warn, "■ aborted"))
}

// ReportEnd prints how the run ended, where no event said it: it compacted nothing, say.
func (v *TextPrinter) ReportEnd(err error) {
	told := v.tally.failed != "" && err != nil && strings.Contains(err.Error(), v.tally.failed)
	if err != nil && !told {
		v.p.Print("%s %s\n", v.p.In(show.Bad, "✗"), show.OneLine(err.Error()))
	}
}

// Resize tells the view the width of the terminal.
func (v *TextPrinter) Resize(width int) {
	v.p.Width = width
	if v.text.flow != nil {
		v.text.flow.Width = width
	}
}

// Pending returns the word of the open text that is not printed yet, and whether a text is
// open at all.
func (v *TextPrinter) Pending() (word string, open bool) {
	if v.text.flow == nil {
		return "", false
	}
	return v.p.In(show.Quiet, v.text.flow.Pending()), true
}

// Calls returns the calls at work, in the order in which they began.
func (v *TextPrinter) Calls() []*OpenCall { return v.calls.list() }

// Detail returns what is folded under a number, 0 for the last, and the last number. It is
// "" if there is nothing, or not any more.
func (v *TextPrinter) Detail(number int) (body string, last int) {
	return v.calls.details.get(v.p, number), len(v.calls.details)
}

// indent is what stands before a line that belongs to the agent at work.
func (v *TextPrinter) indent() string { return strings.Repeat("  ", v.depth) }

// line prints a line of the agent at work, nothing for "".
func (v *TextPrinter) line(text string) {
	if text != "" {
		v.p.Print("%s%s\n", v.indent(), text)
	}
}

// aside prints something to another place.
func (v *TextPrinter) aside(to io.Writer, print func()) {
	whole := v.p
	v.p = &show.Printer{W: to, Color: whole.Color, Width: whole.Width}
	print()
	v.p = whole
}

// event prints an event, and what hooks decided about it.
func (v *TextPrinter) event(y *agentloop.Update) {
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
		v.tally.inference(y)
	case protocol.MessageStart, protocol.ThinkingStart:
		if d, read := data[protocol.DeltaStartData](y); read {
			v.text.depths[d.MessageID] = v.depth
		}
	case protocol.MessageEnd:
		v.messageEnd(y)
	case protocol.SubagentStart, protocol.SubagentStop:
		v.line(subagentLine(v.p, y))
	case protocol.CompactStart, protocol.CompactEnd:
		v.line(compactionLine(v.p, y))
	case protocol.Notification:
		v.line(notificationLine(v.p, y))
	case protocol.AgentError:
		if d, read := data[protocol.AgentErrorData](y); read {
			v.tally.failed = d.Message
			v.line(v.p.In(show.Bad, "✗ the run ended:") + " " + show.Line(d.Message))
		}
	}
	v.decision(y)
}

// data is an event's data. A change of a hook may leave what cannot be read.
func data[T any](y *agentloop.Update) (d T, read bool) {
	return d, json.Unmarshal(y.Event.Data, &d) == nil
}

func (v *TextPrinter) prompt(y *agentloop.Update) {
	d, read := data[protocol.PromptSubmitData](y)
	switch {
	case !read:
	case v.depth > 0 || y.Event.Recipe != nil:
		v.line(v.p.In(show.Quiet, "› "+show.Line(show.Shorten(show.FirstLine(d.Prompt), 100))))
	case v.options.Echoed && d.Source != "follow-up":
		clear(v.text.depths)
	case v.options.Folded:
		clear(v.text.depths)
		v.p.Raw(foldedPrompt(v.p, &v.calls.details, d.Prompt))
	default:
		clear(v.text.depths)
		v.line(v.p.In(show.Quiet, "›") + " " + v.p.In(show.Strong, show.Line(d.Prompt)))
	}
}

// shownPrompt is how many lines of a prompt are shown without being asked for.
const shownPrompt = 8

// foldedPrompt returns a prompt with its lines as the person wrote them. Of a long one, which
// was pasted most often, the rest waits under a number.
func foldedPrompt(p *show.Printer, folded *details, prompt string) string {
	var out bytes.Buffer
	lines := strings.Split(strings.TrimRight(show.Visible(prompt), "\n"), "\n")
	left := 0
	if len(lines) > shownPrompt+1 { // the line that says so would take as much room
		left = len(lines) - shownPrompt
	}
	mark := "› "
	for _, line := range lines[:len(lines)-left] {
		flow := show.NewFlow(p.Width, 2, "  ", func(s string) string { return p.In(show.Strong, s) })
		out.WriteString(p.In(show.Quiet, mark) + flow.Write(line) + flow.End() + "\n")
		mark = "  "
	}
	if left > 0 {
		var whole bytes.Buffer
		(&show.Printer{W: &whole}).Indented("  ", show.Plain, show.Visible(prompt))
		number := folded.add("prompt", whole.String())
		out.WriteString("  " + p.In(show.Quiet, fmt.Sprintf("… %s more  #%d", text.Count(left, "line"), number)) + "\n")
	}
	return out.String()
}

// messageEnd prints what an agent below the run's own said: it is not streamed, since
// several may speak at once.
func (v *TextPrinter) messageEnd(y *agentloop.Update) {
	d, read := data[protocol.DeltaEndData](y)
	if !read || v.depth == 0 {
		return
	}
	if text := strings.TrimSpace(d.Content); text != "" {
		v.p.Paragraphs(v.indent()+"  ", show.Quiet, show.Shorten(text, 2000))
	}
}

func subagentLine(p *show.Printer, y *agentloop.Update) string {
	if y.Outcome.Refused() {
		return ""
	}
	if d, read := data[protocol.SubagentStopData](y); read && y.Event.Event == protocol.SubagentStop {
		return p.In(show.Name, "◂ sub-agent") + p.In(show.Quiet, " ended: "+show.Line(d.StopReason))
	}
	d, read := data[protocol.SubagentStartData](y)
	if !read {
		return ""
	}
	name := ""
	if d.Name != "" {
		name = " " + show.Line(d.Name)
	}
	return p.In(show.Name, "▸ sub-agent"+name)
}

func compactionLine(p *show.Printer, y *agentloop.Update) string {
	switch d, read := data[protocol.CompactEndData](y); {
	case !read || y.Outcome.Refused():
		return ""
	case y.Event.Event == protocol.CompactStart:
		return p.In(show.Name, "⇣") + p.In(show.Quiet, fmt.Sprintf(" compacting the conversation (%s)", d.Trigger))
	default:
		return p.In(show.Name, "⇣") + fmt.Sprintf(" compacted: %s → %s", extent(d.Before), extent(d.After))
	}
}

func extent(e protocol.Measures) string {
	text := text.Count(e.Messages, "message")
	if e.Tokens != nil {
		text += fmt.Sprintf(", %d tokens", *e.Tokens)
	}
	return text
}

// notificationLine is what the loop says to the person: that it stops although a hook
// wants it to go on, or that the context of a hook found no place. A request for
// permission is a question of its own, and that the agent is done is seen.
func notificationLine(p *show.Printer, y *agentloop.Update) string {
	if d, read := data[protocol.NotificationData](y); read && d.Kind != "permission" && d.Kind != "idle" {
		return "  " + p.In(show.Warn, "!") + " " + show.Line(d.Text)
	}
	return ""
}
