package mcpcmd

import (
	"io"
	"sync"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// teller tells the person on stderr what hooks did.
type teller struct {
	console *cli.Console
	engine  *engine.Engine

	mu sync.Mutex
}

func (t *teller) note(text, remedy string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.engine.Aside(func() { t.console.Note(text, remedy) })
}

// outcome tells what a person should know of a decided event: nothing of one that passed
// without a word.
func (t *teller) outcome(o *protocol.Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.engine.Aside(func() {
		p := t.console.Err
		if o.Refused() {
			by := ""
			if o.By != nil {
				by = " refused by " + p.In(show.Name, show.Line(*o.By))
			}
			reason := ""
			if o.Reason != "" {
				reason = ": " + show.Line(show.Shorten(o.Reason, 300))
			}
			tool := jsonspan.Text(jsonspan.Get(o.Event.Data, "name"))
			p.Print("%s %s of %s%s%s\n", p.In(show.Bad, "✗"), o.Event.Event, show.Line(tool), by, reason)
		}
		for _, lost := range o.Lost {
			t.console.Note(lost, "")
		}
		for _, n := range report.Notices(o) {
			p.Print("%s%s: %s\n", p.In(show.Name, "· "), report.WhoSays(p, &n), show.Line(n.Text))
		}
		report.Warnings(p, "", o.Runs, true)
	})
}

// toClient is the client's stream, which ends with the process.
type toClient struct{ io.Writer }
