package chat

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/runview"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// view is what stands below what was said: the text that streams, the calls at
// work, a question, what waits, and the line that the person writes.
func (c *chat) view() string {
	if c.ending {
		return ""
	}
	above := c.above()
	return strings.Join(append(above, c.below()...), "\n")
}

// cursor is where the terminal's cursor stands.
func (c *chat) cursor() *tea.Cursor {
	if c.ending || len(c.asked) > 0 {
		return nil
	}
	at := c.input.Cursor()
	if at == nil {
		return nil
	}
	return tea.NewCursor(at.X, at.Y+len(c.above())) // the terminal's own shape and colour
}

// above is what goes on, cut to what the terminal has room for.
func (c *chat) above() []string {
	if len(c.asked) > 0 { // the whole screen is for what is to be judged
		if c.small { // what the terminal cuts off nobody has judged
			return []string{tooSmall}
		}
		return c.asked[0].view(c.run.P, c.height, c.now())
	}
	var lines []string
	if text := c.said.String(); text != "" || c.run.Flow != nil {
		if c.run.Flow != nil {
			text += c.run.P.In(show.Quiet, c.run.Flow.Pending())
		}
		lines = append(lines, text)
	}
	lines = append(lines, c.calls()...)
	if c.running {
		lines = append(lines, c.status())
	}
	for _, waiting := range c.queue {
		lines = append(lines, c.run.P.In(show.Quiet, show.Shorten("  waits: "+show.Line(show.FirstLine(waiting)), c.width-1)))
	}
	if room := max(c.height-c.input.Height()-2, 1); len(lines) > room {
		lines = lines[len(lines)-room:]
	}
	return lines
}

// tooSmall stands in the place of a question that has no room.
const tooSmall = "? make it larger; n = no"

func (c *chat) below() []string {
	if len(c.asked) > 0 {
		return nil
	}
	lines := []string{c.input.View()}
	if hint := c.hint(); hint != "" {
		lines = append(lines, c.run.P.In(show.Quiet, hint))
	}
	return lines
}

func (c *chat) hint() string {
	switch {
	case !c.armed.IsZero() && c.now().Sub(c.armed) < againWithin:
		return "again to end hookd"
	case !c.running && c.turns == 0 && c.input.Value() == "":
		return "/help says what there is"
	}
	return ""
}

func (c *chat) status() string {
	text := "working"
	if c.aborting {
		text = "aborting"
	}
	return c.run.P.In(show.Name, spinner[c.frame%len(spinner)]) + c.run.P.In(show.Quiet,
		fmt.Sprintf(" %s %ds, esc aborts", text, int(c.now().Sub(c.began).Seconds())))
}

// shownOutput is how many lines of a running tool's output are shown.
const shownOutput = 3

// calls are the tool calls at work, with the end of what they print.
func (c *chat) calls() (lines []string) {
	p := c.run.P
	for _, id := range c.run.Order {
		call := c.run.Open[id]
		took := c.now().Sub(call.Began).Truncate(time.Second)
		title := show.Shorten(runview.CallTitle(&call.Call), max(c.width-12-2*call.Depth, 10))
		indent := strings.Repeat("  ", call.Depth)
		lines = append(lines, indent+p.In(show.Quiet, "…")+" "+title+p.In(show.Quiet, fmt.Sprintf(" %s", took)))
		output := strings.Split(strings.TrimRight(call.Output, "\n"), "\n")
		if call.Output == "" {
			continue
		}
		for _, line := range output[max(0, len(output)-shownOutput):] {
			lines = append(lines, indent+p.In(show.Quiet, "  │ "+show.Shorten(show.Line(strings.TrimRight(line, "\r")), max(c.width-8-2*call.Depth, 10))))
		}
	}
	return lines
}
