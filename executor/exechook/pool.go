package exechook

import (
	"iter"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/internal/worker"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Pool keeps processes that are started before their event: those of standby and
// resident hooks. One Pool serves a whole program.
type Pool struct {
	runtime *process.Runtime
	workers *worker.Pool
}

// NewPool returns an empty pool of processes that rt runs. It keeps nothing until
// [Pool.SetActive] names a set.
func NewPool(rt *process.Runtime) *Pool { return &Pool{rt, worker.NewPool(rt)} }

// SetActive makes the hooks of a set active in place of those of an earlier one;
// either may be nil. The processes of hooks that are no longer active end, those that
// are being asked after their reply. Hooks that are in both sets keep theirs.
func (p *Pool) SetActive(before, now *executor.Set) {
	p.workers.SetActive(workersOf(before), workersOf(now))
}

// workersOf yields the hooks of a set that have processes before their events.
func workersOf(set *executor.Set) iter.Seq[*worker.Hook] {
	return func(yield func(*worker.Hook) bool) {
		if set == nil {
			return
		}
		for _, h := range set.Hooks {
			if workers := h.Info().Workers; workers != nil && !yield(workers) {
				return
			}
		}
	}
}

// Close ends every process that the pool keeps and waits until it is gone. The pool
// keeps nothing afterwards; hooks can be asked all the same.
func (p *Pool) Close() error { return p.workers.Close() }

// WorkerConfig is how the processes of a standby or resident hook are started.
type WorkerConfig struct {
	Program Config // as for a process that is started with its event
	Layer   protocol.Layer
	Name    string
	Hash    string         // of the bundle
	Mode    schema.RunMode // standby or resident
	Pool    int            // waiting processes of a standby hook
	Idle    time.Duration  // after which unused ones end
	Grace   time.Duration  // TERM to KILL
	Stderr  int64          // bytes kept of it

	// Files are those that a process is made of when it starts, besides its program:
	// the interpreter, helpers, and what the command line names. A process that was
	// started before one of them changed is not used.
	Files []string
}

// Asker returns the way to ask a hook that is to run in standby or resident mode.
func (p *Pool) Asker(c WorkerConfig) executor.Asker {
	program := New(p.runtime, c.Program)
	command := process.Command{
		Path: c.Program.Path, Argv: program.argv, Dir: c.Program.Dir,
		Env:        append(slices.Clip(c.Program.Env), hookenv.VarMode+"="+string(c.Mode)),
		Key:        program.key(c.Layer, c.Name),
		StderrTail: stderrTail(c.Stderr), Grace: graceOf(c.Grace),
	}
	workers := p.workers.Hook(worker.Spec{
		Command: command, Hash: c.Hash, Files: append([]string{c.Program.Path}, c.Files...),
		Origin: protocol.OriginOf(c.Layer, c.Name), Resident: c.Mode == schema.Resident,
		Size: c.Pool, Idle: c.Idle, Grace: c.Grace,
	})
	if c.Mode == schema.Resident {
		return &resident{program, workers}
	}
	return &standby{program, workers, command.Key}
}

// eventOf returns a question as a worker gets it.
func eventOf(q *executor.Question) *worker.Event {
	limit := q.Limits.Reply
	if limit <= 0 { // a question that is asked without an executor
		limit = process.DefaultStdoutLimit
	}
	return &worker.Event{ID: q.Event.ID, Payload: q.Payload, Limit: limit}
}
