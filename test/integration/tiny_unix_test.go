//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/creack/pty"
)

// resize gives the terminal another size, of which the system tells hookd.
func (p *person) resize(columns, rows uint16) {
	p.t.Helper()
	if err := pty.Setsize(p.master, &pty.Winsize{Rows: rows, Cols: columns}); err != nil {
		p.t.Fatal(err)
	}
}

// TestTinyTerminals asserts that hookd does not break on a terminal that has next to no
// size, and that no question is answered with yes there: not on one that is so from the
// beginning, and not on one that shrinks while the question stands. A no is always taken,
// and on a terminal that grows again the question can be judged.
func TestTinyTerminals(t *testing.T) {
	command := "turns:\n- toolCalls:\n  - {id: c1, name: bash, args: {command: \"touch CANARY\"}}\n- text: the answer\n"
	type size struct{ columns, rows uint16 }
	for name, c := range map[string]struct {
		termName, yes, no string
		before, at        size
	}{
		"1×1, chat":                {"xterm-256color", "y", "n", size{1, 1}, size{1, 1}},
		"10×3, chat":               {"xterm-256color", "y", "n", size{10, 3}, size{10, 3}},
		"80×2, chat":               {"xterm-256color", "y", "n", size{80, 2}, size{80, 2}},
		"1×1, lines":               {"dumb", "y\r", "n\r", size{1, 1}, size{1, 1}},
		"10×3, lines":              {"dumb", "y\r", "n\r", size{10, 3}, size{10, 3}},
		"shrinks to nothing, chat": {"xterm-256color", "y", "n", size{80, 24}, size{0, 0}},
		"shrinks to 1×1, chat":     {"xterm-256color", "y", "n", size{80, 24}, size{1, 1}},
		"shrinks to 1×1, lines":    {"dumb", "y\r", "n\r", size{80, 24}, size{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			if err := os.WriteFile(filepath.Join(b.project, "agent.yaml"), []byte(command), 0o644); err != nil {
				t.Fatal(err)
			}
			ran := func() bool {
				_, err := os.Stat(filepath.Join(b.project, "CANARY"))
				return err == nil
			}
			p := sitDown(t, b, c.termName, "run", "--model", "scripted:agent.yaml")
			p.resize(c.before.columns, c.before.rows)
			time.Sleep(500 * time.Millisecond)
			p.types("go\r")
			if c.before.rows >= 24 {
				p.sees("asks before bash runs")
				p.sees("CANARY")
			}
			time.Sleep(time.Second)
			p.resize(c.at.columns, c.at.rows)
			time.Sleep(time.Second)
			for range 8 { // line by line the question comes in parts
				p.types(c.yes)
				time.Sleep(300 * time.Millisecond)
			}
			if ran() {
				t.Fatalf("yes to what nobody could see: %q", p.screen())
			}
			p.resize(80, 24)
			p.sees("CANARY")
			time.Sleep(time.Second)
			p.types(c.no)
			p.sees("refused") // what follows is broken where the terminal was narrow at first
			if ran() {
				t.Error("no was not taken")
			}
			p.hookd.Process.Kill()
			p.hookd.Wait()
		})
	}
}
