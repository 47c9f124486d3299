package runview

import (
	"strings"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// modelText prints the text of the model as it comes.
type modelText struct {
	flow     *show.Flow     // of the open text, nil without one
	thinking bool           // the open text is reasoning
	markdown *markdown      // paints the open text, nil for reasoning
	depths   map[string]int // depth of the agent that says a message, by the message's ID
	last     string         // ID of the message that was printed last
}

// write prints the next piece.
func (t *modelText) write(p *show.Printer, d *agentloop.Delta) {
	t.last = d.MessageID
	if t.flow != nil && t.thinking != d.Thinking {
		t.end(p)
	}
	text := d.Text
	if t.flow == nil {
		if text = strings.TrimLeft(text, "\n "); text == "" {
			return
		}
		tone, mark := show.Plain, p.In(show.Name, "●")
		if d.Thinking {
			tone, mark = show.Quiet, p.In(show.Quiet, "○")
		}
		p.Raw(mark + " ")
		paint := func(s string) string { return p.In(tone, s) }
		t.thinking, t.markdown = d.Thinking, nil
		if !d.Thinking {
			t.markdown = &markdown{p: p}
			paint = t.markdown.paint
		}
		t.flow = show.NewFlow(p.Width, 2, "  ", paint)
	}
	t.lines(p, show.Visible(text))
}

// lines writes visible text line by line: what paints it must know where each one begins.
func (t *modelText) lines(p *show.Printer, text string) {
	for {
		line, rest, ended := strings.Cut(text, "\n")
		p.Raw(t.flow.Write(line))
		if !ended {
			return
		}
		p.Raw(t.flow.Write("\n"))
		if t.markdown != nil {
			t.markdown.newLine()
		}
		text = rest
	}
}

// drop marks a text that is not kept: the model is asked again, or the run ends. Most
// often its message has ended before that is known.
func (t *modelText) drop(p *show.Printer, indent, messageID string) {
	switch mark := p.In(show.Warn, "(dropped)"); {
	case t.flow != nil:
		p.Raw(t.flow.End() + " " + mark + "\n")
		t.flow = nil
	case messageID == t.last && messageID != "":
		p.Print("%s  %s\n", indent, mark)
	}
	t.last = ""
}

// end ends the line of the open text.
func (t *modelText) end(p *show.Printer) {
	if t.flow != nil {
		p.Raw(t.flow.End() + "\n")
		t.flow = nil
	}
}
