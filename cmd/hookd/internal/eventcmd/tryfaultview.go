package eventcmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/units"
)

// showFaults prints what became of a hook's faults: of one in full, of several in
// a table. The exit code is that of the one's outcome.
func (cmd *Commands) showFaults(trials []*faultTrial) error {
	switch {
	case cmd.Console.JSON:
		if err := cmd.printFaults(trials); err != nil {
			return err
		}
	case len(trials) > 1:
		cmd.showFaultTable(trials)
	default:
		trials[0].show(cmd.Console.Out)
	}
	if len(trials) == 1 && trials[0].outcome.Refused() {
		return cli.ExitCode(cli.ExitRefused)
	}
	return nil
}

// showFaultsOfAll prints what became of the faults of several hooks: of one fault
// a line for each hook, of several a table for each.
func (cmd *Commands) showFaultsOfAll(trials []*faultTrial) error {
	if cmd.Console.JSON {
		return cmd.printFaults(trials)
	}
	if trials[0].Name == trials[len(trials)-1].Name {
		cmd.showHookTable(trials)
		return nil
	}
	for i, begin := 1, 0; i <= len(trials); i++ {
		if i == len(trials) || trials[i].Name == trials[0].Name {
			if begin > 0 {
				cmd.Console.Out.Print("\n")
			}
			cmd.showFaultTable(trials[begin:i])
			begin = i
		}
	}
	return nil
}

func (cmd *Commands) printFaults(trials []*faultTrial) error {
	list := make([]faultJSON, 0, len(trials))
	for _, t := range trials {
		list = append(list, t.json())
	}
	return cmd.Console.PrintJSON(list)
}

type faultJSON struct {
	Hook  string `json:"hook"`
	Fault string `json:"fault"`
	Does  string `json:"does"`
	protocol.Outcome
	TookMs float64 `json:"tookMs"`
}

func (t *faultTrial) json() faultJSON {
	return faultJSON{t.hook.Name, t.Name, t.Does, t.outcome, float64(t.took) / float64(time.Millisecond)}
}

// show prints one fault: what the hook did, what that is called, the rule, and
// the outcome.
func (t *faultTrial) show(p *show.Printer) {
	run := t.run()
	p.Print("%s %s: %s %s\n", p.In(show.Strong, "fault"), t.Name, show.Line(t.hook.Name), t.Does)
	p.Print("%s %s", p.In(show.Strong, "counts as"), answerLine(p, run))
	if why := report.RunWhy(run, nil); why != "" {
		p.Print(", %s", show.Line(why))
	}
	p.Print("\n%s %s\n", p.In(show.Strong, "rule"), t.rule())
	p.Print("%s after %s; the hook's limit is %s\n", p.In(show.Strong, "outcome"), took(t.took), units.FormatDuration(t.hook.Timeout))
	run.Stderr = ""
	report.Outcome(p, &t.outcome)
}

// rule returns the rule that was applied, or says why none was.
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

// showFaultTable prints a line for each fault of one hook.
func (cmd *Commands) showFaultTable(trials []*faultTrial) {
	first := trials[0]
	cmd.Console.Out.Print("%s at %s: %s hook, onFailure %s, limit %s\n", cmd.Console.Out.In(show.Name, show.Line(first.hook.Name)), show.Line(string(first.given.Event)),
		first.hook.Can, first.hook.OnFailure, units.FormatDuration(first.hook.Timeout))
	table := show.Table{Header: []string{"FAULT", "COUNTS AS", "RULE", "OUTCOME", "AFTER", "THE HOOK"}}
	for _, t := range trials {
		cells := append([]show.Cell{{Text: t.Name, Tone: show.Name}}, t.cells()...)
		table.Add(append(cells, show.Cell{Text: t.Does, Tone: show.Quiet})...)
	}
	table.Write(cmd.Console.Out)
}

// showHookTable prints a line for each hook, which all failed in one way.
func (cmd *Commands) showHookTable(trials []*faultTrial) {
	cmd.Console.Out.Print("%s %s: each hook %s\n", cmd.Console.Out.In(show.Strong, "fault"), trials[0].Name, trials[0].Does)
	table := show.Table{Header: []string{"HOOK", "EVENT", "CAN", "COUNTS AS", "RULE", "OUTCOME", "AFTER"}}
	for _, t := range trials {
		cells := []show.Cell{{Text: show.Line(t.hook.Name), Tone: show.Name}, {Text: string(t.given.Event)}, {Text: string(t.hook.Can)}}
		table.Add(append(cells, t.cells()...)...)
	}
	table.Write(cmd.Console.Out)
}

// cells returns what a fault counts as, the rule, the outcome, and how long that took.
func (t *faultTrial) cells() []show.Cell {
	run := t.run()
	text, tone := report.RunAnswer(run)
	rule := "–"
	if run.Failure != "" {
		rule = string(run.Rule)
	}
	outcome, good := "passed", show.Good
	if t.outcome.Action != protocol.Observe && t.outcome.Action != protocol.Modify {
		outcome, good = string(t.outcome.Action), show.Bad
	}
	return []show.Cell{{Text: text, Tone: tone}, {Text: rule}, {Text: outcome, Tone: good}, {Text: took(t.took)}}
}

func took(d time.Duration) string {
	return strings.TrimSpace(show.Milliseconds(float64(d) / float64(time.Millisecond)))
}
