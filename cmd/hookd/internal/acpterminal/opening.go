package acpterminal

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/peer"
)

// openLimit is how long it may take from the request until the screen has connected.
var openLimit = 5 * time.Second

const (
	leaveLimit = 2 * time.Second // from the command's end until the screen has left
	keptOutput = 1 << 20         // bytes that the editor keeps of a command's output

	releaseLimit = time.Minute // for the answer that a terminal is released, which says nothing
)

var (
	errLate = errors.New("none has connected to hookd in time; an editor on another machine, or in a container, cannot")
	errLeft = errors.New("the terminal has ended before it was connected to hookd")
)

// terminal is one of the editor's that shows a command.
type terminal struct {
	id     string
	screen *screen
	exited chan struct{} // closed when the editor says that the screen has left, or does not tell
	failed error         // the editor does not tell
	forget func()        // ends the wait for that
}

// open has the editor open a terminal with a screen in it. A terminal that is not used is released,
// also one that comes later.
func (r *Runner) open(ctx context.Context, dir string) (*terminal, error) {
	waiting, cancel := context.WithTimeoutCause(ctx, openLimit, errLate)
	defer cancel()
	o, err := newOffer()
	if err != nil {
		return nil, err
	}
	accepted := make(chan error, 1)
	t := &terminal{exited: make(chan struct{})}
	go func() {
		var err error
		t.screen, err = o.accept(waiting)
		accepted <- err
	}()
	giveUp := func(err error) (*terminal, error) {
		cancel()
		if <-accepted == nil {
			t.screen.close()
		}
		return nil, err
	}
	if t.id, err = r.create(waiting, o, dir); err != nil {
		return giveUp(err)
	}
	life, forget := context.WithCancel(r.options.Life)
	t.forget = forget
	r.options.Go(func() {
		defer close(t.exited)
		_, t.failed = r.options.Peer.Call(life, acp.TerminalWaitForExit, r.named(t.id))
	})
	exited := t.exited
	for {
		select {
		case err := <-accepted:
			if err == nil {
				return t, nil
			}
			r.options.Go(func() { r.giveBack(t) })
			return nil, err
		case <-exited:
			if exited = nil; t.failed == nil {
				r.options.Go(func() { r.giveBack(t) })
				return giveUp(errLeft)
			}
		}
	}
}

// create asks for a terminal. If the answer comes when nobody waits any more, it is released.
func (r *Runner) create(waiting context.Context, o *offer, dir string) (id string, err error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	params := &acp.CreateTerminalParams{
		SessionID: r.options.Session(), Command: program, Args: []string{Role, o.path}, Cwd: dir,
		Env: []acp.NamedVariable{{Name: wordName, Value: o.word}}, OutputByteLimit: keptOutput,
	}
	type answer struct {
		id  string
		err error
	}
	answers := make(chan answer)
	r.options.Go(func() {
		id, err := r.ask(params)
		select {
		case answers <- answer{id, err}:
		case <-waiting.Done():
			if err == nil {
				r.release(id)
			}
		}
	})
	select {
	case a := <-answers:
		return a.id, a.err
	case <-waiting.Done():
		return "", context.Cause(waiting)
	}
}

// ask asks for a terminal, and waits as long as the connection lives.
func (r *Runner) ask(params *acp.CreateTerminalParams) (id string, err error) {
	text, err := r.options.Peer.Call(r.options.Life, acp.TerminalCreate, params)
	if failure, is := errors.AsType[*rpc.Error](err); is {
		return "", errors.New("the editor refuses to open one: " + failure.Message)
	}
	if err != nil {
		return "", err
	}
	var result acp.CreateTerminalResult
	if failure := peer.Decode(text, &result); failure != nil {
		return "", failure
	}
	if result.TerminalID == "" {
		return "", errors.New("the editor's answer names no terminal")
	}
	return result.TerminalID, nil
}

func (r *Runner) named(id string) *acp.TerminalParams {
	return &acp.TerminalParams{SessionID: r.options.Session(), TerminalID: id}
}

// release gives a terminal back. What runs in it is ended; what it has shown stays.
func (r *Runner) release(id string) {
	if call, err := r.beginRelease(id); err == nil { // else the editor has gone, and released all
		r.endRelease(call)
	}
}

func (r *Runner) beginRelease(id string) (*peer.Pending, error) {
	return r.options.Peer.Begin(r.options.Life, acp.TerminalRelease, r.named(id))
}

func (r *Runner) endRelease(call *peer.Pending) {
	patience, cancel := context.WithTimeout(r.options.Life, releaseLimit)
	defer cancel()
	_, _ = call.Wait(patience)
}

// giveBack releases a terminal that shows nothing. Nobody waits any more for the end of what ran in it.
func (r *Runner) giveBack(t *terminal) {
	defer t.forget()
	r.release(t.id)
}

// end gives a terminal back when its screen has printed all and left, so that the editor knows the
// exit code. It waits for that no longer than ctx lives.
func (r *Runner) end(ctx context.Context, t *terminal) {
	left := make(chan struct{})
	r.options.Go(func() {
		defer t.forget()
		r.awaitExit(t)
		t.screen.close()
		call, err := r.beginRelease(t.id)
		close(left)
		if err == nil {
			r.endRelease(call)
		}
	})
	select {
	case <-left:
	case <-ctx.Done():
	}
}

// awaitExit waits until the editor knows that the screen has left. An editor that once did not say so
// is not waited for again: each command would take that long.
func (r *Runner) awaitExit(t *terminal) {
	patience, cancel := context.WithTimeout(r.options.Life, leaveLimit)
	defer cancel()
	select {
	case <-t.screen.closed:
	case <-patience.Done():
		return
	}
	if r.untold.Load() {
		return
	}
	select {
	case <-t.exited:
	case <-patience.Done():
		r.untold.Store(true)
	}
}
