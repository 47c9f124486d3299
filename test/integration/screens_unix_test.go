//go:build unix

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// At the start of a run on a terminal the person is asked about what of the project waits,
// once; a no leaves guards refusing, a yes allows what was shown, and /trust asks later. Below
// an agent nobody is asked.
func TestGuardsAreReviewedAtTheStart(t *testing.T) {
	t.Parallel()
	newProject := func(t *testing.T) *box {
		b := newBox(t)
		shellHook(t, filepath.Join(b.project, ".acai", "hooks", "guard.sh"), "#!/bin/sh\n# hook: events=tool-call-start can=block timeout=10s\n")
		turns := "turns:\n- toolCalls: [{id: c1, name: write_file, args: {path: written, content: x}}]\n- text: done\n"
		if err := os.WriteFile(filepath.Join(b.project, "turns.yaml"), []byte(turns), 0o600); err != nil {
			t.Fatal(err)
		}
		return b
	}
	const question = "allow 1 hook? y = yes, s = show it, n = no [n] "
	t.Run("no", func(t *testing.T) {
		t.Parallel()
		b := newProject(t)
		p := sitDown(t, b, "xterm", "run", "go", "--allow", "bash,write", "--model", "scripted:turns.yaml")
		p.sees(question)
		p.types("n\n")
		p.sees("failed: untrusted, nobody allowed it yet")
		p.leaves(0)
		if exists(filepath.Join(b.project, "written")) {
			t.Error("the guard did not refuse")
		}
	})
	t.Run("yes", func(t *testing.T) {
		t.Parallel()
		b := newProject(t)
		p := sitDown(t, b, "xterm", "run", "go", "--allow", "bash,write", "--model", "scripted:turns.yaml")
		p.sees(question)
		p.types("y\n")
		p.sees("1 hook allowed")
		p.sees("wrote 1 bytes")
		p.leaves(0)
	})
	t.Run("later", func(t *testing.T) {
		t.Parallel()
		b := newProject(t)
		p := sitDown(t, b, "xterm", "run", "--allow", "bash,write", "--model", "scripted:turns.yaml")
		p.sees(question)
		p.types("n\n")
		p.sees("/help lists the commands")
		p.types("/trust\r")
		p.sees("allow 1 hook?")
		p.types("y")
		p.sees("too early for a yes") // as it came up: it does not count, and that is said
		time.Sleep(time.Second)
		p.types("y")
		p.sees("1 hook allowed")
		p.types("go\r")
		p.sees("wrote 1 bytes")
		p.types("/quit\r")
		p.leaves(0)
	})
	t.Run("below an agent", func(t *testing.T) {
		t.Parallel()
		b := newProject(t)
		c := b.command("run", "go", "--allow", "bash,write", "--model", "scripted:turns.yaml")
		c.Env = append(c.Env, "TERM=xterm", "HOOK_DEPTH=1")
		master, err := pty.Start(c)
		if err != nil {
			t.Skipf("this machine has no pseudo-terminal (/dev/ptmx); CI has one and tests it: %v", err)
		}
		defer master.Close()
		var screen strings.Builder
		done := make(chan struct{})
		go func() {
			defer close(done)
			piece := make([]byte, 4096)
			for {
				n, err := master.Read(piece)
				screen.Write(piece[:n])
				if err != nil {
					return
				}
			}
		}()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Error("it waits for somebody")
			c.Process.Kill()
		}
		c.Wait()
		if text := screen.String(); strings.Contains(text, "allow 1 hook?") || !strings.Contains(text, "guard.sh refuses its events") {
			t.Errorf("the screen:\n%s", text)
		}
	})
	t.Run("without a terminal", func(t *testing.T) {
		t.Parallel()
		b := newProject(t)
		_, stderr, _ := b.runs(t, nil, "run", "go", "--allow", "bash,write", "--model", "scripted:turns.yaml")
		if !strings.Contains(stderr, "guard.sh refuses its events") || !strings.Contains(stderr, "hookd trust") {
			t.Errorf("stderr: %s", stderr)
		}
	})
}

// The daemon's log tells of hooks that fail, observers too, and of another set of hooks.
func TestDaemonLogsWhatFails(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.script(t, "guard.sh", "#!/bin/sh\n# hook: events=prompt-submit can=block timeout=10s onFailure=continue\nexit 3\n")
	b.script(t, "watch.sh", "#!/bin/sh\n# hook: events=prompt-submit can=observe timeout=10s\necho a note\nexit 4\n")
	c := b.command("serve")
	c.Env = append(c.Env, "HOOKD_LOG=debug")
	k := serveBy(t, b, c)
	k.call("event/fire", k.event("hello"))
	b.script(t, "new.sh", "#!/bin/sh\n# hook: events=prompt-submit can=observe timeout=10s\n")
	k.call("hooks/reload", fmt.Sprintf(`{"cwd":%q}`, b.project))
	k.call("shutdown", `{}`)
	if err := k.cmd.Wait(); err != nil {
		t.Error(err)
	}
	log := k.stderr.String()
	for _, want := range []string{
		`msg="a hook could not be asked" hook=guard.sh source=user event=prompt-submit`,
		`msg="a hook could not be asked" hook=watch.sh source=user event=prompt-submit`,
		`detail="exit code 3"`, `msg="text on stdout besides the reply: a note" hook=watch.sh`,
		`msg="another set of hooks is active"`,
	} {
		if n := strings.Count(log, want); n != 1 {
			t.Errorf("%s is logged %d times:\n%s", want, n, log)
		}
	}
}

// What is said of one call stands in the order in which it happened, also where calls
// run side by side, and around everything else.
func TestLinesOfARunAreInOrder(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.script(t, "guard.sh", "#!/bin/sh\n# hook: events=tool-call-start,tool-call-end can=block timeout=20s\n")
	var calls []string
	for i := range 6 {
		calls = append(calls, fmt.Sprintf("{id: c%d, name: bash, args: {command: \"sleep 0.%d; echo %d\"}}", i, 6-i, i))
	}
	turns := "turns:\n- toolCalls: [" + strings.Join(calls, ", ") + "]\n- text: done\n"
	if err := os.WriteFile(filepath.Join(b.project, "turns.yaml"), []byte(turns), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := b.runs(t, nil, "run", "go", "--json", "--allow", "bash,write", "--model", "scripted:turns.yaml")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	place := map[string][]string{} // what was said of each call
	ids := map[string]string{}     // the calls of events
	type anyLine struct {
		Kind, ID, Hook, ToolCallID string
		Event                      json.RawMessage
	}
	var lines []anyLine
	for text := range strings.Lines(stdout) {
		var line anyLine
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
		var event struct {
			ID, Event string
			Data      struct{ ToolCallID string }
		}
		if line.Kind == "event" && json.Unmarshal(line.Event, &event) == nil && event.Data.ToolCallID != "" {
			ids[event.ID] = event.Data.ToolCallID
		}
	}
	for _, line := range lines {
		var event struct{ ID, Event string }
		switch {
		case line.Kind == "event" && json.Unmarshal(line.Event, &event) == nil:
			if call := ids[event.ID]; call != "" {
				place[call] = append(place[call], event.Event)
			}
		case line.Kind == "hook":
			if call := ids[line.ID]; call != "" {
				place[call] = append(place[call], line.Hook)
			}
		}
	}
	if len(place) != 6 {
		t.Errorf("%d calls", len(place))
	}
	for call, said := range place {
		if got := strings.Join(said, " "); got != "guard.sh tool-call-start guard.sh tool-call-end" {
			t.Errorf("%s: %s", call, got)
		}
	}
	if last := lines[len(lines)-1]; last.Kind != "result" {
		t.Errorf("the last line is of kind %s", last.Kind)
	}
}
