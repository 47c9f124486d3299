package engine

import (
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
)

// Late gets what hooks did or say that nobody waited for, in place of the person: a run,
// or a notice.
type Late func(ev *protocol.Event, run *protocol.Run, notice *protocol.HookText)

// Observer watches the hooks at work.
type Observer struct {
	Progress *show.Progress
	LateRuns LateRuns

	console *cli.Console
	late    Late          // nil: the person reads it
	working hooksAtEvents // now
	cutOff  HooksCutOff
}

// Observe begins to show the hooks at work on a terminal. The caller must stop Progress.
func Observe(console *cli.Console, late Late) *Observer {
	return &Observer{Progress: show.StartProgress(console.Err), console: console, late: late}
}

// Hooks returns what an executor reports to the observer: which hooks are at work, and
// what they say when nobody waits for them any more.
func (o *Observer) Hooks() executor.Progress {
	return executor.Progress{
		Started: func(ev *protocol.Event, h *executor.Hook) {
			o.Progress.Begin(h.Name)
			o.working.add(ev, h)
		},
		Finished: func(ev *protocol.Event, h *executor.Hook, run protocol.Run) {
			o.Progress.End(h.Name)
			o.working.remove(ev, h)
			o.LateRuns.Add(ev, h, run)
			if o.late != nil && isLate(ev, h) {
				o.late(ev, &run, nil)
			}
		},
		Cut: o.cutOff.Add,
		Notice: func(ev *protocol.Event, n protocol.HookText) {
			if o.late != nil {
				o.late(ev, nil, &n)
				return
			}
			o.Progress.Aside(func() {
				p := o.console.Err
				p.Print("%s%s: %s\n", p.In(show.Name, "· "), report.WhoSays(p, &n), show.Line(n.Text))
			})
		},
	}
}
