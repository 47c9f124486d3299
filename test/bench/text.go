//go:build unix

package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// printResult prints a contest for a person: each player's median, p99 and ratio.
func printResult(w io.Writer, r *result) {
	if r.skipped != "" {
		fmt.Fprintf(w, "%-20s not measured: %s\n", r.contest, r.skipped)
		return
	}
	for _, f := range r.figures {
		fmt.Fprintf(w, "%-20s %-22s %10s\n", r.contest, f.name, f.text())
	}
	for i := range r.standings {
		s := &r.standings[i]
		name := ""
		if i == 0 {
			name = r.contest
		}
		fmt.Fprintf(w, "%-20s %-22s %10s  p99 %10s  %7s  %6d samples\n", name, s.player, short(s.median), short(s.p99), s.ratioText(), s.samples)
	}
}

// printVerdicts prints every target beside its figure.
func printVerdicts(w io.Writer, verdicts []verdict) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nWORK\tMEASURED\tTARGET\t")
	met, measured := 0, 0
	for i := range verdicts {
		v := &verdicts[i]
		if v.measured == "" {
			continue
		}
		measured++
		if v.met {
			met++
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", v.work, v.measured, v.bound(), v.word())
	}
	if measured == 0 {
		return
	}
	table.Flush()
	fmt.Fprintf(w, "\n%d of %d targets met, %d not measured\n", met, measured, len(verdicts)-measured)
}

// short is a duration with three digits that count.
func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= 100*time.Millisecond:
		return fmt.Sprintf("%.0f ms", d.Seconds()*1e3)
	case d >= time.Millisecond:
		return fmt.Sprintf("%.2f ms", d.Seconds()*1e3)
	case d >= 10*time.Microsecond:
		return fmt.Sprintf("%.0f µs", d.Seconds()*1e6)
	}
	return fmt.Sprintf("%.2f µs", d.Seconds()*1e6)
}

// ratioText is a ratio with the digits that count, "" of whom others are
// compared with.
func (s *standing) ratioText() string {
	switch {
	case s.ratio == 0:
		return ""
	case s.ratio < 0.1:
		return fmt.Sprintf("%.3f", s.ratio)
	}
	return fmt.Sprintf("%.2f", s.ratio)
}

func (f *figure) text() string {
	if f.unit == bytesUnit {
		return fmt.Sprintf("%.1f MB", f.value/1e6)
	}
	return fmt.Sprintf("%g", f.value)
}
