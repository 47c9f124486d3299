package integration

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// doors are the two programs that stand in an agent's settings.
func (s *station) doors(words ...string) map[string]*exec.Cmd {
	messenger := s.command(words...)
	messenger.Path = s.hookd + "-bridge"
	alone := s.command(append([]string{"bridge"}, words...)...)
	alone.Path = s.hookd
	return map[string]*exec.Cmd{"messenger": messenger, "alone": alone}
}

// A command line in an agent's settings that cannot be understood refuses, in the agent's
// own form where it says which agent that is: nearly every agent takes another exit code
// than 2 for a yes, and Cline takes every one for a yes.
func TestBridgeRefusesAWrongCommandLine(t *testing.T) {
	s := newStation(t, binary)
	for _, words := range [][]string{
		{}, {"claud", "PreToolUse"}, {"", "PreToolUse"}, {"CLAUDE"},
		{"claude", "PreToolUse", "more"}, {"claude", "PreToolUse", "--limit=abc"}, {"claude", "PreToolUse", "--limit=9999999h"},
		{"claude", "PreToolUse", "--limit"}, {"claude", "PreToolUse", "--unknown"}, {"claude", "--left=x"},
		{"--unknown", "claude", "PreToolUse"}, {"cline", "PreToolUse", "more"}, {"--unknown", "cline", "PreToolUse"},
		{"opencode", "tool.execute.before", "--unknown"}, {"kiro", "preToolUse", "--unknown"}, {"gemini", "BeforeTool", "more"},
	} {
		for door, c := range s.doors(words...) {
			a := s.run(c, toolCall("allowed"))
			agent := strings.Join(words, " ")
			var refused bool
			switch {
			case strings.Contains(agent, "cline"):
				refused = strings.HasPrefix(a.stdout, `{"cancel":true,`)
			case strings.Contains(agent, "opencode"):
				refused = strings.HasPrefix(a.stdout, `{"block":true,`)
			case strings.Contains(agent, "gemini"):
				refused = strings.HasPrefix(a.stdout, `{"decision":"deny",`)
			default:
				refused = a.refused()
			}
			if !refused || strings.Count(a.stdout, "\n") > 1 {
				t.Errorf("%s %q: %+v", door, words, a)
			}
		}
	}
}

// fullPipe returns the writing end of a pipe that takes nothing and is not read.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	if err := w.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := w.Write(make([]byte, 4096)); err != nil {
			return w
		}
	}
}

// An answer that the agent does not take, or not whole, refuses by the exit code, in time. A
// stderr that nobody reads keeps nobody from the answer.
func TestBridgeAnswerIsNotTaken(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { full.Close() })
	const limit = 3 * time.Second
	for name, test := range map[string]struct {
		stdout, stderr func(t *testing.T) *os.File
		event, input   string
		code           int
	}{
		"no room":                  {stdout: func(*testing.T) *os.File { return full }, code: 2},
		"nobody reads":             {stdout: fullPipe, code: 2},
		"nobody reads either":      {stdout: fullPipe, stderr: fullPipe, code: 2},
		"nobody reads stderr":      {stderr: fullPipe, code: 0},
		"what cannot be refused":   {stdout: fullPipe, event: "SessionStart", input: `{"session_id":"s","hook_event_name":"SessionStart","source":"startup"}`, code: 1},
		"what cannot be, and full": {stdout: fullPipe, stderr: fullPipe, event: "SessionStart", input: `{"session_id":"s","hook_event_name":"SessionStart","source":"startup"}`, code: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStation(t, binary)
			s.script(t, "hello.sh", "#!/bin/sh\n# hook: events=session-start\necho '{\"action\":\"observe\",\"context\":\"hello\"}'\n")
			event, input := test.event, test.input
			if event == "" {
				event, input = "PreToolUse", toolCall("WAIT")
			}
			for door, c := range s.doors("claude", event, "--limit=3s") {
				var stdout, stderr bytes.Buffer
				c.Stdin, c.Stdout, c.Stderr = strings.NewReader(input), &stdout, &stderr
				if test.stdout != nil {
					c.Stdout = test.stdout(t)
				}
				if test.stderr != nil {
					c.Stderr = test.stderr(t)
				}
				began := time.Now()
				c.Run()
				took := time.Since(began)
				if code := c.ProcessState.ExitCode(); code != test.code || took > limit {
					t.Errorf("%s: exit code %d after %v: %q %q", door, code, took, &stdout, &stderr)
				}
				if test.stdout == nil && !strings.Contains(stdout.String(), `"permissionDecision":"deny"`) || test.code == 2 && test.stderr == nil && stderr.Len() == 0 {
					t.Errorf("%s: %q %q", door, &stdout, &stderr)
				}
			}
		})
	}
}

// Without /proc the messenger finds hookd all the same.
func TestBridgeWithoutProc(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may mount over /proc; CI runs this as root")
	}
	probe := exec.Command("/bin/sh", "-c", "mount -t tmpfs none /proc")
	probe.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	if out, err := probe.CombinedOutput(); err != nil {
		t.Skipf("this container does not let root mount over /proc: %v %s", err, out)
	}
	s := newStation(t, binary)
	for door, c := range s.doors("claude", "PreToolUse") {
		program := append([]string{c.Path}, c.Args[1:]...)
		c.Path, c.Args = "/bin/sh", append([]string{"sh", "-c", `mount -t tmpfs none /proc && exec "$@"`, "sh"}, program...)
		c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
		if a := s.run(c, toolCall("rm")); !a.refused() || !strings.Contains(a.stdout, "not in this house") {
			t.Errorf("%s: %+v", door, a)
		}
	}
}

// hookd is gone before the agent's limit, whatever hooks do: an agent that has to end its
// hook program goes on, whatever was answered. Nothing of the hooks stays.
func TestBridgeIsGoneInTime(t *testing.T) {
	const limit = 5 * time.Second // a fifth of it is left for the answer, on a slow machine too
	for name, hook := range map[string]string{
		"an observer takes its time": "#!/bin/sh\n# hook: events=tool-call-start can=observe timeout=60s\ncat >/dev/null\nsleep 300\n",
		"one that stays":             "#!/bin/sh\n# hook: events=tool-call-start can=observe timeout=60s\ntrap '' TERM INT HUP\nwhile :; do sleep 0.1; done\n",
		"a guard that stays":         "#!/bin/sh\n# hook: events=tool-call-start can=block timeout=60s\ntrap '' TERM INT HUP\nwhile :; do sleep 0.1; done\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStation(t, binary)
			s.script(t, "other.sh", hook)
			for door, c := range s.doors("claude", "PreToolUse", "--limit=5s") {
				if a := s.refuses(c, toolCall("rm"), limit); a.took > limit*95/100 {
					t.Errorf("%s: %v", door, a.took)
				}
				if left := hooksAlive(s.box, time.Second); len(left) > 0 {
					t.Errorf("%s: still alive: %v", door, left)
				}
			}
		})
	}
}
