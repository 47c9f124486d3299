package executor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol"
)

// resident asks a hook that has one process per session: one event per line on
// its stdin, one reply per line on its stdout. Without a pool that keeps it, the
// process gets one event and the end of its input.
type resident struct{ standing }

func (r *resident) Ask(ctx context.Context, q *Question) protocol.Answer {
	r.plain.lookNearby()
	began := time.Now()
	for again := false; ; again = true {
		k, err := r.process(q.seat)
		if err != nil {
			result := process.Result{ExitCode: -1, Err: err}
			answer := r.plain.read(q, &result, false)
			answer.Took = time.Since(began)
			return answer
		}
		answer, given := r.askKept(ctx, k, q)
		if !given && !again && ctx.Err() == nil {
			select { // no two of a session side by side
			case <-k.child.Result().Gone:
			case <-ctx.Done():
			}
			continue
		}
		answer.Took = time.Since(began)
		return answer
	}
}

// process is the session's process: the one it has, unless that is older than the
// hook's files, or a new one. Where there is no room to keep one, it is for this
// event only.
func (r *resident) process(s *seat) (*kept, error) {
	p := r.pool
	if s == nil {
		return p.start(&r.standing, nil, nil)
	}
	p.mu.Lock()
	k, l := s.holds, p.lines[r.id]
	if k != nil && !k.ending {
		if k.files.current(r.files) {
			if l != nil {
				l.uses++
			}
			p.mu.Unlock()
			return k, nil
		}
		s.holds = nil
		p.end(k)
	}
	if l == nil {
		l = &line{standing: &r.standing}
	}
	room := p.makeRoom(r.config.origin())
	if room {
		l.starting++
	}
	p.mu.Unlock()
	if !room {
		return p.start(&r.standing, nil, nil)
	}
	k, err := p.start(&r.standing, l, s)
	p.mu.Lock()
	defer p.mu.Unlock()
	l.starting--
	if err != nil {
		return nil, err
	}
	if !k.ending {
		s.holds = k
		l.uses++
	}
	return k, nil
}

// notesMost is how many lines without the event's id a process may write for one
// event.
const notesMost = 100

var errNotes = errors.New("too many notes")

// askKept gives one event to the process and reads its answer. given is false if
// it ended without having read anything of the event; the answer is then the
// failure that this is, should no other process get the event.
func (r *resident) askKept(ctx context.Context, k *kept, q *Question) (answer protocol.Answer, given bool) {
	k.talk.Lock()
	defer k.talk.Unlock()
	child := k.child
	var warnings []string
	dropped := dropEarlier(child, replyLimit(q))
	if dropped > 0 {
		warnings = append(warnings, fmt.Sprintf("%d bytes that it wrote before it was asked were not read", dropped))
	}
	h := heard{end: heardFlood}
	if dropped < replyLimit(q) {
		child.Send(q.Payload, k.seat == nil)
		h = hearLines(ctx, child, q)
	}
	if h.behind > 0 {
		warnings = append(warnings, fmt.Sprintf("%d bytes behind its answer were not read", h.behind))
	}
	transcribe(ctx, q.Payload, h.out)
	text, cut := child.Stderr()
	said := process.Result{ExitCode: -1, Stdout: h.out, Stderr: text, StderrCut: cut}
	if h.answered(q) {
		if h.end != heardAnswer || ctx.Err() != nil || k.seat == nil {
			r.discard(k, context.Cause(ctx))
		} else {
			r.pool.well(k.seat)
		}
		answer = r.plain.read(q, &said, true)
		answer.Warnings = append(warnings, answer.Warnings...)
		return answer, true
	}
	failure, given := r.unanswered(ctx, k, &h)
	answer = r.ended(q, k, failure)
	answer.Warnings = append(warnings, answer.Warnings...)
	return answer, given
}

// hearLines listens until a line repeats the event's id.
func hearLines(ctx context.Context, child speaker, q *Question) heard {
	notes := 0
	h := listen(ctx, child, replyLimit(q), func(out []byte, line int) (bool, error) {
		if protocol.Answers(out[line:], q.Event.ID) {
			return true, nil
		}
		if notes++; notes > notesMost {
			return false, errNotes
		}
		return false, nil
	})
	h.notes = notes
	return h
}

// answered reports whether the last line is the answer. Its process may have ended
// before it wrote the newline.
func (h *heard) answered(q *Question) bool {
	return h.end == heardAnswer || protocol.Answers(lastLineOf(h.out), q.Event.ID)
}

// unanswered ends a process that has not answered and says what that is. given is
// false if it had not begun to read.
func (r *resident) unanswered(ctx context.Context, k *kept, h *heard) (failure *protocol.Failure, given bool) {
	switch {
	case h.end == heardLimit:
		k.child.Cancel(context.Cause(ctx))
		return h.withNotes(failureOf(context.Cause(ctx))), true
	case h.end == heardFlood && h.notes > notesMost:
		k.child.Cancel(&process.OutputError{})
		return &protocol.Failure{Kind: protocol.FailOutput, Detail: fmt.Sprintf("more than %d lines without the event's id", notesMost), Remedy: `answer each line with one line that repeats its "id"; print all else to stderr`}, true
	case h.end == heardFlood:
		k.child.Cancel(&process.OutputError{})
		return &protocol.Failure{Kind: protocol.FailOutput, Detail: "stdout: more than hooks.limits.reply for one event", Remedy: "write less, or raise hooks.limits.reply"}, true
	}
	// It has closed its stdout: either it is ending, or it will never answer.
	timer := time.NewTimer(answerGrace)
	defer timer.Stop()
	select {
	case <-k.child.Done():
	case <-ctx.Done():
	case <-timer.C:
	}
	k.child.Cancel(process.ErrEnded)
	result := k.child.Result()
	var unstarted *process.StartError
	switch {
	case errors.As(result.Err, &unstarted):
		return r.plain.failure(&result), true
	case result.Err == nil && k.child.InputUnread():
		return lost("its process ended before it had read the event: " + endText(&result)), false
	}
	return h.withNotes(lost("its process ended before it had answered: " + endText(&result))), true
}

func lost(detail string) *protocol.Failure {
	return &protocol.Failure{Kind: protocol.FailLost, Detail: detail, Remedy: "a resident hook answers every line and ends when its input does; hookd try shows its output"}
}

// withNotes adds to a failure that the process did write lines: whoever forgot the
// id must not look for what is slow.
func (h *heard) withNotes(failure *protocol.Failure) *protocol.Failure {
	if h.notes == 0 || failure.Kind == protocol.FailAborted {
		return failure
	}
	f := *failure
	f.Detail += fmt.Sprintf("; it wrote %d lines without the event's id, which are no answer", h.notes)
	f.Remedy = `answer each line with one line that repeats its "id"; print all else to stderr`
	return &f
}

func endText(r *process.Result) string {
	switch {
	case r.Signal != "":
		return "ended by " + r.Signal
	case r.ExitCode >= 0:
		return fmt.Sprintf("exit code %d", r.ExitCode)
	}
	return "it closed its stdout"
}

// ended is the answer of a process that could not be asked; what is left of it
// ends behind it, and the session's next one is not started before.
func (r *resident) ended(q *Question, k *kept, failure *protocol.Failure) protocol.Answer {
	result := k.child.Result()
	text, cut := k.child.Stderr()
	if len(text) == 0 {
		text, cut = result.Stderr, result.StderrCut
	}
	r.pool.setBack(k)
	answer := protocol.Answer{Signal: result.Signal, Stderr: stderrText(&process.Result{Stderr: text, StderrCut: cut})}
	if result.ExitCode >= 0 {
		answer.Exit = &result.ExitCode
	}
	answer.Voter = voterOf(q.Hook)
	answer.Reading = protocol.ReadReply(q.Spec, answer.Voter, nil, text, protocol.Ending{Failure: failure}, q.Event.ID, replyLimits(q))
	return answer
}

// discard ends a process that has answered and is to get no more: at once if its
// event is over with a cause, else with the grace time.
func (r *resident) discard(k *kept, cause error) {
	p := r.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	k.ending = true
	if k.seat != nil && k.seat.holds == k {
		k.seat.holds = nil
	}
	if cause != nil {
		k.child.Cancel(cause)
		return
	}
	p.work.Go(func() { p.letGo(k, r.config.Grace) })
}

// setBack takes away a process that was lost or ended, and has the session's next
// one wait: at first for its tree only, then longer each time.
func (p *Pool) setBack(k *kept) {
	const first, most = 50 * time.Millisecond, time.Second
	p.mu.Lock()
	defer p.mu.Unlock()
	s := k.seat
	if s == nil {
		k.ending = true
		return
	}
	if !k.ending { // else its death has told
		k.ending = true
		k.line.restarts++
	}
	if s.holds == k {
		s.holds = nil
	}
	s.ending = k.child.Result().Gone
	if s.failed > 0 {
		s.rest = time.Now().Add(min(first<<min(s.failed, 8), most))
	}
	s.failed++
}

// dropEarlier forgets what a process wrote before it is asked: nothing of it is an
// answer to what comes. It stops at the limit: that is a flood.
func dropEarlier(child speaker, limit int64) (n int64) {
	var buffer [4096]byte
	for n < limit {
		got := len(child.ReadBuffered(buffer[:]))
		if n += int64(got); got == 0 {
			break
		}
	}
	return n
}

// lastLineOf is what stands behind the last end of a line.
func lastLineOf(out []byte) []byte {
	return out[strings.LastIndexByte(string(out), '\n')+1:]
}
