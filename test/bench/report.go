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

// report writes results where they are asked for, and prints the targets.
func report(o *options, machine string, results []*result) error {
	printTargets(o.out, results)
	if o.results != "" {
		var text bytes.Buffer
		writeResults(&text, results)
		if err := os.WriteFile(o.results, text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if o.page == "" {
		return nil
	}
	plot := strings.TrimSuffix(o.page, filepath.Ext(o.page)) + ".svg"
	if err := os.WriteFile(plot, drawPlot(results), 0o644); err != nil {
		return err
	}
	return os.WriteFile(o.page, page(machine, filepath.Base(plot), results), 0o644)
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

const pageHead = `# Benchmarks

What hookd costs, compared with what the machine needs at the least. ` + "`make bench`" + ` writes this
page in about ten minutes; ` + "`BENCH=quick make bench`" + ` takes one and only prints.

<!-- not run: needs a clone and a C compiler, and takes minutes -->
` + "```sh" + `
go run ./test/bench -list
go run ./test/bench -run serve/1
make bench-compare OLD=before.txt NEW=bin/bench.txt
` + "```" + `

In each row players take turns in short bursts, the yardstick first, and the ratio is the
median of the rounds' ratios. **floor** is a C program that starts the hook with two pipes,
writes, reads and waits. **pipe** is a C program that exchanges a line with a resident C hook.
**small** is a Go daemon of 120 lines that reads a line, runs the same hook and answers; a
client in C asks it and ` + "`hookd serve`" + ` alike. **hookd** is everything that is on by default:
allowed hooks, containment, a session, the record, and four Go processors at least
(GOMAXPROCS), as hookd sets it for itself. A hook named c has no C library. Where a
spawn takes long, what hookd adds is hidden by it: compare machines by their floors only.

`

// page is the page in Markdown.
func page(machine, plot string, results []*result) []byte {
	var out bytes.Buffer
	out.WriteString(pageHead)
	fmt.Fprintf(&out, "%s. %s.%s\n\n", machine, time.Now().UTC().Format(time.DateOnly), floors(results))
	fmt.Fprintf(&out, "![Time to the answer for each way of running a hook](%s)\n\n", plot)
	out.WriteString("| row | yardstick | its median | player | median | p99 | ratio | target | |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		r.writeTo(&out)
	}
	out.WriteString("\n" + missed(results) + "\n")
	return out.Bytes()
}

// floors says what the machine's own starts and exchanges took.
func floors(results []*result) string {
	text := ""
	for _, base := range []struct{ row, player, about string }{
		{"plain/c/1KiB", floor, "A C spawn takes %s here"}, {"resident/c", pipe, "and an exchange over two pipes %s"},
	} {
		if s := lookUp(results, base.row, base.player); s != nil {
			text += " " + fmt.Sprintf(base.about, short(s.median))
		}
	}
	if text == "" {
		return ""
	}
	return text + "."
}

// writeTo writes a line of the table for each player but the yardstick.
func (r *result) writeTo(out *bytes.Buffer) {
	if r.skipped != "" {
		fmt.Fprintf(out, "| %s | not measured: %s | | | | | | | |\n", r.row.name, r.skipped)
		return
	}
	bounds := func(player string, kinds ...kind) (bound, verdict string) {
		for _, t := range r.row.targets {
			for _, k := range kinds {
				if t.player == player && t.kind == k {
					measured, word := t.verdict(r)
					if t.kind == speed {
						word = measured + ": " + word
					}
					bound, verdict = strings.TrimPrefix(bound+", "+t.bound(), ", "), strings.TrimPrefix(verdict+", "+word, ", ")
				}
			}
		}
		return bound, verdict
	}
	for _, f := range r.figures {
		bound, verdict := bounds(f.name, amount)
		fmt.Fprintf(out, "| %s | | | %s | %s | | | %s | %s |\n", r.row.name, f.name, f.text(), bound, verdict)
	}
	for i, s := range r.standings {
		if i == 0 && len(r.standings) > 1 {
			continue
		}
		base, of, compared := "", "", ""
		if i > 0 {
			base, of, compared = s.against, short(r.standing(s.against).median), ratioText(s.ratio)
		}
		bound, verdict := bounds(s.player, ratio, speed, middle, tail)
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.row.name, base, of, s.player, short(s.median), short(s.p99), compared, bound, verdict)
	}
}

// missed is the last sentence of the page: what was not reached.
func missed(results []*result) string {
	var list []string
	for _, r := range results {
		for _, t := range r.row.targets {
			if measured, word := t.verdict(r); word == "missed" {
				list = append(list, fmt.Sprintf("%s (%s, target %s)", r.row.name, measured, t.bound()))
			}
		}
	}
	if len(list) == 0 {
		return "All targets that were measured are met."
	}
	return "Missed: " + strings.Join(list, "; ") + "."
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
