package engine

import (
	"errors"
	"runtime"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/executor/process"
)

// Processes are the programs that this process runs. They are ended by Closers.
type Processes struct {
	Closers *cli.Closers

	runtime *process.Runtime
	guarded bool // the runtime has a guardian
	pool    *exechook.Pool
}

// Start returns what runs programs. The first caller decides whether a guardian ends them
// when hookd is killed: a part of a command that needs one must call first.
func (p *Processes) Start(guarded bool) (*process.Runtime, error) {
	if p.runtime != nil {
		if guarded && !p.guarded {
			return nil, cli.Failed("processes", errors.New("programs were started without a guardian before"), "this is a mistake of hookd's, please report it")
		}
		return p.runtime, nil
	}
	// How many hooks run at once is for the executor to say (hooks.processes), which
	// does not count the wait against a hook's own limit.
	rt, err := process.New(process.Options{LongLived: guarded, OwnsAllChildren: true, Processes: 4096})
	if err != nil {
		return nil, cli.Failed("processes", err, "")
	}
	if guarded {
		// A goroutine that waits for a hook or a client in a system call keeps a
		// processor of Go's for a while. With few of them the next event waits for that.
		runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0)))
	}
	p.runtime, p.guarded, p.pool = rt, guarded, exechook.NewPool(rt)
	p.Closers.Add(rt.Close)
	p.Closers.Add(p.pool.Close)
	return rt, nil
}

// Pool returns the processes of hooks that are started before their events. [Processes.Start]
// must have been called.
func (p *Processes) Pool() *exechook.Pool { return p.pool }

// Runtime returns what [Processes.Start] returned last.
func (p *Processes) Runtime() *process.Runtime { return p.runtime }
