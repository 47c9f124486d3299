package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol/readreply"
)

// Request is one event for a worker.
type Request struct {
	ID      string   // of the event; an answer repeats it
	Payload [][]byte // the encoded event with its newline, in pieces
	Limit   int64    // bytes of the reply
}

// Reply is what came of giving an event to a worker.
type Reply struct {
	Answered bool
	Output   []byte         // what it wrote; with an answer, up to its end
	Result   process.Result // how the process stands; Stderr is what it wrote for this event
	Warnings []string

	// Of an event that was not answered.
	End    End
	Notes  int  // lines without the event's id, which are no answer
	Unread bool // the process certainly read nothing of the event: another one may get it
}

// closeGrace is how long a process that has closed its stdout may take to exit.
const closeGrace = 150 * time.Millisecond

// AskLine gives one event to a resident process and reads its answer. A process that
// has answered stays for the session's next event, if it is kept at all. One that has
// not is being ended when AskLine returns, and the session's next one is not started
// before its tree is gone.
func (w *Worker) AskLine(ctx context.Context, r *Request) (reply Reply) {
	w.talk.Lock()
	defer w.talk.Unlock()
	out := output{end: EndFlood}
	stale := discardStale(w.child, r.Limit)
	if stale > 0 {
		reply.Warnings = append(reply.Warnings, fmt.Sprintf("%d bytes that it wrote before it was asked were not read", stale))
	}
	if stale < r.Limit {
		w.child.Send(r.Payload, w.session == nil)
		out = readLine(ctx, w.child, r.Limit, r.ID)
	}
	if out.after > 0 {
		reply.Warnings = append(reply.Warnings, fmt.Sprintf("%d bytes after its answer were not read", out.after))
	}
	reply.Output, reply.End, reply.Notes = out.text, out.end, out.notes
	// A process may have ended before it wrote the newline of its answer.
	if out.end == EndAnswer || readreply.Answers(lastLine(out.text), r.ID) {
		reply.Answered = true
		reply.Result = process.Result{ExitCode: -1}
		reply.Result.Stderr, reply.Result.StderrCut = w.child.Stderr()
		if out.end != EndAnswer || ctx.Err() != nil || w.session == nil {
			w.discard(context.Cause(ctx))
		} else {
			w.markHealthy()
		}
		return reply
	}
	w.endUnanswered(ctx, out.end)
	reply.Result = w.child.Result()
	if text, cut := w.child.Stderr(); len(text) > 0 {
		reply.Result.Stderr, reply.Result.StderrCut = text, cut
	}
	reply.Unread = out.end == EndClosed && reply.Result.Err == nil && w.child.InputUnread()
	w.lost(&reply.Result)
	return reply
}

// endUnanswered begins to end a process that has not answered.
func (w *Worker) endUnanswered(ctx context.Context, end End) {
	switch end {
	case EndLimit:
		w.child.Cancel(context.Cause(ctx))
		return
	case EndFlood, EndNotes:
		w.child.Cancel(&process.OutputError{})
		return
	}
	// It has closed its stdout: either it is ending, or it will never answer.
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	select {
	case <-w.child.Done():
	case <-ctx.Done():
	case <-timer.C:
	}
	w.child.Cancel(process.ErrEnded)
}

// Gone is closed when the tree of a process that has ended is gone.
func (w *Worker) Gone() <-chan struct{} { return w.child.Result().Gone }
