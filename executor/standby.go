package executor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol"
)

// standby asks a hook whose next process is already started and blocks on
// reading stdin. Where none is ready, or the one that was had not begun to read,
// the program is started as if it ran once.
type standby struct{ standing }

// NotFit begins the warning about a hook that does something before it has read
// its event, and so cannot run in standby.
const NotFit = "not fit for run: standby: "

func (s *standby) Ask(ctx context.Context, q *Question) protocol.Answer {
	s.plain.lookNearby()
	defer s.pool.refill(&s.standing)
	began := time.Now()
	var warning string
	if s.pool.runtime.AwaitEnding(ctx, s.command.Key) == nil { // else plain says so
		k, unfit := s.pool.take(&s.standing)
		if k != nil {
			answer, given := s.askKept(ctx, k, q)
			if given {
				answer.Took = time.Since(began)
				return answer
			}
			unfit = "the waiting process ended before it had read anything of the event"
		}
		if unfit != "" {
			warning = NotFit + unfit + "; another one was started"
		}
	}
	answer := s.plain.Ask(ctx, q)
	answer.Took = time.Since(began)
	if warning != "" {
		answer.Warnings = append(answer.Warnings, warning)
	}
	return answer
}

// take takes the process that has waited for longest out of the pool. One that
// has written something did not wait for its event: what it says is no answer to
// any. unfit says so.
func (p *Pool) take(s *standing) (k *kept, unfit string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lines[s.id]
	if l == nil {
		return nil, ""
	}
	l.used = time.Now()
	if l.failed >= unfitAfter {
		unfit = fmt.Sprintf("%d processes in a row ended, or wrote something, before their event", l.failed)
	}
	for len(l.spares) > 0 {
		k := l.spares[0]
		l.spares = slices.Delete(l.spares, 0, 1)
		if !k.files.current(s.files) {
			p.end(k)
			continue
		}
		var early [256]byte
		if text := k.child.ReadBuffered(early[:]); len(text) > 0 {
			p.end(k)
			l.setBack()
			unfit = fmt.Sprintf("a process wrote %q before its event", strings.ToValidUTF8(string(text), "\uFFFD"))
			continue
		}
		k.ending = true
		l.uses++
		return k, ""
	}
	return nil, unfit
}

// unfitAfter is how many processes that were no use in a row are no accident.
const unfitAfter = 3

// refill has the next process started behind an answer.
func (p *Pool) refill(s *standing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.lines[s.id]; l != nil {
		l.used = time.Now()
		p.tend(l)
	}
}

// askKept gives the event to a waiting process. given is false if it certainly
// read nothing of it: all of it still lay in the pipe when the process had ended.
// Then, and only then, another process may get it.
func (s *standby) askKept(ctx context.Context, k *kept, q *Question) (answer protocol.Answer, given bool) {
	k.talk.Lock()
	talking := true
	defer func() {
		if talking {
			k.talk.Unlock()
		}
	}()
	child := k.child
	child.DrainAfterExit()
	child.Send(q.Payload, true)
	// Text that ends in an answer is searched from its beginning, so the search is
	// bounded: who writes very many lines is read when it has ended.
	scan := 64 * replyLimit(q)
	h := listen(ctx, child, replyLimit(q), func(out []byte, line int) (bool, error) {
		if scan -= int64(len(out)); scan < 0 || !slices.Contains(out[line:], '}') {
			return false, nil
		}
		return protocol.Answers(out, q.Event.ID), nil
	})
	result := process.Result{ExitCode: -1}
	switch h.end {
	case heardAnswer:
		result.Stderr, result.StderrCut = child.Stderr()
		result.Stdout = h.out
		talking = false
		behind := h.out[len(h.out) : len(h.out)+h.behind]
		end, gone := new(protocol.Answer), make(chan struct{})
		patience := q.Grace
		if ctx.Err() != nil { // an abort leaves no time behind an answer
			patience = 0
		}
		// Before the answer is out: whoever closes the executor behind it waits for this.
		leavesBehind(ctx, gone, func() protocol.Answer { return *end })
		s.pool.work.Go(func() {
			defer k.talk.Unlock()
			defer close(gone)
			*end = s.endBehind(k, patience, behind)
		})
		transcribe(ctx, q.Payload, h.out)
		return s.plain.read(q, &result, true), true
	case heardLimit:
		child.Cancel(context.Cause(ctx))
	case heardFlood:
		child.Cancel(&process.OutputError{Limit: replyLimit(q)})
	}
	child.OutputDone()
	select {
	case <-child.Done():
	case <-ctx.Done():
		child.Cancel(context.Cause(ctx))
	}
	result = child.Result()
	if result.Err == nil && child.InputUnread() {
		return protocol.Answer{}, false
	}
	result.Stdout = h.out
	if result.Err != nil || result.Held {
		leavesBehind(ctx, result.Gone, nil)
	}
	transcribe(ctx, q.Payload, h.out)
	return s.plain.read(q, &result, protocol.Answers(h.out, q.Event.ID)), true
}

// endBehind waits until a process that has answered has ended, and returns what
// came behind the answer; the first of that was read with it.
func (s *standby) endBehind(k *kept, patience time.Duration, first []byte) (end protocol.Answer) {
	rest := laterOutput{bytes: int64(len(first))}
	copy(rest.begin[:], first)
	k.child.OutputDone()
	var reading work
	reading.Go(func() { rest.read(k.child) })
	s.pool.letGo(k, patience)
	result := k.child.Result()
	<-result.Gone
	<-reading.Idle()
	end.Signal = result.Signal
	if result.ExitCode >= 0 {
		end.Exit = &result.ExitCode
	}
	text, cut := k.child.Stderr()
	end.Stderr = stderrText(&process.Result{Stderr: text, StderrCut: cut})
	if warning := rest.warning(); warning != "" {
		end.Warnings = append(end.Warnings, warning)
	}
	return end
}

// laterOutput is what came behind an answer: how much, and how it begins.
type laterOutput struct {
	begin [200]byte
	bytes int64
}

func (l *laterOutput) read(child *process.Child) {
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

func (p *Pool) tendSpares(l *line, now time.Time) (next time.Duration) {
	idle := now.Sub(l.used)
	if idle >= l.config.Idle {
		for len(l.spares) > 0 {
			p.drop(l.spares[0])
		}
		return 0
	}
	next = l.config.Idle - idle
	for len(l.spares)+l.starting < l.config.Pool {
		if pause := l.rest.Sub(now); pause > 0 {
			return min(next, pause)
		}
		if !p.makeRoom(l.config.origin()) {
			break
		}
		l.starting++
		p.work.Go(func() { p.startSpare(l) })
	}
	return next
}

func (p *Pool) startSpare(l *line) {
	k, err := p.start(l.standing, l, nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	l.starting--
	switch {
	case err != nil:
		l.setBack()
		p.tend(l)
	case p.closed || p.lines[l.id] != l:
		p.end(k)
	case !k.ending: // or it has ended already
		l.spares = append(l.spares, k)
	}
}
