//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The test binary is the process with a heap that this program starts of itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == heapArgument {
		os.Exit(heapProcess(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// smoke are rows that take no time when each player has one try. The others need
// other programs than sh and cc, build hookd, or load very many files.
const smoke = `^(plain/(c|sh)/1KiB|resident/c|standby/sh|hooks/10|flight/2|parallel/3|process|abort)$`

// TestSmoke measures as short as can be, so that the benchmark does not rot between
// its runs, and looks for what it leaves behind.
func TestSmoke(t *testing.T) {
	folder, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	file, results := filepath.Join(folder, "page.md"), filepath.Join(folder, "results.txt")
	var out bytes.Buffer
	o := mustParse(t, &out, "-pace", "smoke", "-run", smoke, "-doc", file, "-o", results)
	before := children(os.Getpid())
	if err := run(context.Background(), o); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	leavesNothing(t, temporary, before)
	if !strings.Contains(out.String(), "targets met") || strings.Contains(out.String(), " 0 samples") {
		t.Errorf("printed:\n%s", out.String())
	}
	page, text := readFile(t, file), readFile(t, results)
	for _, secret := range []string{folder, temporary, hostname(t)} {
		if secret != "" && strings.Contains(page, secret) {
			t.Errorf("the page names %q", secret)
		}
	}
	if strings.Contains(out.String(), "no C compiler") {
		return
	}
	again := filepath.Join(folder, "again.md")
	if err := run(context.Background(), mustParse(t, io.Discard, "-from", results, "-doc", again)); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(page, strings.ReplaceAll(readFile(t, again), "again.svg", "page.svg")); diff != "" {
		t.Errorf("the page from stored results is another one: %s", diff)
	}
	if !strings.Contains(page, "| plain/sh/1KiB | floor |") {
		t.Errorf("the page lacks a row:\n%s", page)
	}
	wellFormed(t, filepath.Join(folder, "page.svg"))
	if !strings.Contains(text, "BenchmarkHookd/hooks/10/hookd-") || !strings.Contains(text, " x-floor\n") {
		t.Errorf("the results lack a line:\n%s", text)
	}
}

// TestInterrupted ends a measurement in the middle of it.
func TestInterrupted(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler")
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	o := mustParse(t, io.Discard, "-run", "^abort$")
	before := children(os.Getpid())
	interrupted := make(chan time.Time, 1)
	go func() {
		// A program of the row is at work. Before that a compiler is, which is not
		// killed in the middle and on a busy machine takes its time.
		for len(marked(abortMark)) == 0 && t.Context().Err() == nil {
			time.Sleep(20 * time.Millisecond)
		}
		interrupted <- time.Now()
		cancel(stop)
	}()
	if err := run(ctx, o); !errors.Is(err, stop) {
		t.Errorf("it ended with %v", err)
	}
	if took := time.Since(<-interrupted); took > 5*time.Second {
		t.Errorf("it ended %s after it was interrupted", took)
	}
	leavesNothing(t, temporary, before)
}

func mustParse(t *testing.T, out io.Writer, args ...string) *options {
	t.Helper()
	o, err := parse(args, out)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func leavesNothing(t *testing.T, temporary string, before []int) {
	t.Helper()
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v %v", left, err)
	}
	if diff := cmp.Diff(before, children(os.Getpid())); diff != "" {
		t.Errorf("processes are left: %s", diff)
	}
}

// TestRows catches two rows of one name.
func TestRows(t *testing.T) {
	known := map[string]bool{}
	for _, r := range rows() {
		if known[r.name] {
			t.Errorf("two rows are named %s", r.name)
		}
		known[r.name] = true
	}
}

// scripted is a player whose bursts take what is written.
func scripted(name, against string, rounds ...time.Duration) player {
	next := -4 // three bursts to warm up
	return player{name: name, against: against, burst: func(context.Context, int) ([]time.Duration, error) {
		next++
		return []time.Duration{rounds[max(0, next)]}, nil
	}}
}

// TestRatioIsOfOneRound gives a machine that becomes ten times as slow: medians of
// all samples would say anything, ratios within a round do not.
func TestRatioIsOfOneRound(t *testing.T) {
	const ms = time.Millisecond
	c := race{players: []player{
		scripted("floor", "", 1*ms, 10*ms, 100*ms),
		scripted("ours", "", 2*ms, 20*ms, 300*ms),
		scripted("other", "ours", 1*ms, 5*ms, 150*ms),
	}}
	r, err := c.run(context.Background(), pace{rounds: 3, turns: 1, most: 1})
	if err != nil {
		t.Fatal(err)
	}
	var got []float64
	for _, s := range r.standings {
		got = append(got, s.ratio, s.median.Seconds()*1e3, s.p99.Seconds()*1e3)
	}
	if diff := cmp.Diff([]float64{0, 10, 100, 2, 20, 300, 0.5, 5, 150}, got); diff != "" {
		t.Error(diff)
	}
}

// TestPausesCount gives a player that rests after each sample: it gets as few samples as
// fit into its time, however short they are.
func TestPausesCount(t *testing.T) {
	const pause = 20 * time.Millisecond
	resting := player{name: "rests", burst: spaced(pause, func(context.Context, int) ([]time.Duration, error) {
		return []time.Duration{time.Microsecond}, nil
	})}
	c := race{players: []player{resting}, time: 12 * pause}
	sizes, err := c.sizes(context.Background(), pace{rounds: 3, turns: 1, scale: 1, most: 400})
	if err != nil {
		t.Fatal(err)
	}
	if sizes[0] > 4 {
		t.Errorf("a burst has %d samples, and 4 pauses fill its time", sizes[0])
	}
}

func TestTargets(t *testing.T) {
	r := &result{
		standings: []standing{{player: "first"}, {player: "ours", ratio: 1.25, median: 11 * time.Microsecond, p99: 2 * time.Millisecond}},
		figures:   []figure{{"left", "processes", 1}, {"lean", bytesUnit, 12e6}},
	}
	for _, c := range []struct {
		target target
		want   string
	}{
		{target{"ours", 1.25, ratio}, "1.25, ≤ 1.25: met"},
		{target{"ours", 1.2, ratio}, "1.25, ≤ 1.20: missed"},
		{target{"ours", 0.7, speed}, "0.80, ≥ 0.70: met"},
		{target{"ours", 10e-6, middle}, "11 µs, ≤ 10 µs: missed"},
		{target{"ours", 3e-3, tail}, "p99 2.00 ms, ≤ p99 3.00 ms: met"},
		{target{"left", 0, amount}, "1 left, ≤ 0 left: missed"},
		{target{"lean", 16e6, amount}, "12.0 MB, ≤ 16.0 MB: met"},
		{target{"nobody", 1, ratio}, "–, ≤ 1.00: not measured"},
	} {
		measured, word := c.target.verdict(r)
		if got := measured + ", " + c.target.bound() + ": " + word; got != c.want {
			t.Errorf("%s, not %s", got, c.want)
		}
	}
}

// TestPage writes the page of all rows, each target at first met and then missed.
func TestPage(t *testing.T) {
	write := func(miss float64) string {
		m := measurement{machine: "a machine", date: "2026-01-01"}
		for _, row := range rows() {
			r := &result{row: row, standings: []standing{
				{player: "yardstick", against: "yardstick", median: 100 * time.Microsecond},
				{player: ours, against: "yardstick", ratio: 1.5, median: time.Millisecond},
			}}
			for _, target := range row.targets {
				s := standing{player: target.player, against: "yardstick"}
				switch value := target.limit * miss; target.kind {
				case ratio:
					s.ratio = value
				case speed:
					s.ratio = miss / target.limit
				case middle:
					s.median = time.Duration(value * 1e9)
				case tail:
					s.median, s.p99 = r.standings[1].median, time.Duration(value*1e9)
				case amount:
					r.figures = append(r.figures, figure{target.player, "processes", value})
					continue
				}
				if target.player == ours {
					r.standings[1] = s
				} else {
					r.standings = append(r.standings, s)
				}
			}
			m.results = append(m.results, r)
		}
		return string(m.page("page.svg"))
	}
	met, missed := write(0.9), write(100)
	if strings.Contains(met, "missed") || !strings.Contains(met, "Every target that was measured is met.") {
		t.Errorf("all is met:\n%s", met)
	}
	if !strings.Contains(missed, "- **serve/1**: 160.00, target ≤ 1.60. "+unexplained+"\n") {
		t.Errorf("all is missed:\n%s", missed)
	}
	if n := strings.Count(met, "\n"); n > 120 {
		t.Errorf("the page has %d lines; it is to be short", n)
	}
}

// TestReasons holds each reason to a target that there is, and drops it when the figure
// has moved.
func TestReasons(t *testing.T) {
	for _, known := range reasons {
		found := slices.IndexFunc(rows(), func(r row) bool { return r.name == known.row && slices.Contains(r.targets, known.target) })
		if found < 0 {
			t.Errorf("the reason for %s (%s) is about a target that is gone: remove it", known.row, known.target.bound())
			continue
		}
		for moved, want := range map[float64]string{1: known.text, 1.2: known.text, 2: unexplained} {
			s := standing{player: known.target.player, ratio: known.seen * moved, median: time.Duration(known.seen * moved * 1e9)}
			if known.target.kind == speed {
				s.ratio = 1 / (known.seen * moved)
			}
			r := &result{row: rows()[found], standings: []standing{s}, figures: []figure{{known.target.player, bytesUnit, known.seen * moved}}}
			if got := reasonFor(r, known.target); got != want {
				t.Errorf("%s at %g times what it was: %s", known.row, moved, got)
			}
		}
	}
}

// TestFloorAnswersMistakes asks the programs in C for what they cannot do.
func TestFloorAnswersMistakes(t *testing.T) {
	k, err := newKit(paces["smoke"])
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := k.close(); err != nil {
			t.Error(err)
		}
	}()
	for _, w := range []work{{program: filepath.Join(k.folder, "absent")}, {program: "/bin/false"}, {program: "/bin/true", group: 99}} {
		p, err := k.spawns(t.Context(), floor, w)
		if missing := (skip{}); errors.As(err, &missing) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.burst(t.Context(), 1); err == nil {
			t.Errorf("%+v is no error", w)
		}
	}
	p, err := k.spawns(t.Context(), floor, work{program: "/bin/true", payload: bytes.Repeat([]byte("x"), 1<<20), threads: 2, group: 2})
	if err != nil {
		t.Fatal(err)
	}
	if took, err := p.burst(t.Context(), 6); err != nil || len(took) != 6 {
		t.Errorf("a program that does not read: %v, %v", took, err)
	}
	c, err := k.talks(t.Context(), pipe, talk{line: []byte("x\n"), program: filepath.Join(k.folder, "absent")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.burst(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("a program that is not there: %v", err)
	}
	_ = k.closeRow() // an error, too
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func hostname(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil || len(name) < 4 { // too short to be told from a word
		return ""
	}
	return name
}

func wellFormed(t *testing.T, path string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(readFile(t, path)))
	bars := 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", filepath.Base(path), err)
		}
		if element, ok := token.(xml.StartElement); ok && element.Name.Local == "rect" {
			bars++
		}
	}
	if bars < 5 {
		t.Errorf("the plot has %d bars and keys", bars)
	}
}
