package chat

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/agnivade/levenshtein"
)

// key is a key that the person pressed.
func (c *chat) key(k tea.KeyPressMsg) []effect {
	name := k.String()
	switch name {
	case "ctrl+c", "esc":
		return c.abort()
	}
	if len(c.asked) > 0 {
		effects := c.answerKey(k)
		c.writes(k)
		return effects
	}
	c.writes(k)
	switch name {
	case "ctrl+d":
		if c.input.Value() == "" {
			return c.quit()
		}
	case "ctrl+o":
		c.show("")
		return nil
	case "enter":
		if value := c.input.Value(); strings.HasSuffix(value, "\\") && c.atEnd() {
			c.input.SetValue(strings.TrimSuffix(value, "\\") + "\n")
			return nil
		}
		c.wrote = time.Time{} // that is written
		return c.send()
	case "up":
		if c.input.Line() == 0 && c.input.LineInfo().RowOffset == 0 {
			c.recall(-1)
			return nil
		}
	case "down":
		if info := c.input.LineInfo(); c.input.Line() == c.input.LineCount()-1 && info.RowOffset == info.Height-1 {
			c.recall(1)
			return nil
		}
	}
	c.input, _ = c.input.Update(k)
	return nil
}

// writes remembers when a key that writes was pressed last. A blank goes on in a
// question of which there is more.
func (c *chat) writes(k tea.KeyPressMsg) {
	goesOn := k.Text == " " && len(c.asked) > 0 && c.asked[0].end() < len(c.asked[0].lines)
	if k.Text != "" && !goesOn {
		c.wrote = c.now()
	}
}

// atEnd reports whether the cursor is behind all that is written.
func (c *chat) atEnd() bool {
	lines := strings.Split(c.input.Value(), "\n")
	return c.input.Line() == len(lines)-1 && c.input.Column() == len([]rune(lines[len(lines)-1]))
}

// recall goes back and forth in what was sent before.
func (c *chat) recall(step int) {
	to := c.at + step
	if to < 0 || to > len(c.history) {
		return
	}
	if c.at == len(c.history) {
		c.draft = c.input.Value()
	}
	c.at = to
	if to == len(c.history) {
		c.input.SetValue(c.draft)
	} else {
		c.input.SetValue(c.history[to])
	}
}

// nearCommand is the command that a misspelt one was meant to be, "" if none is
// near.
func nearCommand(name string) string {
	if len(name) < 3 {
		return ""
	}
	for _, known := range []string{"hooks", "compact", "model", "sessions", "show", "help", "quit", "exit", "trust"} {
		word := strings.ToLower(name)
		if d := levenshtein.ComputeDistance(word, known); d <= 1 || d == 2 && len(known) > 5 || swapped(word, known) {
			return known
		}
	}
	return ""
}

// swapped reports whether a word is another one but for two letters next to each
// other, the commonest slip of all.
func swapped(word, known string) bool {
	if len(word) != len(known) {
		return false
	}
	i := 0
	for i < len(word) && word[i] == known[i] {
		i++
	}
	return i+1 < len(word) && word[i] == known[i+1] && word[i+1] == known[i] && word[i+2:] == known[i+2:]
}
