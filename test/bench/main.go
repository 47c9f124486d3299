//go:build unix

// Command bench measures hookd against what the machine needs at the least, and
// prints each figure beside its target. `make bench` runs all of it; one row of
// it is run by name:
//
//	go run ./test/bench -run plain/c/1KiB
//	go run ./test/bench -list
//
// Every contest has players that take turns in short bursts, a C program that
// only spawns (the floor) or another yardstick first among them. A ratio is
// taken inside one round of bursts, and a figure is the median of the rounds, so
// that a busy machine changes all players alike.
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
	"syscall"
)

func main() { os.Exit(start()) }

func start() int {
	if len(os.Args) > 1 && os.Args[1] == childArgument {
		return child(os.Args[2:])
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	o, err := parse(os.Args[1:])
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
	run      *regexp.Regexp
	out      io.Writer // for the person who waits
	results  string    // file in the format of Go benchmarks
	document string    // file in Markdown; its plot lies beside it
	list     bool
	pace     pace
}

// paces are how long all of it takes: about ten minutes, one, or a few seconds.
var paces = map[string]pace{
	"full":  {rounds: 5, turns: 4, scale: 1, most: 400},
	"quick": {rounds: 3, turns: 2, scale: 0.1, most: 100},
	"smoke": {rounds: 1, turns: 1, scale: 0, most: 1},
}

func parse(args []string) (*options, error) {
	o := &options{out: os.Stdout}
	var only, speed string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&only, "run", "", "measure only what `REGEXP` matches, such as plain/c/1KiB")
	flags.BoolVar(&o.list, "list", false, "print the names of all contests and measure nothing")
	flags.StringVar(&speed, "pace", "full", "full (about 10 minutes), quick (1 minute) or smoke (seconds, means nothing)")
	flags.StringVar(&o.results, "o", "", "write results for benchstat to `FILE`")
	flags.StringVar(&o.document, "doc", "", "write the tables to the Markdown `FILE`, and the plot beside it")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q; -run takes the name of a contest", flags.Arg(0))
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
