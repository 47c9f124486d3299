//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const documentHead = `# Benchmarks

What hookd costs, beside what the machine needs at the least. Every figure here was
written by one run of ` + "`make bench`" + ` (about ten minutes); ` + "`BENCH=quick make bench`" + ` takes
one minute and prints, and does not write this page. One row is measured by its name:

<!-- not run: needs a clone and a C compiler, and takes minutes -->
` + "```sh" + `
go run ./test/bench -list
go run ./test/bench -run plain/c/1KiB
make bench-compare OLD=before.txt NEW=bin/bench.txt
` + "```" + `

The last line compares two result files with benchstat; ` + "`make bench`" + ` leaves its own in
` + "`bin/bench.txt`" + `.

## How it is measured

In each contest players take turns in short bursts. The first player is the yardstick,
mostly the **floor**: a C program that does nothing but posix_spawn with two pipes, write,
read to end of file and wait. A ratio is taken inside one round of bursts, and a figure is
the median of %d rounds, so that what else the machine does meets all players alike.

- **bare** is package ` + "`executor/process`" + ` alone, holding no more than a process group.
- **default** is the executor with everything that is on by default: a project whose hooks
  were allowed, containment, records, a session. Hooks have nothing to say.
- **standby** and **resident** are those modes of a hook that answers with the event's id;
  **spawn** is the floor starting that same hook, and **once** its plain mode.
- A hook in C uses no C library, since glibc's start is most of such a hook; **glibc** is the
  same with it. A hook in sh does not read an event of 1 KiB, and hands a larger one to cat.
- Aborts are measured with ` + "`hooks.grace`" + ` 0: with a grace time, a program that ignores TERM
  lives as long as that says.
- Files that change are helpers of five allowed hooks, 999 each.

`

// writeDocument writes the page and, beside it, its plot.
func writeDocument(file string, m *machine, p pace, results []*result, now time.Time) error {
	plot := strings.TrimSuffix(file, filepath.Ext(file)) + ".svg"
	if err := os.WriteFile(plot, drawPlot(results), 0o644); err != nil {
		return err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, documentHead, p.rounds)
	fmt.Fprintf(&out, "Machine: %s, %d cores, %s of memory, %s, %s, containment %s. Date: %s.\n\n",
		m.cpu, m.cores, m.memory, m.system, m.goVersion, m.containment, now.UTC().Format(time.DateOnly))
	fmt.Fprintf(&out, "![Time to the answer for each way of running a hook](%s)\n\n", filepath.Base(plot))
	documentTargets(&out, judge(results))
	documentResults(&out, results)
	return os.WriteFile(file, out.Bytes(), 0o644)
}

func documentTargets(out *bytes.Buffer, verdicts []verdict) {
	out.WriteString("## Targets\n\n| work | measured | target | |\n|---|---|---|---|\n")
	for i := range verdicts {
		v := &verdicts[i]
		word := v.word()
		if !v.met {
			word = "**" + word + "**"
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", v.work, orDash(v.measured), v.bound(), word)
	}
	documentReasons(out, verdicts)
}

// documentReasons says why targets were not met.
func documentReasons(out *bytes.Buffer, verdicts []verdict) {
	begun := false
	for i := range verdicts {
		v := &verdicts[i]
		if v.met || v.measured == "" {
			continue
		}
		if !begun {
			out.WriteString("\nWhy some are not met; a profile of each, on the machine named above:\n\n")
			begun = true
		}
		why := reasons[v.work]
		if why == "" {
			why = "no reason is known; another run may meet it, as figures near their target differ from run to run."
		}
		fmt.Fprintf(out, "- **%s.** %s\n", v.work, why)
	}
}

func documentResults(out *bytes.Buffer, results []*result) {
	out.WriteString("\n## All figures\n\nA ratio is to the first player of the contest, or to the one that is named behind it.\n\n")
	out.WriteString("| contest | player | median | p99 | ratio | samples |\n|---|---|---|---|---|---|\n")
	for _, r := range results {
		for i := range r.standings {
			s := &r.standings[i]
			ratio := orDash(s.ratioText())
			if s.against != "" {
				ratio += " to " + s.against
			}
			fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %d |\n", r.contest, s.player, short(s.median), short(s.p99), ratio, s.samples)
		}
		for _, f := range r.figures {
			fmt.Fprintf(out, "| %s | %s | %s | – | – | 1 |\n", r.contest, f.name, f.text())
		}
		if r.skipped != "" {
			fmt.Fprintf(out, "| %s | not measured: %s | – | – | – | 0 |\n", r.contest, r.skipped)
		}
	}
	out.WriteString("\nWhat the contests are:\n\n")
	for _, r := range results {
		fmt.Fprintf(out, "- `%s`: %s\n", r.contest, r.about)
	}
}

func orDash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}
