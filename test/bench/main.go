//go:build unix

// Command bench compares hookd with what the machine needs at the least. `make
// bench` runs all rows, which takes about 15 minutes; one row is run by its name:
//
//	go run ./test/bench -run serve/1
//	go run ./test/bench -list
//
// rows.go is the table of rows and of their targets. In each row players take turns in
// short bursts (race.go), a C program or another yardstick first among them, and a
// ratio is taken inside one round, so that a busy machine changes all players alike.
// events.go, load.go, bridge.go, mcp.go, memory.go and abort.go say what the players do, project.go makes the
// projects with hooks that they work in, programs.go builds hooks and yardsticks,
// peer.go talks with those. report.go prints, and writes a file for benchstat; page.go
// writes the page, with the reasons in reasons.go; stored.go keeps what the page needs in
// the file for benchstat, so that the page can be written again without measuring:
//
//	go run ./test/bench -from bin/bench.txt -doc docs/benchmarks.md
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"
	"time"

	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
)

func main() { os.Exit(start()) }

func start() int {
	if len(os.Args) > 1 && os.Args[1] == heapArgument {
		return heapProcess(os.Args[2:])
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	o, err := parse(os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

// options say what is measured and where it goes.
type options struct {
	run     *regexp.Regexp
	list    bool
	pace    pace
	out     io.Writer // for the person who waits
	from    string    // such a file of an earlier run: nothing is measured
	results string    // file in the format of Go benchmarks
	page    string    // file in Markdown; its plot lies next to it
}

func parse(args []string, out io.Writer) (*options, error) {
	o := &options{out: out}
	var only, speed string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&only, "run", "", "measure only the rows that `REGEXP` matches, such as serve/1")
	flags.BoolVar(&o.list, "list", false, "print the names of all rows and measure nothing")
	flags.StringVar(&speed, "pace", "full", "full (about 15 minutes), quick (1 minute) or smoke (seconds, means nothing)")
	flags.StringVar(&o.from, "from", "", "measure nothing and take the results that -o wrote to `FILE`")
	flags.StringVar(&o.results, "o", "", "write results for benchstat to `FILE`")
	flags.StringVar(&o.page, "doc", "", "write the table to the Markdown `FILE`, and the plot next to it")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q; -run takes the name of a row", flags.Arg(0))
	}
	if o.from != "" && o.results != "" {
		return nil, errors.New("-from measures nothing, so there is nothing for -o to write")
	}
	var err error
	if o.run, err = regexp.Compile(only); err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}
	var known bool
	if o.pace, known = paces[speed]; !known {
		return nil, fmt.Errorf("-pace is %q, not full, quick or smoke", speed)
	}
	return o, nil
}

func run(ctx context.Context, o *options) error {
	if o.list {
		for _, r := range rows() {
			fmt.Fprintln(o.out, r.name)
		}
		return nil
	}
	if o.from != "" {
		m, err := readStored(o.from)
		if err != nil {
			return err
		}
		return report(o, m)
	}
	k, err := newKit(o.pace)
	if err != nil {
		return err
	}
	results, err := measureAll(ctx, o, k)
	containment := string(k.runtime.Containment().Kind)
	if err := errors.Join(err, k.close()); err != nil {
		return err
	}
	return report(o, measurement{machine: thisMachine(containment), date: time.Now().UTC().Format(time.DateOnly), results: results})
}

// measureAll measures every row that is asked for, and prints each as it ends.
func measureAll(ctx context.Context, o *options, k *kit) ([]*result, error) {
	var results []*result
	for _, row := range rows() {
		if !o.run.MatchString(row.name) {
			continue
		}
		r, err := measure(ctx, k, row)
		var why skip
		if errors.As(err, &why) {
			r, err = &result{skipped: why.Error()}, nil
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", row.name, err)
		}
		r.row = row
		printResult(o.out, r)
		results = append(results, r)
	}
	if len(results) == 0 {
		return nil, errors.New("-run names no row; -list shows them")
	}
	return results, nil
}

func measure(ctx context.Context, k *kit, row row) (*result, error) {
	race, err := row.prepare(ctx, k)
	if err != nil {
		return nil, errors.Join(err, k.closeRow())
	}
	runtime.GC() // what the preparation left must not be collected during the race
	r, err := race.run(ctx, k.pace)
	return r, errors.Join(err, k.closeRow())
}

// skip is why something cannot be measured on this machine.
type skip struct{ error }

func skipf(format string, args ...any) error { return skip{fmt.Errorf(format, args...)} }

// kit is what rows are made with.
type kit struct {
	pace    pace
	folder  string // everything is made below it, and it is removed at the end
	runtime *process.Runtime
	pool    *exechook.Pool
	built   map[string]string // programs, by name
	spawner *peer             // the C program that starts programs
	row     []func() error    // what the row at hand has opened
}

func newKit(p pace) (*kit, error) {
	os.Unsetenv(hookenv.VarDepth)                     // below a hook nothing may be allowed
	runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0))) // as hookd serve and hookd run do
	folder, err := os.MkdirTemp("", "hookd-bench-")
	if err != nil {
		return nil, err
	}
	k := &kit{pace: p, folder: folder, built: map[string]string{}}
	if k.runtime, err = process.New(process.Options{LongLived: true, Processes: 4096}); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	k.pool = exechook.NewPool(k.runtime)
	return k, nil
}

// atEnd has f called when the row has been measured.
func (k *kit) atEnd(f func() error) { k.row = append(k.row, f) }

func (k *kit) closeRow() error {
	var errs []error
	for _, f := range k.row {
		errs = append(errs, f())
	}
	k.row = nil
	return errors.Join(errs...)
}

func (k *kit) close() error {
	errs := []error{k.pool.Close(), k.runtime.Close()}
	if k.spawner != nil {
		errs = append(errs, k.spawner.close())
	}
	return errors.Join(append(errs, os.RemoveAll(k.folder))...)
}
