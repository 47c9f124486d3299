package chat

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// view returns what is shown below what was said: the text that streams, the calls at
// work, a question, what waits, and the line that the person writes.
func (s *screen) view() string {
	if s.talk.ending != "" {
		return ""
	}
	above := s.above()
	return strings.Join(append(above, s.below()...), "\n")
}

// cursor returns where the terminal's cursor stands.
func (s *screen) cursor() *tea.Cursor {
	if s.talk.ending != "" || len(s.asked) > 0 {
		return nil
	}
	at := s.input.Cursor()
	if at == nil {
		return nil
	}
	return tea.NewCursor(at.X, at.Y+len(s.above())) // the terminal's own shape and colour
}

// above returns what goes on, cut to what the terminal has room for.
func (s *screen) above() []string {
	if len(s.asked) > 0 { // the whole screen is for what is to be judged
		if s.small { // what the terminal cuts off nobody has judged
			return []string{tooSmall}
		}
		return s.asked[0].view(s.talk.p, s.height, s.talk.now())
	}
	var lines []string
	word, streams := s.talk.view.Pending()
	if text := s.said.String() + word; text != "" || streams {
		lines = append(lines, text)
	}
	lines = append(lines, s.calls()...)
	if s.talk.running {
		lines = append(lines, s.status())
	}
	for _, waiting := range s.talk.queue {
		lines = append(lines, s.talk.p.In(show.Quiet, show.Shorten("  waits: "+show.Line(show.FirstLine(waiting)), s.width-1)))
	}
	if room := max(s.height-s.input.Height()-2, 1); len(lines) > room {
		lines = lines[len(lines)-room:]
	}
	return lines
}

// tooSmall stands in the place of a question that has no room.
const tooSmall = "? make it larger; n = no"

func (s *screen) below() []string {
	if len(s.asked) > 0 {
		return nil
	}
	lines := []string{s.input.View()}
	if hint := s.hint(); hint != "" {
		lines = append(lines, s.talk.p.In(show.Quiet, hint))
	} else if used := s.talk.used.line(); used != "" {
		lines = append(lines, s.talk.p.In(show.Quiet, show.Shorten(used, s.width-1)))
	}
	return lines
}

func (s *screen) hint() string {
	switch {
	case !s.talk.last.IsZero() && s.talk.now().Sub(s.talk.last) < againWithin:
		return "again to end hookd"
	case len(s.choices) > 0:
		return show.Shorten(strings.Join(s.choices, "  "), s.width-1)
	case strings.HasPrefix(s.input.Value(), "!"):
		return show.Shorten("a shell command of yours: hooks judge it, the model reads it", s.width-1)
	case !s.talk.running && s.talk.turns == 0 && s.input.Value() == "":
		return "/help lists the commands"
	}
	return ""
}

func (s *screen) status() string {
	text := "working"
	if s.talk.aborting {
		text = "aborting"
	}
	line := fmt.Sprintf("%s %ds, esc aborts", text, int(s.talk.now().Sub(s.talk.began).Seconds()))
	if s.hookAtWork != nil {
		if name, since := s.hookAtWork(); name != "" && s.talk.now().Sub(since) >= slowHook {
			line += fmt.Sprintf(" · waiting for %s, %ds", show.Line(name), int(s.talk.now().Sub(since).Seconds()))
		}
	}
	return s.talk.p.In(show.Name, spinner[s.frame%len(spinner)]) + " " + s.talk.p.In(show.Quiet, show.Shorten(line, s.width-2))
}

// slowHook is how long a hook is at work before it is named.
const slowHook = 500 * time.Millisecond

// shownOutput is how many lines of a running tool's output are shown.
const shownOutput = 3

// calls returns the tool calls at work, with the end of what they print.
func (s *screen) calls() (lines []string) {
	p := s.talk.p
	for _, call := range s.talk.view.Calls() {
		took := s.talk.now().Sub(call.Began).Truncate(time.Second)
		title := show.Shorten(call.Title(), max(s.width-12-2*call.Depth, 10))
		indent := strings.Repeat("  ", call.Depth)
		lines = append(lines, indent+p.In(show.Quiet, "…")+" "+title+p.In(show.Quiet, fmt.Sprintf(" %s", took)))
		output := strings.Split(strings.TrimRight(call.Output, "\n"), "\n")
		if call.Output == "" {
			continue
		}
		for _, line := range output[max(0, len(output)-shownOutput):] {
			lines = append(lines, indent+p.In(show.Quiet, "  │ "+show.Shorten(show.Line(strings.TrimRight(line, "\r")), max(s.width-8-2*call.Depth, 10))))
		}
	}
	return lines
}
