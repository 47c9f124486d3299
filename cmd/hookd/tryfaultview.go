package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// showFaults prints what became of the faults: of one in full, of several in a
// table. The exit code is that of the one's outcome.
func (a *app) showFaults(trials []*faultTrial) error {
	if a.json {
		list := make([]faultJSON, 0, len(trials))
		for _, t := range trials {
			list = append(list, t.json())
		}
		if err := a.printJSON(list); err != nil {
			return err
		}
	} else if len(trials) > 1 {
		a.showFaultTable(trials)
	} else {
		trials[0].show(a.out)
	}
	if len(trials) == 1 && trials[0].outcome.Refused() {
		return exitCode(exitRefused)
	}
	return nil
}

type faultJSON struct {
	Fault string `json:"fault"`
	Does  string `json:"does"`
	protocol.Outcome
	TookMs float64 `json:"tookMs"`
}

func (t *faultTrial) json() faultJSON {
	return faultJSON{t.Name, t.Does, t.outcome, float64(t.took) / float64(time.Millisecond)}
}

// show prints one fault: what the hook did, what that is called, the rule, and
// the outcome.
func (t *faultTrial) show(p *show.Printer) {
	run := t.run()
	p.Print("%s %s: %s %s\n", p.In(show.Strong, "fault"), t.Name, show.Line(t.hook.Name), t.Does)
	p.Print("%s %s", p.In(show.Strong, "counts as"), answerLine(p, run))
	if why := runWhy(run, nil); why != "" {
		p.Print(", %s", show.Line(why))
	}
	p.Print("\n%s %s\n", p.In(show.Strong, "rule"), t.rule())
	p.Print("%s after %s; the hook's limit is %s\n", p.In(show.Strong, "outcome"), took(t.took), schema.FormatDuration(t.hook.Timeout))
	run.Stderr = ""
	showOutcome(p, &t.outcome)
}

// rule is the rule that was applied, or why none was.
func (t *faultTrial) rule() string {
	run := t.run()
	switch {
	case run.Failure == "":
		return "none: the hook answered"
	case t.outcome.Event.Spec() != nil && t.outcome.Event.Spec().Kind == protocol.Notice:
		return string(run.Rule) + ", which at a notice only reports"
	case t.hook.Mode == protocol.Audit:
		return "none: a hook in audit mode decides nothing"
	}
	return fmt.Sprintf("%s (onFailure)", run.Rule)
}

// showFaultTable prints a line for each fault.
func (a *app) showFaultTable(trials []*faultTrial) {
	first := trials[0]
	a.out.Print("%s at %s: %s hook, onFailure %s, limit %s\n", a.out.In(show.Name, show.Line(first.hook.Name)), show.Line(string(first.given.Event)),
		first.hook.Can, first.hook.OnFailure, schema.FormatDuration(first.hook.Timeout))
	table := show.Table{Header: []string{"FAULT", "COUNTS AS", "RULE", "OUTCOME", "AFTER", "THE HOOK"}}
	for _, t := range trials {
		run := t.run()
		text, tone := runAnswer(run)
		rule := "–"
		if run.Failure != "" {
			rule = string(run.Rule)
		}
		outcome, good := "passed", show.Good
		if t.outcome.Action != protocol.Observe && t.outcome.Action != protocol.Modify {
			outcome, good = string(t.outcome.Action), show.Bad
		}
		table.Add(show.Cell{Text: t.Name, Tone: show.Name}, show.Cell{Text: text, Tone: tone}, show.Cell{Text: rule},
			show.Cell{Text: outcome, Tone: good}, show.Cell{Text: took(t.took)}, show.Cell{Text: t.Does, Tone: show.Quiet})
	}
	table.Write(a.out)
}

func took(d time.Duration) string {
	return strings.TrimSpace(milliseconds(float64(d) / float64(time.Millisecond)))
}
