package eventcmd

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/daemon"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/units"
)

// run returns the hook's part in the outcome.
func (t *trial) run() *protocol.Run {
	if len(t.outcome.Runs) == 0 {
		return &protocol.Run{}
	}
	decided := 0
	for i := range t.outcome.Runs {
		if decisive(t, i) > decisive(t, decided) {
			decided = i
		}
	}
	return &t.outcome.Runs[decided]
}

// decisive says how much one run of several decided about the outcome: rules of a pack are
// asked together.
func decisive(t *trial, i int) int {
	switch run := &t.outcome.Runs[i]; {
	case run.Failure != "":
		return 4
	case t.outcome.By != nil && *t.outcome.By == run.Hook:
		return 3
	case run.Would != "" && run.Would != protocol.Observe:
		return 2
	case run.Skipped == "":
		return 1
	}
	return 0
}

type trialJSON struct {
	protocol.Outcome
	Stdin  string `json:"stdin"`
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	Diff   string `json:"diff"`

	Findings []schema.Finding `json:"findings"` // about the hook
}

func (t *trial) json() trialJSON {
	return trialJSON{t.outcome, string(t.stdin), string(t.stdout), t.run().Stderr, show.UnifiedDiff(t.given.Data, t.outcome.Event.Data), t.findings}
}

// show prints the trial from top to bottom: given, answered, decided.
func (t *trial) show(p *show.Printer) {
	run := t.run()
	p.Print("%s %s\n", p.In(show.Strong, "event"), show.Line(string(t.given.Event)))
	p.Indented("  ", show.Quiet, show.Visible(show.Pretty(t.given.Data)))
	if of := t.hook.Foreign(); of != nil && len(t.stdin) > 0 {
		p.Print("%s %s\n", p.In(show.Strong, "asked as"), p.In(show.Quiet, "a hook of "+of.Title+", which reads"))
		p.Indented("  ", show.Quiet, show.Visible(show.Pretty(bytes.TrimSpace(t.stdin))))
	}
	limit := units.FormatDuration(t.hook.Timeout)
	p.Print("%s %s\n", p.In(show.Strong, "reply"), p.In(show.Quiet, fmt.Sprintf("after %s of %s", show.Milliseconds(run.TookMs), limit)))
	switch text := strings.TrimRight(string(t.stdout), "\n"); {
	case text == "":
		p.Print("  %s\n", p.In(show.Quiet, "nothing on stdout"+exitText(run)))
	case jsonspan.Valid(protocol.RawMessage(text)):
		p.Indented("  ", show.Plain, show.Visible(show.Pretty(protocol.RawMessage(text))))
	default:
		p.Indented("  ", show.Plain, show.Visible(show.Shorten(text, 4000)))
	}
	if run.Stderr != "" {
		p.Print("%s\n", p.In(show.Strong, "stderr"))
		p.Indented("  ", show.Quiet, show.Visible(run.Stderr))
	}
	p.Print("%s %s", p.In(show.Strong, "counts as"), answerLine(p, run))
	p.Print("\n")
	run.Stderr = "" // shown above
	report.Trial(p, &t.outcome, true)
	if !t.fits && t.hook.Reply != nil {
		p.Print("  %s\n", p.In(show.Warn, "! the rule is not about this event: it is for "+show.Line(hookEvents(t.hook))+"; --data gives another"))
		return
	}
	if !t.fits {
		p.Print("  %s\n", p.In(show.Warn, "! in a session it would not be asked about this event: it is for "+show.Line(hookEvents(t.hook))))
	}
}

func hookEvents(h *executor.Hook) string {
	return report.EventsText(daemon.Listed{Events: h.Events, Match: h.Match})
}

func exitText(run *protocol.Run) string {
	switch {
	case run.Signal != "":
		return ", ended by " + string(run.Signal)
	case run.Exit != nil:
		return fmt.Sprintf(", exit code %d", *run.Exit)
	}
	return ""
}

func answerLine(p *show.Printer, run *protocol.Run) string {
	text, tone := report.RunAnswer(run)
	return p.In(tone, text)
}
