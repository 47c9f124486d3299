//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"runtime"
	"strings"
)

// bytesUnit is how a benchmark names bytes.
const bytesUnit = "B"

// writeResults writes results in the format of Go benchmarks, a line for each
// round, so that benchstat compares two files of them.
func writeResults(w io.Writer, m *machine, results []*result) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "goos: %s\ngoarch: %s\npkg: github.com/hookd-dev/hookd/test/bench\ncpu: %s\n", runtime.GOOS, runtime.GOARCH, m.cpu)
	fmt.Fprintln(out, "Unit x-first better=lower")
	fmt.Fprintln(out, "Unit p99-ns better=lower")
	for _, r := range results {
		for i := range r.standings {
			s := &r.standings[i]
			for round, median := range s.medians {
				fmt.Fprintf(out, "%s 1 %d ns/op %d p99-ns", benchmarkName(r.contest, s.player), median.Nanoseconds(), s.tails[round].Nanoseconds())
				if len(s.ratios) > 0 && s.ratio > 0 {
					fmt.Fprintf(out, " %.4f x-first", s.ratios[round])
				}
				fmt.Fprintln(out)
			}
		}
		for _, f := range r.figures {
			fmt.Fprintf(out, "%s 1 %g %s\n", benchmarkName(r.contest, f.name), f.value, f.unit)
		}
	}
	return out.Flush()
}

// benchmarkName is such as BenchmarkHookd/plain/c/1KiB/floor-2.
func benchmarkName(contest, player string) string {
	return fmt.Sprintf("BenchmarkHookd/%s/%s-%d", contest, strings.ReplaceAll(player, " ", "_"), runtime.GOMAXPROCS(0))
}
