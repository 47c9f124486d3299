//go:build unix

package acpterminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/peer"
)

// bound is how soon a command is over whose context has ended. The loop promises 250 ms; the rest is
// for a loaded machine.
const bound = 3 * time.Second

// A command comes to the same end with a terminal as without, byte for byte, and the terminal shows
// it, leaves with its exit code, and is given back.
func TestATerminalShowsACommand(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		exit   int
		shows  string
	}{
		"both streams, any bytes": {`printf 'a\303'; printf '\251\000\033[1mb\n' >&2; echo $OWN`, 0, "a\303\251\x00\x1b[1mb\nours\n"},
		"no output":               {"true", 0, ""},
		"an exit code":            {"echo x; exit 3", 3, "x\n"},
		"a signal":                {"echo x; kill -9 $$", 1, "x\n\n[hookd: ended by SIGKILL]\n"},
		"20 MB":                   {"yes abcdefghijklmnopqrstuvwxyz0123456789 | head -c 20000000", 0, strings.Repeat("abcdefghijklmnopqrstuvwxyz0123456789\n", 540541)[:20_000_000]},
	} {
		t.Run(name, func(t *testing.T) {
			e, r := connect(t)
			command := shell(t, test.script)
			var shown, local bytes.Buffer
			ended, err := r.Run(shownContext(t.Context(), "c1"), command, &shown)
			want, wantErr := tool.Sessions{}.Run(t.Context(), command, &local)
			if !cmp.Equal(ended, want) || err != nil || wantErr != nil || !bytes.Equal(shown.Bytes(), local.Bytes()) {
				t.Errorf("%+v %v, %d bytes; without a terminal %+v %v, %d bytes", ended, err, shown.Len(), want, wantErr, local.Len())
			}
			e.await("release", func() bool { return slices.Equal(e.released, []string{"0"}) })
			p := e.terminals[0]
			<-p.exited
			if got, want := p.output.String(), "$ "+test.script+"\n"+test.shows; got != want || p.cmd.ProcessState.ExitCode() != test.exit {
				t.Errorf("the terminal shows %d bytes, wanted %d, and leaves with %d: %.200q", len(got), len(want), p.cmd.ProcessState.ExitCode(), got)
			}
			if diff := cmp.Diff([]string{"main c1 0"}, e.embedded); diff != "" || len(e.notes) > 0 {
				t.Error(diff, e.notes)
			}
			if slices.ContainsFunc(p.cmd.Args, func(arg string) bool { return strings.Contains(arg, p.params.Env[0].Value) }) {
				t.Errorf("all users can read the word in %q", p.cmd.Args)
			}
		})
	}
}

// Two commands at once have a terminal each.
func TestTwoCommandsAtOnce(t *testing.T) {
	e, r := connect(t)
	dir := t.TempDir()
	var both sync.WaitGroup
	for i := range 2 {
		both.Go(func() { // each waits for the other
			command := shell(t, fmt.Sprintf("touch %[1]s/%[2]d; until [ -e %[1]s/%[3]d ]; do sleep 0.01; done; echo I am %[2]d", dir, i, 1-i))
			var out bytes.Buffer
			if _, err := r.Run(shownContext(t.Context(), fmt.Sprint("c", i)), command, &out); err != nil || out.String() != fmt.Sprintf("I am %d\n", i) {
				t.Errorf("%q %v", out.String(), err)
			}
		})
	}
	both.Wait()
	e.await("release", func() bool { return len(e.released) == 2 })
	for _, p := range e.terminals {
		<-p.exited
		line, output, _ := strings.Cut(p.output.String(), "\n")
		if output == "" || !strings.HasSuffix(line+"\n", output) {
			t.Errorf("%q is shown for %q", output, line)
		}
	}
}

// An editor that never says that a terminal's program has ended is waited for once, and nothing of it is
// kept after the terminal was given back.
func TestAnEditorThatDoesNotTellOfEnds(t *testing.T) {
	e, r := connect(t)
	e.silent = true
	began := time.Now()
	const commands = 6
	for i := range commands {
		if _, err := r.Run(shownContext(t.Context(), fmt.Sprint("c", i)), shell(t, "true"), io.Discard); err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(began); took > (commands-1)*leaveLimit {
		t.Errorf("%d commands took %v", commands, took)
	}
	e.await("the end of the waits", func() bool { return len(e.released) == commands && len(e.forgotten) == commands })
}

// What hooks may still change is not shown, so that no terminal is opened.
func TestAResultThatHooksMayChangeHasNoTerminal(t *testing.T) {
	e, r := connect(t)
	var out bytes.Buffer
	if _, err := r.Run(tool.WithCallID(t.Context(), "c1"), shell(t, "echo secret"), &out); err != nil || out.String() != "secret\n" || len(e.terminals) > 0 {
		t.Errorf("%q %v, %d terminals", out.String(), err, len(e.terminals))
	}
}

// A command runs once, whatever becomes of its terminal. After one that did not come no other is
// waited for, and the person is told once.
func TestACommandRunsOnceWithoutATerminal(t *testing.T) {
	openLimit = 500 * time.Millisecond
	defer func() { openLimit = 5 * time.Second }()
	for name, test := range map[string]struct {
		create   func(e *editor, r *peer.Request) bool
		note     string
		released int
		after    func(e *editor)
	}{
		"the editor refuses": {
			func(_ *editor, r *peer.Request) bool {
				r.Fail(rpc.Errorf(rpc.InternalError, "no terminals today"))
				return false
			}, "no terminals today", 0, nil,
		},
		"the editor has no such method": {
			func(_ *editor, r *peer.Request) bool {
				r.Fail(rpc.Errorf(rpc.MethodNotFound, "what is a terminal"))
				return false
			}, "what is a terminal", 0, nil,
		},
		"the answer is none": {
			func(_ *editor, r *peer.Request) bool {
				r.Answer(map[string]any{"terminal": 7})
				return false
			}, "names no terminal", 0, nil,
		},
		"no answer comes": {func(*editor, *peer.Request) bool { return false }, "in time", 0, nil},
		"the answer comes too late": {
			func(e *editor, r *peer.Request) bool {
				e.work.Go(func() {
					e.await("a note", func() bool { return len(e.notes) > 0 })
					close(e.terminals[0].exited)
					r.Answer(map[string]any{"terminalId": "0"})
				})
				return false
			}, "in time", 1, nil,
		},
		"it never starts": {
			func(e *editor, r *peer.Request) bool {
				r.Answer(map[string]any{"terminalId": "0"})
				return false
			}, "in time", 1, nil,
		},
		"it starts too late": {
			func(e *editor, r *peer.Request) bool {
				r.Answer(map[string]any{"terminalId": "0"})
				return false
			}, "in time", 1, func(e *editor) {
				p := e.terminals[0]
				p.start(e)
				<-p.exited
				if said := p.output.String(); p.cmd.ProcessState.ExitCode() != 1 || !strings.Contains(said, "shows nothing") {
					e.t.Errorf("%q", said)
				}
			},
		},
		"another program is there": {
			func(e *editor, r *peer.Request) bool {
				p := e.terminals0()
				p.params.Command, p.params.Args = "true", nil
				p.start(e)
				r.Answer(map[string]any{"terminalId": "0"})
				return false
			}, "has ended before", 1, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, r := connect(t)
			e.create = func(r *peer.Request) bool { return test.create(e, r) }
			ran := filepath.Join(t.TempDir(), "ran")
			for i := range 2 {
				var out bytes.Buffer
				ended, err := r.Run(shownContext(t.Context(), "c1"), shell(t, "echo once | tee -a "+ran+"; exit 4"), &out)
				if err != nil || ended.Exit != 4 || out.String() != "once\n" {
					t.Errorf("command %d: %+v %v %q", i+1, ended, err, out.String())
				}
			}
			e.await("release", func() bool { return len(e.released) == test.released })
			if test.after != nil {
				test.after(e)
			}
			if text, err := os.ReadFile(ran); err != nil || string(text) != "once\nonce\n" {
				t.Errorf("%q %v", text, err)
			}
			if len(e.notes) != 1 || !strings.Contains(e.notes[0], test.note) || len(e.terminals) != 1 || len(e.embedded) > 0 {
				t.Errorf("%q, %d terminals, embedded %q", e.notes, len(e.terminals), e.embedded)
			}
		})
	}
}

// Whatever ends the program in the terminal ends the command, with what it has started, and the
// result says so.
func TestTheEndOfATerminalEndsItsCommand(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			e, r := connect(t)
			bash := tool.Bash(tool.BashOptions{Project: t.TempDir(), Runner: r})
			e.work.Go(func() {
				e.await("output", func() bool {
					return len(e.terminals) > 0 && strings.Contains(e.terminals[0].output.String(), "\nhere\n")
				})
				_ = e.terminals[0].cmd.Process.Signal(signal)
			})
			_, err := bash.Run(shownContext(t.Context(), "c1"), []byte(`{"command":"echo here; sleep 600 & sleep 601"}`))
			failure, is := errors.AsType[*tool.Error](err)
			if !is || failure.Kind != errClosed.Kind || failure.Text != errClosed.Text+"; output so far:\nhere\n" {
				t.Errorf("%v", err)
			}
			e.await("release", func() bool { return len(e.released) == 1 })
			if len(e.notes) > 0 {
				t.Error(e.notes)
			}
		})
	}
}

// A cancel ends a command in time, however far its terminal is, and every terminal is given back.
func TestCancelWithATerminal(t *testing.T) {
	cause := errors.New("cancelled")
	for name, test := range map[string]struct {
		script  string
		create  func(e *editor, r *peer.Request) bool
		reached func(e *editor) bool
		after   func(e *editor)
		left    int // terminals that are given back
	}{
		"no answer yet": {
			"echo never", func(*editor, *peer.Request) bool { return false },
			func(e *editor) bool { return len(e.terminals) > 0 }, nil, 0,
		},
		"no screen yet": {
			"echo never", func(e *editor, r *peer.Request) bool {
				r.Answer(map[string]any{"terminalId": "0"})
				return false
			}, func(e *editor) bool { return len(e.terminals) > 0 }, nil, 1,
		},
		"it runs": {
			"echo here; sleep 600", nil,
			func(e *editor) bool {
				return len(e.terminals) > 0 && strings.Contains(e.terminals[0].output.String(), "\nhere\n")
			},
			func(e *editor) {
				<-e.terminals[0].exited
				if shown := e.terminals[0].output.String(); !strings.HasSuffix(shown, "\n[hookd: ended: cancelled]\n") {
					e.t.Errorf("%q", shown)
				}
			}, 1,
		},
		"the terminal takes nothing": {
			"yes", func(e *editor, r *peer.Request) bool {
				p := e.terminals0()
				p.start(e)
				r.Answer(map[string]any{"terminalId": "0"})
				return false
			}, func(e *editor) bool {
				if len(e.embedded) == 0 {
					return false
				}
				p := e.terminals[0]
				return p.cmd.Process.Signal(syscall.SIGSTOP) == nil
			}, nil, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, r := connect(t)
			if test.create != nil {
				e.create = func(r *peer.Request) bool { return test.create(e, r) }
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var began time.Time
			e.work.Go(func() {
				e.await(name, func() bool { return test.reached(e) })
				began = time.Now()
				cancel(cause)
			})
			_, err := r.Run(shownContext(ctx, "c1"), shell(t, test.script), new(bytes.Buffer))
			if took := time.Since(began); !errors.Is(err, cause) || took > bound {
				t.Errorf("%v after %v", err, took)
			}
			e.await("release", func() bool { return len(e.released) == test.left })
			if test.after != nil {
				test.after(e)
			}
			if len(e.notes) > 0 {
				t.Error(e.notes)
			}
		})
	}
}

// A command waits a while for a terminal that takes nothing, and goes on without it to the same end.
func TestATerminalThatIsStuck(t *testing.T) {
	stuckLimit = 300 * time.Millisecond
	defer func() { stuckLimit = 10 * time.Second }()
	e, r := connect(t)
	stopped := filepath.Join(t.TempDir(), "go")
	e.work.Go(func() {
		e.await("a terminal in the call", func() bool { return len(e.embedded) > 0 })
		_ = e.terminals[0].cmd.Process.Signal(syscall.SIGSTOP)
		if err := os.WriteFile(stopped, nil, 0o600); err != nil {
			t.Error(err)
		}
	})
	var out bytes.Buffer
	script := "until [ -e " + stopped + " ]; do sleep 0.01; done; head -c 3000000 /dev/zero; exit 5"
	ended, err := r.Run(shownContext(t.Context(), "c1"), shell(t, script), &out)
	if err != nil || ended.Exit != 5 || out.Len() != 3_000_000 {
		t.Errorf("%+v %v, %d bytes", ended, err, out.Len())
	}
	e.await("release", func() bool { return len(e.released) == 1 })
}

// A time limit counts as without a terminal, and the terminal says so.
func TestATimeLimitWithATerminal(t *testing.T) {
	e, r := connect(t)
	bash := tool.Bash(tool.BashOptions{Project: t.TempDir(), Runner: r, Timeout: 2 * time.Second})
	_, err := bash.Run(shownContext(t.Context(), "c1"), []byte(`{"command":"echo here; sleep 600"}`))
	if err == nil || err.Error() != "timed out after 2s; output so far:\nhere\n" {
		t.Error(err)
	}
	<-e.terminals[0].exited
	if shown := e.terminals[0].output.String(); !strings.HasSuffix(shown, "\nhere\n\n[hookd: ended: it took too long]\n") {
		t.Errorf("%q", shown)
	}
}

// Who does not know the word is sent away, and keeps the screen from nothing. After the screen
// nobody can connect.
func TestOnlyTheScreenIsLetIn(t *testing.T) {
	e, r := connect(t)
	e.create = func(request *peer.Request) bool {
		p := e.terminals0()
		for _, word := range []string{"", "\n", "wrong\n", p.params.Env[0].Value[1:] + "\n", strings.Repeat("x", 1000)} {
			c, err := net.Dial("unix", p.params.Args[1])
			if err != nil {
				t.Error(err)
				continue
			}
			_, _ = c.Write([]byte(word))
			_ = c.(*net.UnixConn).CloseWrite()
			if n, err := c.Read(make([]byte, 10)); n > 0 || err == nil {
				t.Errorf("%q is told %d bytes", word, n)
			}
			c.Close()
		}
		if info, err := os.Stat(filepath.Dir(p.params.Args[1])); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v %v", info, err)
		}
		p.start(e)
		request.Answer(map[string]any{"terminalId": "0"})
		return false
	}
	var out bytes.Buffer
	if _, err := r.Run(shownContext(t.Context(), "c1"), shell(t, "echo out"), &out); err != nil || out.String() != "out\n" || len(e.notes) > 0 {
		t.Errorf("%q %v %q", out.String(), err, e.notes)
	}
	<-e.terminals[0].exited
	if shown := e.terminals[0].output.String(); !strings.HasSuffix(shown, "\nout\n") {
		t.Errorf("%q", shown)
	}
	if c, err := net.Dial("unix", e.terminals[0].params.Args[1]); err == nil {
		c.Close()
		t.Error("the socket is still there")
	}
}

// hookd acp-terminal says what it is to a person who types it.
func TestTypedByAPerson(t *testing.T) {
	for _, args := range [][]string{{}, {"x", "y"}, {"/no/socket"}} {
		var said bytes.Buffer
		if code := run(args, "", &said, &said); code != 2 || !strings.Contains(said.String(), "hookd acp has the editor start it") {
			t.Errorf("%q: %d %s", args, code, said.String())
		}
	}
	if _, is := Run([]string{"acp"}); is {
		t.Error("hookd acp is no screen")
	}
}
