package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol/readreply"
)

// Event is one event for a worker.
type Event struct {
	ID      string   // the reply repeats it
	Payload [][]byte // the encoded event with its newline, in pieces
	Limit   int64    // bytes of the reply
}

// Reply is what came of giving an event to a worker.
type Reply struct {
	Answered bool           // Output ends with the reply to the event
	Output   []byte         // what it wrote, up to the end of the reply if there is one
	Result   process.Result // how the process stands; Stderr is what it wrote for this event
	Warnings []string

	// Of an event without a reply.
	End    End
	Notes  int  // lines without the event's id, which are no reply
	Unread bool // the process certainly read nothing of the event: another one may get it
}

// closeGrace is how long a process that has closed its stdout may take to exit.
const closeGrace = 150 * time.Millisecond

// AskLine gives one event to a resident process and reads its reply. A process that
// has replied stays for the session's next event, if it is kept at all. One that has
// not is being ended when AskLine returns, and the session's next one is not started
// before its tree is gone.
func (w *Worker) AskLine(ctx context.Context, e *Event) (reply Reply) {
	w.talk.Lock()
	defer w.talk.Unlock()
	out := output{end: EndFlood}
	stale := discardStale(w.child, e.Limit)
	if stale > 0 {
		reply.Warnings = append(reply.Warnings, fmt.Sprintf("%d bytes that it wrote before it was asked were not read", stale))
	}
	if stale < e.Limit {
		w.child.Send(e.Payload, w.session == nil)
		out = readLine(ctx, w.child, e.Limit, e.ID)
	}
	if out.after > 0 {
		reply.Warnings = append(reply.Warnings, fmt.Sprintf("%d bytes after its answer were not read", out.after))
	}
	reply.Output, reply.End, reply.Notes = out.text, out.end, out.notes
	// A process may have ended before it wrote the newline of its reply.
	if out.end == EndReply || readreply.Answers(lastLine(out.text), e.ID) {
		reply.Answered = true
		reply.Result = process.Result{ExitCode: -1}
		reply.Result.Stderr, reply.Result.StderrCut = w.child.Stderr()
		if out.end != EndReply || ctx.Err() != nil || w.session == nil {
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
	w.giveUp(&reply.Result)
	return reply
}

// endUnanswered begins to end a process that has not replied.
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
