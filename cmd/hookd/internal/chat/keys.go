package chat

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/chat/internal/completion"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
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
		s.talk.showNext()
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
func (d *draft) atEnd() bool {
	lines := strings.Split(d.input.Value(), "\n")
	return d.input.Line() == len(lines)-1 && d.input.Column() == len([]rune(lines[len(lines)-1]))
}

// complete completes the word before the cursor, at the end of what is written. What it
// could become is shown below.
func (s *screen) complete() {
	if !s.atEnd() {
		return
	}
	var names []string
	if s.talk.callable != nil {
		names = s.talk.callable()
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
func (d *draft) recall(step int) {
	if text := d.history.move(step, d.input.Value()); text != d.input.Value() {
		d.input.SetValue(text)
	}
}

// send takes the enter key.
func (s *screen) send() []effect {
	text := strings.TrimSpace(s.pasted.unfold(s.input.Value()))
	if text == "" {
		return nil
	}
	s.input.Reset()
	s.pasted = nil
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
		s.pasted = nil
		s.talk.last = time.Time{}
	}
	return effects
}

// pastes are the texts that were pasted into the line that is written and are too long to
// stand in it. A mark stands for each; a mark that the person changes is text like any other.
type pastes []paste

type paste struct{ mark, text string }

// Of a paste that stands in the line itself.
const (
	mostPastedLines = 8
	mostPastedBytes = 2000
)

// paste takes what the person pasted.
func (d *draft) paste(text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if lines := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1; lines > mostPastedLines || len(text) > mostPastedBytes {
		size := fmt.Sprintf("%d lines", lines)
		if lines == 1 {
			size = show.Number(int64(len(text))) + " bytes"
		}
		mark := fmt.Sprintf("[pasted %d: %s]", len(d.pasted)+1, size)
		d.pasted = append(d.pasted, paste{mark, text})
		text = mark
	}
	d.input.InsertString(text)
}

// unfold puts the pasted texts in the places of their marks. A mark inside of a pasted text
// stays as it is.
func (p pastes) unfold(written string) string {
	var replaced []string
	for _, one := range p {
		replaced = append(replaced, one.mark, one.text)
	}
	return strings.NewReplacer(replaced...).Replace(written)
}
