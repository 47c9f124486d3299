//go:build unix

package acpterminal

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/peer"
)

// TestMain makes the test's program the screen of commands, as hookd is.
func TestMain(m *testing.M) {
	if code, is := Run(os.Args[1:]); is {
		os.Exit(code)
	}
	goleak.VerifyTestMain(m)
}

// editor is a client whose terminals are processes.
type editor struct {
	t    *testing.T
	peer *peer.Peer // the editor's end

	// create, if set, answers terminal/create in the editor's place, unless it returns true.
	create func(r *peer.Request) bool
	silent bool // it does not say when a terminal's program has ended

	mu        sync.Mutex
	terminals []*process
	released  []string
	notes     []string
	embedded  []string
	forgotten []string      // methods of requests that the agent waits for no more
	changed   chan struct{} // holds one when one of these has changed
	work      sync.WaitGroup
}

// process is a program in a terminal.
type process struct {
	params acp.CreateTerminalParams
	cmd    *exec.Cmd // nil: it was not started
	output buffer
	exited chan struct{}
}

type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// connect returns an editor, and a runner that is connected to it. Commands run in sessions of
// their own.
func connect(t *testing.T) (*editor, *Runner) {
	t.Helper()
	t.Setenv("TMPDIR", shortFolder(t))
	toEditor, fromAgent := io.Pipe()
	toAgent, fromEditor := io.Pipe()
	e := &editor{t: t, changed: make(chan struct{}, 1)}
	e.peer = peer.New(toEditor, fromEditor, peer.Options{Cancel: acp.CancelRequest, Receive: e.receive})
	agent := peer.New(toAgent, fromAgent, peer.Options{Cancel: acp.CancelRequest, Receive: func(*peer.Request) {}})
	life, end := context.WithCancel(context.Background())
	var running, work sync.WaitGroup
	for _, p := range []*peer.Peer{e.peer, agent} {
		running.Go(func() { _ = p.Run(life) })
	}
	t.Cleanup(func() {
		end()
		work.Wait()
		for _, p := range e.terminals {
			p.end()
		}
		e.work.Wait()
		for _, c := range []io.Closer{toEditor, fromAgent, toAgent, fromEditor} {
			c.Close()
		}
		running.Wait()
		_ = e.peer.Close(time.Second)
		_ = agent.Close(time.Second)
		if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
			t.Errorf("sockets are left: %v %v", left, err)
		}
	})
	return e, New(tool.Sessions{}, Options{
		Peer: agent, Life: life, Go: work.Go, Session: func() string { return "s1" },
		Embed: func(_ context.Context, agent, call, terminal string) { e.add(&e.embedded, agent+" "+call+" "+terminal) },
		Note:  func(text string) { e.add(&e.notes, text) },
	})
}

// shortFolder is a folder whose path leaves room for a socket's.
func shortFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "at")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

func (e *editor) add(list *[]string, text string) {
	e.mu.Lock()
	*list = append(*list, text)
	e.mu.Unlock()
	select {
	case e.changed <- struct{}{}:
	default:
	}
}

// await waits until something is so.
func (e *editor) await(what string, is func() bool) {
	e.t.Helper()
	for until := time.Now().Add(20 * time.Second); ; {
		e.mu.Lock()
		now := is()
		e.mu.Unlock()
		switch {
		case now:
			return
		case time.Now().After(until):
			e.t.Fatalf("%s: never; released %v, notes %v", what, e.released, e.notes)
		}
		select {
		case <-e.changed:
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (e *editor) receive(r *peer.Request) {
	switch r.Method {
	case acp.TerminalCreate:
		p := &process{exited: make(chan struct{})}
		if failure := peer.DecodeStrictly(r.Params, &p.params); failure != nil || p.params.SessionID != "s1" {
			e.t.Errorf("%s: %v", r.Params, failure)
		}
		id := e.keep(p)
		if e.create != nil && !e.create(r) {
			return
		}
		p.start(e)
		r.Answer(acp.CreateTerminalResult{TerminalID: id})
	case acp.TerminalWaitForExit:
		p := e.find(r)
		e.work.Go(func() {
			exited := p.exited
			if e.silent {
				exited = nil
			}
			select {
			case <-exited:
				r.Answer(map[string]any{"exitCode": 0})
			case <-r.Context().Done():
				e.add(&e.forgotten, r.Method)
			}
		})
	case acp.TerminalRelease:
		p := e.find(r)
		r.Answer(acp.Empty{})
		p.end()
		var params acp.TerminalParams
		peer.Decode(r.Params, &params)
		e.add(&e.released, params.TerminalID)
	default:
		r.Fail(rpc.Errorf(rpc.MethodNotFound, "no %s here", r.Method))
	}
}

// keep returns the id of a terminal, which is its place.
func (e *editor) keep(p *process) (id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.terminals = append(e.terminals, p)
	return strconv.Itoa(len(e.terminals) - 1)
}

// terminals0 is the first terminal.
func (e *editor) terminals0() *process {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.terminals[0]
}

func (e *editor) find(r *peer.Request) *process {
	var params acp.TerminalParams
	failure := peer.DecodeStrictly(r.Params, &params)
	e.mu.Lock()
	defer e.mu.Unlock()
	n, err := strconv.Atoi(params.TerminalID)
	if failure != nil || err != nil || slices.Contains(e.released, params.TerminalID) {
		e.t.Errorf("%s of %s: %v %v", r.Method, r.Params, failure, err)
	}
	return e.terminals[n]
}

// start starts the program of a terminal.
func (p *process) start(e *editor) {
	p.cmd = exec.Command(p.params.Command, p.params.Args...)
	p.cmd.Dir, p.cmd.Env = p.params.Cwd, os.Environ()
	for _, v := range p.params.Env {
		p.cmd.Env = append(p.cmd.Env, v.Name+"="+v.Value)
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	p.cmd.WaitDelay = time.Second
	if err := p.cmd.Start(); err != nil {
		e.t.Error(err)
	}
	e.work.Go(func() {
		defer close(p.exited)
		_ = p.cmd.Wait()
	})
}

func (p *process) end() {
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(syscall.SIGKILL) // of a process that is waited for, or nothing
	}
}

// shownContext is the context of a tool whose output is shown.
func shownContext(ctx context.Context, call string) context.Context {
	return tool.WithOutput(tool.WithAgent(tool.WithCallID(ctx, call), "main"), func(string) {})
}

func shell(t *testing.T, script string) tool.Command {
	return tool.Command{Argv: []string{"sh", "-c", script}, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"), "OWN=ours"}}
}
