package main

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/protocol"
)

func newLog(a *app) *cobra.Command {
	var follow, head bool
	var session string
	c := &cobra.Command{
		Use:   "log",
		Short: "show what was decided, as a timeline",
		Long: `Show what was decided, as a timeline: the newest record, or one session's.

--head prints the newest line's hash: kept elsewhere, it is evidence of all lines
up to it. A place where a record is not what was once written is shown as such.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			state, err := stateDir()
			if err != nil {
				return err
			}
			dir := filepath.Join(state, "records")
			names, err := recordNames(dir, session)
			if err != nil {
				return err
			}
			if head {
				return a.logHeads(dir, names)
			}
			if len(names) == 0 {
				return usage("no-records", "nothing was decided yet", "hookd fire EVENT decides something")
			}
			return a.logLines(c.Context(), dir, names[len(names)-1], follow)
		},
	}
	c.Flags().BoolVar(&follow, "follow", false, "go on with what is decided from now on")
	c.Flags().BoolVar(&head, "head", false, "print the hash of the newest line of each record")
	nameFlag(c, &session, "session", "", "only session `ID` (or a day, 2026-11-27)")
	a.jsonFlag(c)
	return c
}

// recordNames are the records to show: all, the one written last at the end.
func recordNames(dir, session string) ([]string, error) {
	if session != "" {
		return []string{session}, nil
	}
	names, err := record.Names(dir)
	if err != nil {
		return nil, failed("records", err, "")
	}
	return names, nil
}

func (a *app) logHeads(dir string, names []string) error {
	for _, name := range names {
		head, err := record.HeadOf(dir, name)
		if err != nil {
			return failed("records", err, "")
		}
		if a.json {
			if err := a.printJSON(head); err != nil {
				return err
			}
			continue
		}
		a.out.Print("%s  line %d  %s\n", show.Line(head.Name), head.N, head.Hash)
	}
	return nil
}

// logLines prints a record, and with follow what is added to it.
func (a *app) logLines(ctx context.Context, dir, name string, follow bool) error {
	lines := record.Read(dir, name)
	if follow {
		lines = record.Follow(ctx, dir, name)
	}
	if !a.json {
		a.out.Print("%s\n", a.out.In(show.Strong, "record "+show.Line(name)))
	}
	a.logRecord(lines)
	return nil
}

func (a *app) logRecord(lines iter.Seq2[*record.Line, *record.Problem]) {
	var sum tally
	defer func() { sum.show(a) }()
	timeline := logView{p: a.out}
	for line, problem := range lines {
		if problem != nil {
			a.err.Print("%s %s\n", a.err.In(show.Bad, "!"), show.Line(problem.Error()))
		}
		if line != nil {
			sum.add(line)
		}
		switch {
		case line == nil:
		case a.json:
			a.out.Raw(string(line.Raw) + "\n")
		default:
			timeline.line(line)
		}
	}
}

// tally counts what a record tells, so that a check which fails day after day
// is a number and not a line among thousands.
type tally struct{ events, refused, failures int }

func (s *tally) add(line *record.Line) {
	switch line.Kind {
	case record.KindEvent:
		var e record.Event
		if line.Decode(&e) != nil {
			return
		}
		s.events++
		if e.Action == protocol.Block || e.Action == protocol.Stop {
			s.refused++
		}
		for i := range e.Runs {
			s.count(&e.Runs[i])
		}
	case record.KindLate:
		var l record.Late
		if line.Decode(&l) == nil {
			s.count(&l.Run)
		}
	}
}

func (s *tally) count(run *protocol.Run) {
	if run.Failure != "" && run.Failure != protocol.FailAborted {
		s.failures++
	}
}

func (s *tally) show(a *app) {
	if a.json || s.events == 0 {
		return
	}
	text := fmt.Sprintf("%s, %d refused, %s without an answer", plural(s.events, "event"), s.refused, plural(s.failures, "hook run"))
	a.out.Print("%s\n", a.out.In(show.Quiet, text))
}
