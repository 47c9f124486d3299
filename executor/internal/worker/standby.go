package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/executor/internal/inflight"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol/readreply"
)

// unfitAfter is how many useless processes in a row are no accident.
const unfitAfter = 3

// TakeIdle takes the process of a standby hook that has waited longest, nil if none
// waits. It passes over processes whose files have changed and those that wrote
// something before their event. unfit says why the hook does not fit standby mode, ""
// if it does.
// The caller must call Refill when it has asked its event.
func (h *Hook) TakeIdle() (w *Worker, unfit string) {
	p := h.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.active[h.id]
	if of == nil {
		return nil, ""
	}
	of.used = time.Now()
	if of.backOff.failed >= unfitAfter {
		unfit = fmt.Sprintf("%d processes in a row ended, or wrote something, before their event", of.backOff.failed)
	}
	for len(of.idle) > 0 {
		w := of.idle[0]
		of.idle = slices.Delete(of.idle, 0, 1)
		if !w.files.current(h.spec.Files) {
			p.end(w)
			continue
		}
		var early [256]byte
		if text := w.child.ReadBuffered(early[:]); len(text) > 0 {
			p.end(w)
			of.fail()
			unfit = fmt.Sprintf("a process wrote %q before its event", strings.ToValidUTF8(string(text), "\uFFFD"))
			continue
		}
		w.ending = true
		of.stats.Used++
		return w, ""
	}
	return nil, unfit
}

// Refill has the next process of a standby hook started.
func (h *Hook) Refill() {
	p := h.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if of := p.active[h.id]; of != nil {
		of.used = time.Now()
		p.maintain(of)
	}
}

// Ending is how a process ended after its reply.
type Ending struct {
	Result   process.Result // Stderr is what it wrote after its reply
	Warnings []string
}

// AskOnce gives a standby process its event and reads its reply. After the reply the
// process has patience to exit by itself; it is still being ended when AskOnce has
// returned.
// onTreeGone is called before AskOnce returns where processes may still be alive: gone
// is closed when the last of them is gone, and ending, if it is not nil, then tells
// how the program ended.
func (w *Worker) AskOnce(ctx context.Context, e *Event, patience time.Duration, onTreeGone func(gone <-chan struct{}, ending func() *Ending)) (reply Reply) {
	w.talk.Lock()
	talking := true
	defer func() {
		if talking {
			w.talk.Unlock()
		}
	}()
	w.child.DrainAfterExit()
	w.child.Send(e.Payload, true)
	out := readDocument(ctx, w.child, e.Limit, e.ID)
	reply.Output, reply.End = out.text, out.end
	switch out.end {
	case EndReply:
		reply.Answered = true
		reply.Result = process.Result{ExitCode: -1, Stdout: out.text}
		reply.Result.Stderr, reply.Result.StderrCut = w.child.Stderr()
		if ctx.Err() != nil { // an abort leaves no time after a reply
			patience = 0
		}
		talking = false
		w.finishInBackground(patience, out.text[len(out.text):len(out.text)+out.after], onTreeGone)
		return reply
	case EndLimit:
		w.child.Cancel(context.Cause(ctx))
	case EndFlood:
		w.child.Cancel(&process.OutputError{Limit: e.Limit})
	}
	w.child.OutputDone()
	select {
	case <-w.child.Done():
	case <-ctx.Done():
		w.child.Cancel(context.Cause(ctx))
	}
	reply.Result = w.child.Result()
	if reply.Result.Err == nil && w.child.InputUnread() {
		reply.Unread = true
		return reply
	}
	reply.Result.Stdout = out.text
	if reply.Result.Err != nil || reply.Result.OutputHeldOpen {
		onTreeGone(reply.Result.Gone, nil)
	}
	reply.Answered = readreply.Answers(out.text, e.ID)
	return reply
}

// readDocument reads until the text ends with a reply that repeats the event's id.
func readDocument(ctx context.Context, child stdout, limit int64, id string) output {
	// The text is searched from its beginning for each line that may end a reply, so
	// the search is bounded: the output of a program that writes very many lines is
	// searched when the program has ended.
	scan := 64 * limit
	return readReply(ctx, child, limit, func(text []byte, line int) verdict {
		if scan -= int64(len(text)); scan < 0 || !slices.Contains(text[line:], '}') || !readreply.Answers(text, id) {
			return readOn
		}
		return isReply
	})
}

// finishInBackground ends a process that has replied while its event goes on. It
// takes over w.talk. first is the output that came with the reply, after it.
func (w *Worker) finishInBackground(patience time.Duration, first []byte, onTreeGone func(gone <-chan struct{}, ending func() *Ending)) {
	end, gone := new(Ending), make(chan struct{})
	// Executor.Close waits for what is told here.
	onTreeGone(gone, func() *Ending { return end })
	w.hook.pool.running.Go(func() {
		defer w.talk.Unlock()
		defer close(gone)
		later := laterOutput{bytes: int64(len(first))}
		copy(later.begin[:], first)
		w.child.OutputDone()
		var reading inflight.Group
		reading.Go(func() { later.read(w.child) })
		w.stopGracefully(patience)
		end.Result = w.child.Result()
		<-end.Result.Gone
		<-reading.Idle()
		end.Result.Stderr, end.Result.StderrCut = w.child.Stderr()
		if warning := later.warning(); warning != "" {
			end.Warnings = append(end.Warnings, warning)
		}
	})
}

// laterOutput is what came after a reply: how much, and how it begins.
type laterOutput struct {
	begin [200]byte
	bytes int64
}

func (l *laterOutput) read(child stdout) {
	buffer := make([]byte, 4096)
	for {
		n, err := child.Read(buffer)
		if err != nil {
			n = len(child.ReadBuffered(buffer))
		}
		if l.bytes < int64(len(l.begin)) {
			copy(l.begin[l.bytes:], buffer[:n])
		}
		if l.bytes += int64(n); n == 0 {
			return
		}
	}
}

func (l *laterOutput) warning() string {
	if l.bytes == 0 {
		return ""
	}
	text := strings.ToValidUTF8(string(l.begin[:min(l.bytes, int64(len(l.begin)))]), "\uFFFD")
	return fmt.Sprintf("%d bytes of later output on stdout, which begin %q", l.bytes, text)
}

// maintainIdle starts the processes that a standby hook lacks and ends those that
// were not used for long. It returns when to look again. p.mu is held.
func (p *Pool) maintainIdle(of *hookWorkers, now time.Time) (next time.Duration) {
	unused := now.Sub(of.used)
	if unused >= of.spec.Idle {
		for len(of.idle) > 0 {
			p.drop(of.idle[0])
		}
		return 0
	}
	next = of.spec.Idle - unused
	for len(of.idle)+of.starting < of.spec.Size {
		if pause := of.backOff.until.Sub(now); pause > 0 {
			return min(next, pause)
		}
		if !p.makeRoom(of.spec.Origin) {
			break
		}
		of.starting++
		p.running.Go(func() { p.startIdle(of) })
	}
	return next
}

func (p *Pool) startIdle(of *hookWorkers) {
	w, err := p.start(of.Hook, of, nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	of.starting--
	switch {
	case err != nil:
		of.fail()
		p.maintain(of)
	case p.closed || p.active[of.id] != of:
		p.end(w)
	case !w.ending: // or it has ended already
		of.idle = append(of.idle, w)
	}
}
