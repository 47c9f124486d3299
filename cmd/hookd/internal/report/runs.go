package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
)

// NotAsked prints why no hook answered an event, so that nobody takes passing for consent.
// It prints nothing if observers are for the event: what they do is not known yet.
func NotAsked(p *show.Printer, hooks []*executor.Hook) {
	if len(hooks) == 0 {
		p.Print("  %s\n", p.In(show.Quiet, "no hook is for this event"))
		return
	}
	var names, off []string
	for _, h := range hooks {
		switch {
		case h.Status != executor.Ready:
			off = append(off, show.Line(h.Name))
		case h.Can == protocol.CanObserve || h.Mode == protocol.Audit:
			return
		default:
			names = append(names, show.Line(h.Name))
		}
	}
	if len(off) > 0 {
		p.Print("  %s\n", p.In(show.Quiet, "not asked, since they do not run: "+show.Shorten(strings.Join(off, " "), 200)+" (hookd list says why)"))
	}
	if len(names) > 0 {
		p.Print("  %s\n", p.In(show.Quiet, "not asked, by what they match: "+show.Shorten(strings.Join(names, " "), 200)+" (--explain says more)"))
	}
}

// Runs prints every hook of the event in running order and what became of
// it: the explanation.
func Runs(p *show.Printer, runs []protocol.Run, hooks []*executor.Hook) {
	if len(runs) == 0 {
		p.Print("  no hooks are for this event\n")
		return
	}
	table := show.Table{Header: []string{"  #", "HOOK", "LAYER", "CAN", "ANSWER", "TIME", "WHY"}}
	for i := range runs {
		run := &runs[i]
		answer, tone := RunAnswer(run)
		took := ""
		if run.Skipped == "" {
			took = show.Milliseconds(run.TookMs)
		}
		table.Add(
			show.Cell{Text: fmt.Sprintf("  %d", i+1), Tone: show.Quiet}, show.Cell{Text: run.Hook, Tone: show.Name},
			show.Cell{Text: string(run.Source)}, show.Cell{Text: string(run.Class)},
			show.Cell{Text: answer, Tone: tone}, show.Cell{Text: took, Tone: show.Quiet}, show.Cell{Text: show.Shorten(RunWhy(run, hooks), 100)},
		)
	}
	table.Write(p)
}

// RunAnswer returns what a hook answered, in a word or two.
func RunAnswer(run *protocol.Run) (string, show.Tone) {
	switch {
	case run.Skipped != "":
		return "– " + string(run.Skipped), show.Quiet
	case run.Failure != "":
		return "failed: " + string(run.Failure), show.Warn
	case run.Mode == protocol.Audit:
		return "would " + string(run.Would), show.Quiet
	}
	switch run.Action {
	case protocol.Block, protocol.Stop:
		return string(run.Action), show.Bad
	case protocol.Observe:
		return string(run.Action), show.Plain
	}
	return string(run.Action), show.Warn
}

// notMatched says by which of its own conditions a hook is not asked.
func notMatched(h *executor.Hook) string {
	var conditions []string
	if match := matchText(h.Match); match != "" {
		conditions = append(conditions, "its match is "+match)
	}
	if f := h.Foreign(); f != nil {
		as := "as " + f.Title + " has it, it is asked at " + strings.Join(h.Named, " ")
		if h.Matcher != "" {
			as += " about " + h.Matcher
		}
		conditions = append(conditions, as)
	}
	return strings.Join(conditions, "; ")
}

// RunWhy returns the reason of a run: why the hook answered so, failed or was not asked.
func RunWhy(run *protocol.Run, hooks []*executor.Hook) string {
	switch {
	case run.Skipped == protocol.SkipAbsent:
		return run.Detail
	case run.Skipped == protocol.SkipNoMatch:
		i := slices.IndexFunc(hooks, func(h *executor.Hook) bool { return h.Name == run.Hook && h.Layer == run.Source })
		if i >= 0 {
			return notMatched(hooks[i])
		}
	case run.Failure != "":
		return strings.TrimPrefix(run.Detail, run.Hook+": ")
	case run.Reason != "" && run.ByExit && run.Exit != nil:
		return fmt.Sprintf("%s (exit code %d)", run.Reason, *run.Exit)
	case run.Reason != "":
		return run.Reason
	case len(run.Changed) > 0:
		return "changed " + strings.Join(run.Changed, " ")
	}
	return ""
}
