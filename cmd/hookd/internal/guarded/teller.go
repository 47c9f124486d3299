package guarded

import (
	"io"
	"os"
	"sync"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// Teller tells the person on stderr what hooks did. It is safe for concurrent use.
type Teller struct {
	Console *cli.Console
	Engine  *engine.Engine

	mu sync.Mutex
}

// Note tells what the person should know, and what to do about it.
func (t *Teller) Note(text, remedy string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Engine.Aside(func() { t.Console.Note(text, remedy) })
}

// Outcome tells what a person should know of a decided event: nothing of one that passed
// without a word.
func (t *Teller) Outcome(o *protocol.Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Engine.Aside(func() {
		p := t.Console.Err
		asked := o.Action == protocol.Ask && !protocol.RefusesAsk(o.Lost) // a person is, and that is told
		if o.Refused() && !asked {
			by := ""
			if o.By != nil {
				by = " refused by " + p.In(show.Name, show.Line(*o.By))
			}
			reason := ""
			if o.Reason != "" {
				reason = ": " + show.Line(show.Shorten(o.Reason, 300))
			}
			of := ""
			if tool := jsonspan.Text(jsonspan.Get(o.Event.Data, "name")); tool != "" {
				of = " of " + show.Line(tool)
			}
			p.Print("%s %s%s%s%s\n", p.In(show.Bad, "✗"), o.Event.Event, of, by, reason)
		}
		for _, lost := range o.Lost {
			t.Console.Note(lost, "")
		}
		for _, n := range report.Notices(o) {
			p.Print("%s%s: %s\n", p.In(show.Name, "· "), report.WhoSays(p, &n), show.Line(n.Text))
		}
		report.Warnings(p, "", o.Runs, true)
	})
}

// Client is the stream of the client, which ends with the process.
func Client(opener *engine.Opener) relay.Stream {
	left, stop := watchReader(os.Stdout)
	opener.Closers.Add(func() error { stop(); return nil })
	return relay.Stream{In: opener.Console.In, Out: unclosed{opener.Console.Out.W}, Left: left}
}

type unclosed struct{ io.Writer }
