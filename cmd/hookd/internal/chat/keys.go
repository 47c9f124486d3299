package chat

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/chat/internal/completion"
)

// key takes a key that the person pressed.
func (s *screen) key(k tea.KeyPressMsg) []effect {
	name := k.String()
	switch name {
	case "ctrl+c", "esc":
		return s.interrupt()
	}
	if len(s.asked) > 0 {
		effects := s.answerKey(k)
		s.writes(k)
		return effects
	}
	s.writes(k)
	s.choices = nil
	switch name {
	case "tab":
		s.complete()
		return nil
	case "ctrl+d":
		if s.input.Value() == "" {
			return s.talk.end(hasQuit)
		}
	case "ctrl+o":
		s.talk.show("")
		return nil
	case "enter":
		if value := s.input.Value(); strings.HasSuffix(value, "\\") && s.atEnd() {
			s.input.SetValue(strings.TrimSuffix(value, "\\") + "\n")
			return nil
		}
		s.wrote = time.Time{} // that is written
		return s.send()
	case "up":
		if s.input.Line() == 0 && s.input.LineInfo().RowOffset == 0 {
			s.recall(-1)
			return nil
		}
	case "down":
		if info := s.input.LineInfo(); s.input.Line() == s.input.LineCount()-1 && info.RowOffset == info.Height-1 {
			s.recall(1)
			return nil
		}
	}
	s.input, _ = s.input.Update(k)
	return nil
}

// writes remembers when a key that writes was pressed last. In a question that has more
// parts, a blank does not write but goes on.
func (s *screen) writes(k tea.KeyPressMsg) {
	goesOn := k.Text == " " && len(s.asked) > 0 && s.asked[0].end() < len(s.asked[0].lines)
	if k.Text != "" && !goesOn {
		s.wrote = s.talk.now()
	}
}

// atEnd reports whether the cursor is at the end of what is written.
func (s *screen) atEnd() bool {
	lines := strings.Split(s.input.Value(), "\n")
	return s.input.Line() == len(lines)-1 && s.input.Column() == len([]rune(lines[len(lines)-1]))
}

// complete completes the word before the cursor, at the end of what is written. What it
// could become is shown below.
func (s *screen) complete() {
	if !s.atEnd() {
		return
	}
	var names []string
	if s.callable != nil {
		names = s.callable()
	}
	written := s.input.Value()
	completed, choices := completion.Complete(written, s.root, names)
	if completed != written {
		s.input.SetValue(completed)
	}
	if len(choices) > 1 {
		s.choices = choices
	}
}

// recall goes back or forth in what was sent before.
func (s *screen) recall(step int) {
	if text := s.history.move(step, s.input.Value()); text != s.input.Value() {
		s.input.SetValue(text)
	}
}

// send takes the enter key.
func (s *screen) send() []effect {
	text := strings.TrimSpace(s.input.Value())
	if text == "" {
		return nil
	}
	s.input.Reset()
	s.history.add(text)
	if name, _, _ := strings.Cut(strings.TrimPrefix(text, "/"), " "); text[0] == '/' && commandByName(name) != nil && name != "quit" && name != "exit" {
		s.keep(text)
	}
	return s.talk.send(text)
}

// interrupt takes esc, ctrl-c or a signal. Between turns the first one takes away what is
// being written.
func (s *screen) interrupt() []effect {
	effects, quiet := s.talk.interrupt()
	if quiet && s.input.Value() != "" {
		s.input.Reset()
		s.talk.last = time.Time{}
	}
	return effects
}
