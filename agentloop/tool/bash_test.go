//go:build linux

package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/hooktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// mark is a variable that finds a test's own processes again in /proc.
func mark(t *testing.T) string { return fmt.Sprintf("TOOL_TEST=%s-%d", t.Name(), os.Getpid()) }

// bash runs a command line and asserts that it is over in time and left no
// process of its session behind.
func bash(t *testing.T, ctx context.Context, o BashOptions, args map[string]any, within time.Duration) (protocol.Result, error) {
	t.Helper()
	if o.Project == "" {
		o.Project = t.TempDir()
	}
	o.Env = append(Env(os.Environ(), o.Project), mark(t))
	encoded, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	result, err := Bash(o).Run(ctx, encoded)
	if took := time.Since(began); took > within {
		t.Errorf("took %s, more than %s", took, within)
	}
	time.Sleep(20 * time.Millisecond) // what was killed needs a moment to be gone
	if left := hooktest.Survivors(mark(t)); len(left) > 0 {
		t.Errorf("processes %v are still alive", left)
	}
	return result, err
}

func TestBash(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		text    string
		exit    int
		error   bool
	}{
		"output":          {"echo out; echo err >&2", "out\nerr\n", 0, false},
		"exit code":       {"echo no; exit 3", "no\n", 3, true},
		"silence":         {"true", "no output, exit code 0", 0, false},
		"silent failure":  {"false", "no output, exit code 1", 1, true},
		"signal":          {"echo a; kill -SEGV $$", "ended by SIGSEGV; output so far:\na\n", -1, true},
		"no input":        {"cat; echo end", "end\n", 0, false},
		"not found":       {"no-such-program 2>/dev/null", "no output, exit code 127", 127, true},
		"bytes":           {`printf 'a\xffb'`, "a\uFFFDb", 0, false},
		"background":      {"sleep 60 & echo on", "on\n", 0, false},
		"background pipe": {"(sleep 60 | cat) & echo on", "on\n", 0, false},
		"ignores TERM":    {"(trap '' TERM INT HUP; sleep 60) & echo on", "on\n", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := bash(t, t.Context(), BashOptions{}, map[string]any{"command": c.command}, 5*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			want := protocol.Result{Content: protocol.TextContent(c.text), IsError: c.error, ExitCode: &c.exit}
			if diff := cmp.Diff(want, result); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBashTimesOut(t *testing.T) {
	for name, command := range map[string]string{
		"sleeps":       "sleep 60",
		"tree":         "sleep 61 | cat & sleep 62; true",
		"ignores TERM": "trap '' TERM INT HUP; while :; do sleep 0.2; done",
		"floods":       "yes",
	} {
		t.Run(name, func(t *testing.T) {
			o := BashOptions{Timeout: 300 * time.Millisecond}
			_, err := bash(t, t.Context(), o, map[string]any{"command": command}, 2*time.Second)
			var e *Error
			if !errors.As(err, &e) || e.Kind != protocol.CallTimeout || !strings.HasPrefix(e.Text, "timed out after 300ms") {
				t.Errorf("%.200v", err)
			}
		})
	}
	t.Run("own limit", func(t *testing.T) {
		_, err := bash(t, t.Context(), BashOptions{}, map[string]any{"command": "echo begun; sleep 60", "timeout": 2}, 5*time.Second)
		if err == nil || err.Error() != "timed out after 2s; output so far:\nbegun\n" {
			t.Errorf("%v", err)
		}
	})
}

func TestBashAborts(t *testing.T) {
	stop := errors.New("stop it")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(200*time.Millisecond, func() { cancel(stop) })
	if _, err := bash(t, ctx, BashOptions{}, map[string]any{"command": "sleep 60 | cat; echo late > late"}, 2*time.Second); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	if _, err := bash(t, ctx, BashOptions{}, map[string]any{"command": "echo never"}, time.Second); !errors.Is(err, stop) {
		t.Errorf("after the abort: %v", err)
	}
}

// TestBashDoesNotWaitForWhatEscaped is H03: a process in another session holds
// the pipe. The plain runner cannot end it, and does not wait for it either.
func TestBashDoesNotWaitForWhatEscaped(t *testing.T) {
	project := t.TempDir()
	o := BashOptions{Project: project, Env: append(Env(os.Environ(), project), mark(t))}
	began := time.Now()
	result, err := Bash(o).Run(t.Context(), []byte(`{"command":"setsid sleep 2 & echo on"}`))
	if took := time.Since(began); took > 1500*time.Millisecond {
		t.Errorf("took %s", took)
	}
	if err != nil || result.Content.Text() != "on\n" {
		t.Errorf("%q, %v", result.Content.Text(), err)
	}
	for deadline := time.Now().Add(10 * time.Second); len(hooktest.Survivors(mark(t))) > 0 && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond) // it ends by itself: leave nothing behind
	}
}

func TestBashOutputIsBounded(t *testing.T) {
	o := BashOptions{Output: 100}
	result, err := bash(t, t.Context(), o, map[string]any{"command": "echo head; seq 1 100000; echo tail"}, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	text := result.Content.Text()
	if !strings.HasPrefix(text, "head\n1\n2\n") || !strings.HasSuffix(text, "\ntail\n") || !strings.Contains(text, " bytes cut …") || len(text) > 150 {
		t.Errorf("%d bytes: %q", len(text), text)
	}
}

// TestBashEnvironment is H36 and H37: nothing of the host's environment passes
// that is not on the list or named.
func TestBashEnvironment(t *testing.T) {
	project := t.TempDir()
	environ := []string{
		"PATH=/usr/bin:/bin:.:relative:" + project + "/bin::" + project + "x", "HOME=/home/me", "LANG=C", "LC_ALL=C.UTF-8",
		"SSL_CERT_FILE=/certs", "FAKE_API_KEY=canary", "GIT_DIR=/elsewhere", "LD_PRELOAD=evil.so", "EXTRA=named", "BASH_ENV=/evil",
	}
	want := []string{
		"PATH=/usr/bin:/bin:" + project + "x", "HOME=/home/me", "LANG=C", "LC_ALL=C.UTF-8", "SSL_CERT_FILE=/certs", "EXTRA=named",
	}
	if diff := cmp.Diff(want, Env(environ, project, "EXTRA")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	t.Setenv("FAKE_API_KEY", "canary")
	result, err := Bash(BashOptions{Project: project}).Run(t.Context(), []byte(`{"command":"env; pwd"}`))
	if err != nil {
		t.Fatal(err)
	}
	if text := result.Content.Text(); strings.Contains(text, "canary") || !strings.Contains(text, "PATH=") || !strings.Contains(text, project) {
		t.Errorf("the command saw:\n%s", text)
	}
}

func TestBashInADeletedProject(t *testing.T) {
	if _, err := bash(t, t.Context(), BashOptions{Project: filepath.Join(t.TempDir(), "gone")}, map[string]any{"command": "true"}, time.Second); err == nil {
		t.Error("it ran")
	}
}

func TestClip(t *testing.T) {
	for _, limit := range []int64{2, 7, 10} {
		for total := range 40 {
			for size := 1; size <= 13; size++ {
				whole := strings.Repeat("0123456789", 4)[:total]
				c := newClip(limit)
				for i := 0; i < total; i += size {
					if n, err := c.Write([]byte(whole[i:min(i+size, total)])); err != nil || n == 0 {
						t.Fatal(n, err)
					}
				}
				want := whole
				if cut := total - int(limit); cut > 0 {
					head := int(limit / 2)
					want = whole[:head] + fmt.Sprintf("\n… %d bytes cut …\n", cut) + whole[head+cut:]
				}
				if got := c.String(); got != want {
					t.Fatalf("limit %d, %d bytes by %d: %q, want %q", limit, total, size, got, want)
				}
			}
		}
	}
}
