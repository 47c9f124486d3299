package exechook

import (
	"context"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/internal/worker"
	"github.com/hookd-dev/hookd/protocol"
)

// standby asks a hook whose next process is already started and blocks on reading
// stdin. Where none is ready, or the one that was had not begun to read, the program
// is started as if it ran once.
type standby struct {
	program *Program
	workers *worker.Hook
	key     string
}

// NotFit begins the warning about a hook that does something before it has read its
// event, and so cannot run in standby.
const NotFit = "not fit for run: standby: "

func (s *standby) Info() executor.AskerInfo {
	info := s.program.Info()
	info.Workers = s.workers
	return info
}

func (s *standby) Ask(ctx context.Context, q *executor.Question) protocol.Answer {
	s.program.lookWhereFilesAre()
	defer s.workers.Refill()
	began := time.Now()
	answer, answered, unfit := s.askWaiting(ctx, q)
	if !answered {
		answer = s.program.Ask(ctx, q)
		if unfit != "" {
			answer.Warnings = append(answer.Warnings, NotFit+unfit+"; another one was started")
		}
	}
	answer.Took = time.Since(began)
	return answer
}

// askWaiting asks a process that waits. answered is false where there is none, or
// where it had read nothing of the event; unfit says why the hook does not fit standby
// mode, if it does not.
func (s *standby) askWaiting(ctx context.Context, q *executor.Question) (answer protocol.Answer, answered bool, unfit string) {
	if s.program.runtime.AwaitEnding(ctx, s.key) != nil {
		return answer, false, "" // starting the program says so
	}
	w, unfit := s.workers.TakeIdle()
	if w == nil {
		return answer, false, unfit
	}
	reply := w.AskOnce(ctx, eventOf(q), q.Grace, onTreeGone(q))
	if reply.Unread {
		return answer, false, "the waiting process ended before it had read anything of the event"
	}
	transcribe(q, reply.Output)
	return s.program.answer(q, &reply.Result, reply.Answered), true, ""
}
