//go:build unix

package trustquestion

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/terminal"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/trustcmd"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/test/golden"
)

// clone is a project that came from elsewhere.
type clone struct {
	t             *testing.T
	home, project string
}

// newClone makes a project with one of each kind, and with names and texts that would like to
// repaint the terminal.
func newClone(t *testing.T) *clone {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CLAUDECODE", "")
	os.Unsetenv("CLAUDECODE")
	c := &clone{t, filepath.Join(top, "home"), filepath.Join(top, "home", "src", "shop")}
	t.Setenv("HOME", c.home)
	t.Setenv("XDG_STATE_HOME", filepath.Join(top, "state"))
	c.write(".acai/hooks/guard.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block timeout=5s\nexit 0\n", 0o755)
	c.write(".acai/hooks/log.sh", "#!/bin/sh\n# hook: events=agent-end can=observe timeout=5s\ncat >/dev/null\n", 0o755)
	c.write(".acai/acai.json", `{"hooks": {"use": [{"name": "no-push", "events": ["tool-call-start"], "match": {"tool": "@shell"}, "reply": {"action": "block", "reason": "a person pushes"}}]}, "agent": {"mcpServers": {"git": {"command": "sh"}}}}`, 0o644)
	c.write(".acai/skills/release/SKILL.md", "How a release is made.\n", 0o644)
	c.write(".acai/skills/e\x1b[2Jvil\u202e.md", "\x1b[2J\x1b]0;owned\a\u202eyes\n", 0o644)
	c.write(".acai/recipes/review.md", "Review it.\n", 0o644)
	c.write("AGENTS.md", "Use tabs.\x1b[31m\n", 0o644)
	return c
}

func (c *clone) write(name, text string, mode os.FileMode) {
	c.t.Helper()
	path := filepath.Join(c.project, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		c.t.Fatal(err)
	}
}

func (c *clone) plan() (*loader.Trust, *loader.Plan) {
	c.t.Helper()
	trust, err := loader.OpenTrust(loader.Options{Project: c.project, Cwd: c.project, Instructions: true})
	if err != nil {
		c.t.Fatal(err)
	}
	plan, err := trust.Plan(context.Background())
	if err != nil {
		c.t.Fatal(err)
	}
	return trust, plan
}

// seat is a person at a terminal, to whom the question is put.
type seat struct {
	t      *testing.T
	master *os.File
	lines  *terminal.Lines

	mu     sync.Mutex
	screen bytes.Buffer
	from   int           // what was on the screen before the person typed last
	done   chan struct{} // the answer is there
	names  []string
	err    error
}

// sit puts the question to a person at a terminal of a size.
func sit(t *testing.T, plan *loader.Plan, width, height int, guards ...string) *seat {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Skipf("this machine has no pseudo-terminal (/dev/ptmx); CI has one and tests it: %v", err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}); err != nil {
		t.Fatal(err)
	}
	s := &seat{t: t, master: master, lines: terminal.ReadLines(slave), done: make(chan struct{})}
	read := make(chan struct{})
	go func() {
		defer close(read)
		piece := make([]byte, 4096)
		for {
			n, err := master.Read(piece)
			s.mu.Lock()
			s.screen.Write(piece[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() {
		defer close(s.done)
		s.names, s.err = Ask(context.Background(), Person{&show.Printer{W: slave, Width: width}, s.lines}, plan, guards)
	}()
	t.Cleanup(func() {
		s.lines.Stop()
		slave.Close()
		master.Close()
		<-read
	})
	return s
}

// text is what was on the screen so far.
func (s *seat) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.screen.String(), "\r\n", "\n")
}

// sees waits until the screen ends with a text that came since the person typed last.
func (s *seat) sees(want string) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !strings.HasSuffix(s.text()[s.from:], want); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("the screen does not end with %q:\n%s", want, s.text())
		}
	}
}

func (s *seat) types(line string) {
	s.t.Helper()
	s.from = len(s.text())
	if _, err := io.WriteString(s.master, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// answers waits for the answer.
func (s *seat) answers() []string {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(20 * time.Second):
		s.t.Fatalf("no answer:\n%s", s.text())
	}
	if s.err != nil {
		s.t.Error(s.err)
	}
	return s.names
}

const (
	unseenPrompt = "allow it? y = look through all of it first, s = show it, n = no [n] "
	seenPrompt   = " y = yes, s = show it, n = no [n] "
	morePrompt   = "enter = more, all = the rest, n = no: "
)

// A yes to a project must not give away, unsaid, what the person is asked from then on.
func TestWhoSaysYesInThePersonsPlaceIsNamed(t *testing.T) {
	c := newClone(t)
	c.write(".acai/hooks/yes.rules.yaml", "rules: [{name: all-yes, events: [permission-request], reply: {action: allow}}]", 0o644)
	c.write(".acai/hooks/yes.sh", "#!/bin/sh\n# hook: events=permission-request can=modify timeout=5s\nexit 0\n", 0o755)
	_, plan := c.plan()
	var shown, whole bytes.Buffer
	summary(&show.Printer{W: &shown, Width: 200}, plan, Waiting(plan), nil)
	trustcmd.OpenItems(&show.Printer{W: &whole, Width: 200}, plan)
	for text, want := range map[string][]string{
		shown.String(): {"all-yes (can say yes in your place)", "yes.sh (can refuse events, can say yes in your place)", "log.sh,", "guard.sh (can refuse events)"},
		whole.String(): {"all-yes  new, can say yes in your place\n", "yes.sh  new, can refuse events, can say yes in your place\n"},
	} {
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("no %q in\n%s", w, text)
			}
		}
	}
}

// The question at 80 and 120 columns, as it stands in testdata.
func TestTheQuestionOnTheScreen(t *testing.T) {
	for _, width := range []int{80, 120} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			c := newClone(t)
			_, plan := c.plan()
			s := sit(t, plan, width, 40, "guard.sh", "no-push")
			s.sees(unseenPrompt)
			got := s.text()
			s.types("")
			if names := s.answers(); len(names) != 0 {
				t.Errorf("an empty line allowed %q", names)
			}
			golden.Check(t, filepath.Join("testdata", fmt.Sprintf("question-%d.txt", width)), []byte(got+"\n"))
			for line := range strings.SplitSeq(got, "\n") {
				if show.Width(line) > width {
					t.Errorf("%q is wider than the screen", line)
				}
			}
			if strings.ContainsAny(got, "\x1b\a\u202e") {
				t.Error("the project repaints the terminal")
			}
		})
	}
}

// A yes allows what was on the screen and nothing else: of a plan that is longer than the
// screen only after its end was shown.
func TestNothingUnseenIsAllowed(t *testing.T) {
	c := newClone(t)
	c.write("AGENTS.md", strings.Repeat("a line of the instructions\n", 50)+"the last line\n", 0o644)
	trust, plan := c.plan()

	t.Run("a no in between", func(t *testing.T) {
		s := sit(t, plan, 80, 24)
		s.sees(morePrompt) // the summary itself is longer than the screen
		s.types("all")
		s.sees(unseenPrompt)
		s.types("y")
		s.sees(morePrompt)
		s.types("y") // is no answer here
		s.sees(morePrompt)
		s.types("n")
		if names := s.answers(); len(names) != 0 {
			t.Errorf("it allowed %q", names)
		}
		if strings.Contains(s.text(), "the last line") || !strings.Contains(s.text(), "a yes counts after all of it was shown") {
			t.Errorf("the screen:\n%s", s.text())
		}
	})
	t.Run("a yes at the end", func(t *testing.T) {
		s := sit(t, plan, 80, 24)
		s.sees(morePrompt)
		s.types("all")
		s.sees(unseenPrompt)
		s.types("what?")
		s.sees(unseenPrompt)
		s.types("y")
		s.sees(morePrompt)
		s.types("all")
		s.sees(seenPrompt)
		if !strings.Contains(s.text(), "the last line") {
			t.Errorf("the end was not shown:\n%s", s.text())
		}
		s.types("y")
		names := s.answers()
		if len(names) != len(plan.Items) {
			t.Errorf("it allowed %q of %d", names, len(plan.Items))
		}
		if err := trust.Allow(plan, names...); err != nil {
			t.Error(err)
		}
		if _, plan := c.plan(); len(Waiting(plan)) != 0 {
			t.Errorf("%d still wait", len(Waiting(plan)))
		}
	})
	t.Run("input that ends", func(t *testing.T) {
		s := sit(t, plan, 80, 250)
		s.sees(seenPrompt)
		io.WriteString(s.master, "\x04")
		if names := s.answers(); len(names) != 0 {
			t.Errorf("it allowed %q", names)
		}
	})
}

// What fits on the screen is shown at once, with what changed as a diff, and a yes counts.
func TestAChangeIsShownWithTheQuestion(t *testing.T) {
	c := newClone(t)
	trust, plan := c.plan()
	if err := trust.Allow(plan); err != nil {
		t.Fatal(err)
	}
	c.write("AGENTS.md", "Use spaces.\n", 0o644)
	_, plan = c.plan()
	s := sit(t, plan, 80, 40)
	s.sees("allow 1 instruction file?" + seenPrompt)
	for _, want := range []string{"not as you allowed it", "AGENTS.md (changed)", "+Use spaces."} {
		if !strings.Contains(s.text(), want) {
			t.Errorf("%q is not on the screen:\n%s", want, s.text())
		}
	}
	s.types("y")
	if names := s.answers(); len(names) != 1 || names[0] != "instructions/AGENTS.md" {
		t.Errorf("it allowed %q", names)
	}
}

// What was typed before the question is no answer to it, and nobody says yes to what a
// terminal of a few characters cannot show.
func TestWhatIsNoYes(t *testing.T) {
	c := newClone(t)
	_, plan := c.plan()
	s := sit(t, plan, 80, 200)
	s.sees(seenPrompt)
	if err := pty.Setsize(s.master, &pty.Winsize{Cols: 10, Rows: 2}); err != nil {
		t.Fatal(err)
	}
	s.types("y")
	s.sees(unseenPrompt)
	if !strings.Contains(s.text(), "too small for a yes") {
		t.Errorf("the screen:\n%s", s.text())
	}
	s.types("n")
	if names := s.answers(); len(names) != 0 {
		t.Errorf("it allowed %q", names)
	}
}
