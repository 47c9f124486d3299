package logcmd

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/internal/text"
)

// logFlags are the flags of `hookd log`.
type logFlags struct {
	follow, head, all bool
	would             bool
	session           string
	most              int // events that are shown, the newest; 0 for all
	filter            filter
}

// usualMost is how many events a person is shown without a flag.
const usualMost = 100

// Commands are hookd log.
type Commands struct {
	Console *cli.Console
	Project *places.Project
}

// Log returns hookd log.
func (cmd *Commands) Log() *cobra.Command {
	var f logFlags
	var since, event, tool string
	c := &cobra.Command{
		Use:   "log [ID]",
		Short: "Show what was decided, as a timeline, or one event whole",
		Long: `Show what was decided in this project, as a timeline: the newest events of its newest
record, or of one session's. With --refused, --would, --hook, --event, --tool or
--since, of all records of the project.

hookd log ID shows one event whole: what each hook answered and wrote to stderr, how
long it took, and what was changed. The ID stands in each line of the timeline; any
beginning of an event's ID will do, or any end of at least four characters.

What was asked is told as far as the record may hold it (hooks.records.values): of a
command its program, with full the whole command or the file.

--would counts what hooks in audit mode would have refused: with hookd install --monitor
all hooks of an agent, else those that say mode: audit.

--head prints the newest line's hash: kept elsewhere, it is evidence of all lines
up to it. A place where a record is not what was once written is shown as such.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if f.filter.since, err = parseSince(since); err != nil {
				return err
			}
			if err := f.filter.parse(event, tool); err != nil {
				return err
			}
			if f.most < 0 {
				return cli.Usage("usage", "--last takes a number of events, not "+strconv.Itoa(f.most), "-n 20, or -n 0 for all")
			}
			if !c.Flags().Changed("last") && cmd.Console.JSON {
				f.most = 0 // a program gets all
			}
			if len(args) == 1 {
				return cmd.logEvent(args[0], f)
			}
			return cmd.log(c.Context(), f)
		},
	}
	c.Flags().BoolVar(&f.follow, "follow", false, "show also what is decided from now on, until interrupted")
	c.Flags().BoolVar(&f.head, "head", false, "print the hash of the newest line of each record")
	c.Flags().BoolVar(&f.all, "all", false, "show the records of all projects")
	c.Flags().BoolVar(&f.filter.refused, "refused", false, "show only what was refused or left to a person")
	c.Flags().BoolVar(&f.would, "would", false, "show what hooks in audit mode would have refused, and how often")
	cli.NameFlag(c.Flags(), &f.filter.hook, "hook", "", "show only events in which the hook `NAME` had a part")
	cli.NameFlag(c.Flags(), &event, "event", "", "show only events of this `NAME`")
	cli.NameFlag(c.Flags(), &tool, "tool", "", "show only calls of a tool, by `NAME`, glob or kind: bash, mcp__*, @write")
	c.Flags().IntVarP(&f.most, "last", "n", usualMost, "show the last `N` events at most; 0 for all (default with --json)")
	cli.NameFlag(c.Flags(), &since, "since", "", "show only what was decided since `TIME`: 2h, 3d, 2026-11-27, or a time like 2026-11-27T15:04:05Z")
	cli.NameFlag(c.Flags(), &f.session, "session", "", "show only session `ID`, by its ID or a unique prefix, or a day such as 2026-11-27")
	for _, other := range []string{"follow", "head", "refused", "event", "tool", "last"} {
		cli.Exclusive(c, "would", other)
	}
	cmd.Console.JSONFlag(c)
	return c
}

func (cmd *Commands) log(ctx context.Context, f logFlags) error {
	state, err := places.StateDir()
	if err != nil {
		return err
	}
	for _, monitored := range engine.MonitorTexts(state) {
		cmd.Console.Note(monitored, engine.MonitorRemedy())
	}
	dir := filepath.Join(state, "records")
	names, err := record.Names(dir)
	if err != nil {
		return cli.Failed("records", err, "")
	}
	if f.session != "" { // which belongs to the project that it belongs to
		name, err := findRecord(names, f.session)
		if err != nil {
			return err
		}
		names, f.all = []string{name}, true
	}
	if f.head {
		return cmd.logHeads(dir, names)
	}
	if !f.all {
		trust, err := cmd.Project.OpenTrust()
		if err != nil {
			return err
		}
		f.filter.project = trust.Project()
		f.filter.here = true
	}
	if len(names) == 0 {
		return cli.Usage("no-records", "nothing was decided yet", "hookd fire EVENT decides something")
	}
	if names = f.chosen(dir, names); len(names) == 0 {
		return cli.Usage("no-records", "nothing was decided in this project yet", "hookd fire EVENT decides something; hookd log --all shows other projects")
	}
	if f.would {
		return cmd.logWould(dir, names, f.filter)
	}
	shown := cmd.logRecords(ctx, dir, names, f)
	if shown == 0 && f.filter.selects() {
		cmd.Console.Note("no record fits", "hookd log without a filter shows the newest record, hookd list the names of hooks")
	}
	return nil
}

// chosen returns the records to show: the newest that tells of the project, or all that do
// where some of their lines are looked for.
func (f *logFlags) chosen(dir string, names []string) []string {
	var chosen []string
	for i := len(names) - 1; i >= 0; i-- {
		if !f.filter.tellsOf(dir, names[i]) {
			continue
		}
		chosen = append([]string{names[i]}, chosen...)
		if !f.filter.selects() && !f.would {
			break
		}
	}
	return chosen
}

func (cmd *Commands) logHeads(dir string, names []string) error {
	for _, name := range names {
		head, err := record.HeadOf(dir, name)
		if err != nil {
			return cli.Failed("records", err, "")
		}
		if cmd.Console.JSON {
			if err := cmd.Console.PrintJSON(head); err != nil {
				return err
			}
			continue
		}
		cmd.Console.Out.Print("%s  line %d  %s\n", show.Line(head.Name), head.N, head.Hash)
	}
	return nil
}

// logRecords prints the lines of records that pass the filter, the newest events of them
// at most, and returns how many lines there are.
func (cmd *Commands) logRecords(ctx context.Context, dir string, names []string, f logFlags) (shown int) {
	found := newest{most: f.most, filter: &f.filter}
	if f.most > 0 {
		found.read(dir, names)
		if found.more && !cmd.Console.JSON {
			cmd.Console.Out.Print("%s\n", cmd.Console.Out.In(show.Quiet, fmt.Sprintf("the last %s; hookd log -n 0 shows all", text.Count(f.most, "event"))))
		}
	}
	for i, name := range names {
		last := i == len(names)-1
		lines, upTo := record.Read(dir, name), int64(0)
		if f.most > 0 {
			lines, upTo = found.lines(name)
		}
		if f.follow && last {
			coming := after(record.Follow(ctx, dir, name), upTo)
			if lines = then(lines, coming); f.most == 0 {
				lines = coming
			}
		}
		shown += cmd.logRecord(name, lines, f.filter)
	}
	return shown
}

// logRecord prints the lines of a record that pass the filter and returns how many there
// are.
func (cmd *Commands) logRecord(name string, lines iter.Seq2[*record.Line, *record.Problem], filter filter) (shown int) {
	var sum tally
	timeline := timeline{p: cmd.Console.Out}
	begun := cmd.Console.JSON
	for line, problem := range lines {
		if problem != nil {
			cmd.Console.Err.Print("%s %s\n", cmd.Console.Err.In(show.Bad, "!"), show.Line(problem.Error()))
		}
		if line == nil || !filter.passes(line) {
			continue
		}
		if !begun {
			begun = true
			title := "record " + show.Line(name)
			if day := line.Time.Local().Format(time.DateOnly); day != name {
				title += ", " + day
			}
			cmd.Console.Out.Print("%s\n", cmd.Console.Out.In(show.Strong, title))
		}
		shown++
		sum.add(line)
		if cmd.Console.JSON {
			cmd.Console.Out.Raw(string(line.Raw) + "\n")
		} else {
			timeline.line(line)
		}
	}
	if !cmd.Console.JSON {
		sum.show(cmd.Console.Out)
	}
	return shown
}
