package exechook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/internal/worker"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/readreply"
)

// resident asks a hook that has one process per session: one event per line on its
// stdin, one reply per line on its stdout. Without a lease, or without room in the
// pool, the process gets one event and the end of its input.
type resident struct {
	program *Program
	workers *worker.Hook
}

func (r *resident) Info() executor.AskerInfo {
	info := r.program.Info()
	info.Workers = r.workers
	return info
}

func (r *resident) Ask(ctx context.Context, q *executor.Question) protocol.Answer {
	r.program.lookWhereFilesAre()
	began := time.Now()
	answer := r.ask(ctx, q)
	answer.Took = time.Since(began)
	return answer
}

// ask asks the session's process, and a second one where the first had read nothing
// of the event.
func (r *resident) ask(ctx context.Context, q *executor.Question) protocol.Answer {
	for again := false; ; again = true {
		w, err := r.worker(q)
		if err != nil {
			return r.program.answer(q, &process.Result{ExitCode: -1, Err: err}, false)
		}
		reply := w.AskLine(ctx, eventOf(q))
		transcribe(q, reply.Output)
		if !reply.Unread || again || ctx.Err() != nil {
			answer := r.answer(ctx, q, &reply)
			answer.Warnings = append(reply.Warnings, answer.Warnings...)
			return answer
		}
		select { // no two of a session side by side
		case <-w.Gone():
		case <-ctx.Done():
		}
	}
}

func (r *resident) worker(q *executor.Question) (*worker.Worker, error) {
	if q.Lease == nil {
		return r.workers.StartForOneEvent()
	}
	return q.Lease.Worker()
}

// answer returns what asking the process came to. A reply counts whatever became of the
// process after it.
func (r *resident) answer(ctx context.Context, q *executor.Question, reply *worker.Reply) protocol.Answer {
	result := &reply.Result
	if reply.Answered {
		result.Stdout = reply.Output
		return r.program.answer(q, result, true)
	}
	answer := protocol.Answer{Signal: result.Signal, Stderr: executor.StderrText(result.Stderr, result.StderrCut)}
	if result.ExitCode >= 0 {
		answer.Exit = &result.ExitCode
	}
	answer.HookInfo = q.Hook.HookInfo()
	ending := readreply.ProcessEnd{Failure: r.failure(ctx, reply)}
	answer.ReadResult = readreply.Read(q.Spec, answer.HookInfo, nil, result.Stderr, ending, q.Event.ID, q.ReplyLimits())
	return answer
}

// failure returns why the event was not answered.
func (r *resident) failure(ctx context.Context, reply *worker.Reply) *protocol.Failure {
	var unstarted *process.StartError
	switch {
	case reply.End == worker.EndLimit:
		return withNotes(executor.FailureOf(context.Cause(ctx)), reply.Notes)
	case reply.End == worker.EndNotes:
		return &protocol.Failure{
			Kind: protocol.FailOutput, Detail: fmt.Sprintf("more than %d lines without the event's id", worker.MaxNotes), Remedy: repeatID,
		}
	case reply.End == worker.EndFlood:
		return &protocol.Failure{
			Kind: protocol.FailOutput, Detail: "stdout: more than hooks.limits.reply for one event", Remedy: "write less, or raise hooks.limits.reply",
		}
	case errors.As(reply.Result.Err, &unstarted):
		return r.program.failure(&reply.Result)
	case reply.Unread:
		return lost("its process ended before it had read the event: " + endText(&reply.Result))
	}
	return withNotes(lost("its process ended before it had answered: "+endText(&reply.Result)), reply.Notes)
}

const repeatID = `answer each line with one line that repeats its "id"; print all else to stderr`

func lost(detail string) *protocol.Failure {
	return &protocol.Failure{Kind: protocol.FailLost, Detail: detail, Remedy: "a resident hook answers every line and ends when its input does; hookd try shows its output"}
}

// withNotes adds to a failure that the process did write lines: an author who forgot
// the id must not look for what is slow.
func withNotes(failure *protocol.Failure, notes int) *protocol.Failure {
	if notes == 0 || failure.Kind == protocol.FailAborted {
		return failure
	}
	f := *failure
	f.Detail += fmt.Sprintf("; it wrote %d lines without the event's id, which are no answer", notes)
	f.Remedy = repeatID
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
