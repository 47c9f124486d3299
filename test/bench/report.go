//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// bytesUnit is how a benchmark names bytes.
const bytesUnit = "B"

// report prints the targets, and writes the results and the page to the files that the
// options name.
func report(o *options, m measurement) error {
	printTargets(o.out, m.results)
	if o.results != "" {
		var text bytes.Buffer
		writeResults(&text, m.results)
		if err := m.store(&text); err != nil {
			return err
		}
		if err := os.WriteFile(o.results, text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if o.page == "" {
		return nil
	}
	plot := strings.TrimSuffix(o.page, filepath.Ext(o.page)) + ".svg"
	if err := os.WriteFile(plot, drawPlot(m.results), 0o644); err != nil {
		return err
	}
	return os.WriteFile(o.page, m.page(filepath.Base(plot)), 0o644)
}

// thisMachine is what was measured on. It names no host and no path.
func thisMachine(containment string) string {
	cpu, memory, system := runtime.GOARCH, "", runtime.GOOS
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if found := regexp.MustCompile(`(?m)^model name\s*:\s*(.+)$`).FindSubmatch(text); found != nil {
			cpu = string(found[1])
		}
	}
	if total, err := kilobytes("/proc/meminfo", "MemTotal:"); err == nil {
		memory = fmt.Sprintf(", %.0f GB", total/1e9)
	}
	if text, err := exec.Command("uname", "-sr").Output(); err == nil {
		// What a builder of the kernel put after its version says nothing here.
		system, _, _ = strings.Cut(strings.TrimSpace(string(text)), "-")
	}
	return fmt.Sprintf("%s, %d processors%s, %s, %s, containment %s", cpu, runtime.NumCPU(), memory, system, runtime.Version(), containment)
}

func printResult(w io.Writer, r *result) {
	if r.skipped != "" {
		fmt.Fprintf(w, "%-18s not measured: %s\n", r.row.name, r.skipped)
		return
	}
	for _, f := range r.figures {
		fmt.Fprintf(w, "%-18s %-14s %10s\n", r.row.name, f.name, f.text())
	}
	for i, s := range r.standings {
		compared := ""
		if i > 0 {
			compared = ratioText(s.ratio) + " × " + s.against
		}
		fmt.Fprintf(w, "%-18s %-14s %10s  p99 %10s  %6d samples  %s\n", r.row.name, s.player, short(s.median), short(s.p99), s.samples, compared)
	}
}

// verdict returns the figure that a target is about, and whether it holds.
func (t target) verdict(r *result) (measured, word string) {
	value, ok := t.value(r)
	switch {
	case !ok:
		return "–", "not measured"
	case t.holds(value):
		return t.text(value), "met"
	}
	return t.text(value), "missed"
}

func printTargets(w io.Writer, results []*result) {
	words := map[string]int{}
	for _, r := range results {
		for _, t := range r.row.targets {
			measured, word := t.verdict(r)
			words[word]++
			fmt.Fprintf(w, "%-18s %-10s %12s %12s  %s\n", r.row.name, t.player, measured, t.bound(), word)
		}
	}
	fmt.Fprintf(w, "%d targets met, %d missed, %d not measured\n", words["met"], words["missed"], words["not measured"])
}

// writeResults writes a line for each player and round in the format of Go benchmarks,
// so that benchstat compares two files of them.
func writeResults(w io.Writer, results []*result) {
	out := bufio.NewWriter(w)
	defer out.Flush()
	fmt.Fprintf(out, "goos: %s\ngoarch: %s\npkg: github.com/hookd-dev/hookd/test/bench\n", runtime.GOOS, runtime.GOARCH)
	fmt.Fprint(out, "Unit x-floor better=lower\nUnit p99-ns better=lower\n")
	for _, r := range results {
		name := func(player string) string {
			return fmt.Sprintf("BenchmarkHookd/%s/%s-%d 1", r.row.name, strings.ReplaceAll(player, " ", "_"), runtime.GOMAXPROCS(0))
		}
		for _, s := range r.standings {
			for round, median := range s.medians {
				fmt.Fprintf(out, "%s %d ns/op %d p99-ns", name(s.player), median.Nanoseconds(), s.tails[round].Nanoseconds())
				if len(s.ratios) > 0 {
					fmt.Fprintf(out, " %.4f x-floor", s.ratios[round])
				}
				fmt.Fprintln(out)
			}
		}
		for _, f := range r.figures {
			fmt.Fprintf(out, "%s %g %s\n", name(f.name), f.value, f.unit)
		}
	}
}

func (r *result) standing(player string) *standing {
	for i := range r.standings {
		if r.standings[i].player == player {
			return &r.standings[i]
		}
	}
	return nil
}

func lookUp(results []*result, row, player string) *standing {
	for _, r := range results {
		if r.row.name == row {
			return r.standing(player)
		}
	}
	return nil
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

// ratioText is a ratio with the digits that count.
func ratioText(ratio float64) string {
	if ratio < 0.1 {
		return fmt.Sprintf("%.3f", ratio)
	}
	return fmt.Sprintf("%.2f", ratio)
}

func (f figure) text() string {
	if f.unit == bytesUnit {
		return fmt.Sprintf("%.1f MB", f.value/1e6)
	}
	return fmt.Sprintf("%g %s", f.value, f.unit)
}

// series is one way of running a hook, in the colour it has in the plot.
type series struct{ name, colour, row, player string } // %s of row is the language

var plotSeries = []series{
	{"floor: bare spawn", "#8a8f98", "plain/%s/1KiB", floor},
	{"hookd, once per event", "#2f6fb5", "plain/%s/1KiB", ours},
	{"standby", "#d98a1f", "standby/%s", ours},
	{"resident", "#3c9a5f", "resident/%s", ours},
}

const (
	plotWidth, plotLeft, plotRight = 860, 90, 90
	barHeight, groupGap, plotTop   = 18, 18, 84
	plotLow, plotHigh              = 10 * time.Microsecond, time.Second
)

// drawPlot draws the time to the answer for an event of 1 KiB, by language and mode.
// The axis is logarithmic: a start of Node and an answer of a resident hook are three
// powers of ten apart.
func drawPlot(results []*result) []byte {
	var bars bytes.Buffer
	x := func(d time.Duration) float64 {
		part := math.Log10(float64(max(d, plotLow))/float64(plotLow)) / math.Log10(float64(plotHigh)/float64(plotLow))
		return plotLeft + (plotWidth-plotLeft-plotRight)*min(1, part)
	}
	y := plotTop
	for _, language := range languages {
		top := y
		for _, s := range plotSeries {
			row := s.row
			if strings.Contains(row, "%s") {
				row = fmt.Sprintf(row, language)
			}
			if standing := lookUp(results, row, s.player); standing != nil {
				fmt.Fprintf(&bars, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", plotLeft, y, x(standing.median)-plotLeft, barHeight-3, s.colour)
				fmt.Fprintf(&bars, `<text x="%.1f" y="%d" class="value">%s</text>`+"\n", x(standing.median)+6, y+barHeight-6, short(standing.median))
				y += barHeight
			}
		}
		if y > top {
			fmt.Fprintf(&bars, `<text x="%d" y="%d" text-anchor="end" class="name">%s</text>`+"\n", plotLeft-12, (top+y)/2+3, language)
			y += groupGap
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n", plotWidth, y+30, plotWidth, y+30)
	out.WriteString("<style>.name{font-weight:bold}.value,.tick{font-size:12px;fill:#444}</style>\n")
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", plotWidth, y+30)
	fmt.Fprintf(&out, `<text x="%d" y="28" font-size="17" font-weight="bold">Time to the answer, event of 1 KiB (median, logarithmic)</text>`+"\n", plotLeft)
	for i, s := range plotSeries {
		left := plotLeft + i*180
		fmt.Fprintf(&out, `<rect x="%d" y="44" width="13" height="13" fill="%s"/><text x="%d" y="55">%s</text>`+"\n", left, s.colour, left+19, s.name)
	}
	for tick := plotLow; tick <= plotHigh; tick *= 10 {
		fmt.Fprintf(&out, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#dddddd"/><text x="%.1f" y="%d" text-anchor="middle" class="tick">%s</text>`+"\n",
			x(tick), plotTop-8, x(tick), y, x(tick), y+16, tick)
	}
	out.Write(bars.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}
