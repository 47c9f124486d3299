//go:build unix

package main

import (
	"fmt"
	"io"
	"time"
)

// printResult prints a contest for a person: each player's median, p99 and ratio.
func printResult(w io.Writer, r *result) {
	if r.skipped != "" {
		fmt.Fprintf(w, "%-26s not measured: %s\n", r.contest, r.skipped)
		return
	}
	for _, f := range r.figures {
		fmt.Fprintf(w, "%-26s %-22s %s\n", r.contest, f.name, f.text())
	}
	for i := range r.standings {
		s := &r.standings[i]
		name, ratio := "", ""
		if i == 0 {
			name = r.contest
		} else if s.ratio > 0 {
			ratio = fmt.Sprintf("%.2f", s.ratio)
		}
		fmt.Fprintf(w, "%-26s %-22s %10s  p99 %10s  %7s  %d samples\n", name, s.player, short(s.median), short(s.p99), ratio, s.samples)
	}
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

func (f *figure) text() string {
	if f.unit == "B" {
		return fmt.Sprintf("%.1f MB", f.value/1e6)
	}
	return fmt.Sprintf("%g", f.value)
}
