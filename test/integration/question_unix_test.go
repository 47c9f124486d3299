//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// asksBox is a project whose guard asks about every command with the word risky.
func asksBox(t *testing.T, turns string) *box {
	t.Helper()
	b := newBox(t)
	hooks := filepath.Join(b.home, ".acai", "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	guard := "#!/bin/sh\n# hook: events=tool-call-start match.tool=bash can=block timeout=10s\n" +
		"case $(cat) in\n" +
		// The other call is at work before it is asked about the second.
		"*risky*) n=0; while [ ! -e \"$HOOK_PROJECT_DIR/started\" ] && [ $n -lt 100 ]; do sleep 0.05; n=$((n+1)); done\n" +
		"echo '{\"action\":\"ask\",\"reason\":\"really?\"}' ;; esac\n"
	for path, text := range map[string]string{filepath.Join(hooks, "guard.sh"): guard, filepath.Join(b.project, "agent.yaml"): turns} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

const neighbours = `
turns:
- toolCalls:
  - {id: c1, name: bash, args: {command: "touch started; sleep 1; touch first"}}
  - {id: c2, name: bash, args: {command: "touch risky"}}
  - {id: c3, name: bash, args: {command: "touch third"}}
- text: the answer
`

// TestWhatWasTypedBeforeIsNoAnswer asserts that a question waits for the tools at
// work, that no other begins while it is open, and that what stood in the terminal
// before it, from whomever, does not answer it.
func TestWhatWasTypedBeforeIsNoAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ termName, before, no string }{
		"line by line": {"dumb", "y\r", "n\r"},
		"in the chat":  {"xterm-256color", "y", "n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := asksBox(t, neighbours)
			p := sitDown(t, b, c.termName, "run", "--allow", "bash,write,mcp", "--model", "scripted:agent.yaml")
			p.sees("›")
			if c.termName != "dumb" {
				p.sees("/help lists the commands")
			}
			p.types("go\r")
			p.awaits("started")
			p.types(c.before)
			p.sees("asks before")
			p.sees("eject") // the question is whole
			p.awaits("first")
			time.Sleep(300 * time.Millisecond)
			for _, file := range []string{"risky", "third"} {
				if _, err := os.Stat(filepath.Join(b.project, file)); err == nil {
					t.Errorf("%s was run beside the question", file)
				}
			}
			p.types(c.no)
			p.sees("the answer")
			p.awaits("third")
			if _, err := os.Stat(filepath.Join(b.project, "risky")); err == nil {
				t.Error("what was typed before the question answered it")
			}
			p.hookd.Process.Kill()
			p.hookd.Wait()
		})
	}
}

// TestWhatWasTypedBeforeAllowsNoHook asserts the same of hookd trust.
func TestWhatWasTypedBeforeAllowsNoHook(t *testing.T) {
	b := newBox(t)
	hook := "#!/bin/sh\n# hook: events=tool-call-start can=block\n" + strings.Repeat("# so that it takes a while to show\n", 5000)
	hooks := filepath.Join(b.project, ".acai", "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(hooks, "guard.sh"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	p := sitDown(t, b, "xterm", "trust")
	p.types("y\r")
	p.sees("allow 1 hook? [y/N]")
	time.Sleep(200 * time.Millisecond)
	if strings.Contains(p.screen(), "allowed") {
		t.Fatal("what was typed before the question answered it")
	}
	p.types("y\r")
	p.sees("1 hook allowed")
	p.leaves(0)
}

const looksAround = `
turns:
- toolCalls:
  - {id: c1, name: bash, args: {command: "sh look.sh tool"}}
- text: the answer
`

const look = `exec 2>/dev/null
(: >/dev/tty) && echo "$1 opens /dev/tty" >>reached
for fd in 0 1 2 3 4 5 6 7 8 9; do
  test -t $fd && echo "$1 has a terminal at $fd" >>reached
done
test $1 = hook || test "$(cat)" = "" || echo "$1 reads something" >>reached
echo $1 >>looked
`

// TestToolsAndHooksHaveNoTerminal asserts that what hookd starts at a terminal has no
// way to it that can be closed: no controlling terminal, no descriptor of it, not even
// one that hookd's own parent left open.
func TestToolsAndHooksHaveNoTerminal(t *testing.T) {
	b := asksBox(t, looksAround)
	if err := os.WriteFile(filepath.Join(b.project, "look.sh"), []byte(look), 0o644); err != nil {
		t.Fatal(err)
	}
	hook := "#!/bin/sh\n# hook: events=tool-call-start match.tool=bash can=block timeout=10s\ncd \"$HOOK_PROJECT_DIR\" && sh look.sh hook\n"
	if err := os.WriteFile(filepath.Join(b.home, ".acai", "hooks", "look.sh"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	p := sitDownWith(t, b, "dumb", func(p *person) { p.hookd.ExtraFiles = []*os.File{p.slave} }, "run", "--allow", "bash,write,mcp", "go", "--model", "scripted:agent.yaml")
	p.sees("the answer")
	p.leaves(0)
	looked, err := os.ReadFile(filepath.Join(b.project, "looked"))
	if err != nil || !strings.Contains(string(looked), "hook") || !strings.Contains(string(looked), "tool") {
		t.Errorf("looked: %s, %v", looked, err)
	}
	if reached, err := os.ReadFile(filepath.Join(b.project, "reached")); err == nil {
		t.Errorf("the terminal is reached:\n%s", reached)
	}
}

const longCommand = `
turns:
- toolCalls:
  - {id: c1, name: bash, args: {command: "echo 'LONG' >/dev/null && touch CANARY"}}
- text: the answer
`

// TestYesCountsAfterTheEnd asserts that a command which is longer than the screen cannot
// be allowed before its end was shown, in the three ways of asking at a terminal.
func TestYesCountsAfterTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		termName string
		args     []string
		more     string
	}{
		"one run":      {"xterm", []string{"run", "go", "--model", "scripted:agent.yaml"}, "y\r"},
		"line by line": {"dumb", []string{"run", "--model", "scripted:agent.yaml"}, "y\r"},
		"in the chat":  {"xterm-256color", []string{"run", "--model", "scripted:agent.yaml"}, "y "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			turns := strings.Replace(longCommand, "LONG", strings.Repeat("x", 5000), 1)
			if err := os.WriteFile(filepath.Join(b.project, "agent.yaml"), []byte(turns), 0o644); err != nil {
				t.Fatal(err)
			}
			p := sitDown(t, b, c.termName, c.args...)
			if len(c.args) == 3 {
				p.sees("›")
				if c.termName != "dumb" {
					p.sees("/help lists the commands")
				}
				p.types("go\r")
			}
			p.sees("asks before bash runs")
			p.sees("(5,0")
			p.sees("not shown yet")
			for range 50 {
				time.Sleep(200 * time.Millisecond)
				if strings.Contains(p.screen(), "CANARY") {
					break
				}
				p.types(c.more)
			}
			if _, err := os.Stat(filepath.Join(b.project, "CANARY")); err == nil {
				t.Fatal("it ran before its end was shown")
			}
			p.sees("CANARY")
			time.Sleep(time.Second) // the chat takes a yes that is a key of its own
			p.types(strings.Replace(c.more, " ", "", 1))
			p.awaits("CANARY")
			p.sees("the answer")
			p.hookd.Process.Kill()
			p.hookd.Wait()
		})
	}
}
