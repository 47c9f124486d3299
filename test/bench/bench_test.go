//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The test binary is the peer that this program starts of itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childArgument {
		os.Exit(child(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// smoke are contests that take no time when each player has one try. The others
// need other programs than sh and cc, build hookd, or load very many files.
const smoke = `^(plain/(c|sh)/1KiB|modes/(c|sh)/1KiB|hooks/3|flight/2|parallel/3|contain/cgroup|abort/escapes)$`

// TestSmoke holds contests as short as can be, so that the benchmark does not rot
// between its runs, and looks for what it leaves behind.
func TestSmoke(t *testing.T) {
	folder, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	document, results := filepath.Join(folder, "page.md"), filepath.Join(folder, "results.txt")
	var out bytes.Buffer
	o := mustParse(t, &out, "-pace", "smoke", "-run", smoke, "-doc", document, "-o", results)
	before := children(os.Getpid())
	if err := run(context.Background(), o); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	leavesNothing(t, temporary, before)
	if !strings.Contains(out.String(), "targets met") || strings.Contains(out.String(), " 0 samples") {
		t.Errorf("printed:\n%s", out.String())
	}
	page, text := readFile(t, document), readFile(t, results)
	if !strings.Contains(page, "| plain/sh/1KiB | floor |") && !strings.Contains(page, "plain/sh/1KiB | not measured: no C compiler") {
		t.Errorf("the page lacks a row:\n%s", page)
	}
	for _, secret := range []string{folder, temporary, hostname(t)} {
		if secret != "" && strings.Contains(page, secret) {
			t.Errorf("the page names %q", secret)
		}
	}
	wellFormed(t, filepath.Join(folder, "page.svg"))
	if strings.Contains(out.String(), "no floor") {
		return
	}
	if !strings.Contains(text, "BenchmarkHookd/hooks/3/default-") || !strings.Contains(text, " x-first\n") {
		t.Errorf("the results lack a line:\n%s", text)
	}
}

// TestInterrupted ends a measurement in the middle of it.
func TestInterrupted(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	o := mustParse(t, io.Discard, "-run", "^abort/escapes$")
	if _, err := compile(t.Context(), t.TempDir(), "chain.c", "chain"); err != nil {
		t.Skip(err)
	}
	before := children(os.Getpid())
	interrupted := make(chan time.Time, 1)
	go func() {
		// A program of the contest is at work. Before that a compiler is, which is not
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
	o, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	o.out = out
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

// TestTargetsNameContests catches a target whose contest was renamed: it would
// be not measured for ever.
func TestTargetsNameContests(t *testing.T) {
	held := map[string]bool{}
	for _, e := range (&bench{}).entries() {
		if held[e.name] {
			t.Errorf("two contests are named %s", e.name)
		}
		held[e.name] = true
		if (e.prepare == nil) == (e.measure == nil) {
			t.Errorf("%s is neither a race nor a measurement", e.name)
		}
	}
	for _, target := range targets {
		if !held[target.contest] {
			t.Errorf("target %q is about %s, which is no contest", target.work, target.contest)
		}
	}
	for work := range reasons {
		if !slices.ContainsFunc(targets, func(t target) bool { return t.work == work }) {
			t.Errorf("there is no target %q whose miss could be explained", work)
		}
	}
}

// TestReasons: only of what was missed is said why, and of all that was.
func TestReasons(t *testing.T) {
	const work = "event that no hook wants, 1,000 hooks"
	var page bytes.Buffer
	documentReasons(&page, []verdict{{target: target{work: work}, measured: "1", met: true}, {target: target{work: work}}})
	if page.Len() > 0 {
		t.Errorf("nothing was missed, and the page says\n%s", page.String())
	}
	documentReasons(&page, []verdict{{target: target{work: work}, measured: "1"}, {target: target{work: "other"}, measured: "2"}})
	if text := page.String(); !strings.Contains(text, reasons[work]) || !strings.Contains(text, "**other.** no reason is known") {
		t.Errorf("the page says\n%s", text)
	}
}

// scripted is a player whose bursts take what is written.
func scripted(name, against string, rounds ...time.Duration) player {
	next := -2 // two bursts to warm up
	return player{name: name, against: against, burst: func(context.Context, int) ([]time.Duration, error) {
		next++
		return []time.Duration{rounds[max(0, next-1)]}, nil
	}}
}

// TestRatioIsOfOneRound gives a machine that becomes ten times as slow: medians of
// all samples would say anything, ratios within a round do not.
func TestRatioIsOfOneRound(t *testing.T) {
	const ms = time.Millisecond
	c := contest{name: "x", players: []player{
		scripted("floor", "", 1*ms, 10*ms, 100*ms),
		scripted("ours", "", 2*ms, 20*ms, 300*ms),
		scripted("other", "ours", 1*ms, 5*ms, 150*ms),
	}}
	r, err := c.hold(context.Background(), pace{rounds: 3, turns: 1, most: 1})
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

func TestVerdicts(t *testing.T) {
	came := func(contest, player string, ratio float64, median time.Duration) *result {
		return &result{contest: contest, standings: []standing{{player: "first"}, {player: player, ratio: ratio, median: median, p99: median}}}
	}
	got := map[string]string{}
	for _, v := range judge([]*result{
		came("plain/c/1KiB", playerBare, 2.0, 0),
		came("daemon/1", playerDaemon, 3.01, 0),
		came("flight/2", playerDefault, 1.25, 0),
		came("daemon/10", "somebody else", 1, 0),
		came("match/none", "1000 hooks", 1, 11*time.Microsecond),
		{contest: "abort/escapes", figures: []figure{{name: "survivors", value: 1}}},
		{contest: "memory/daemon-lean", figures: []figure{{name: playerDaemon, unit: bytesUnit, value: 12e6}}},
	}) {
		if v.measured != "" {
			got[v.work] = v.measured + ", " + v.bound() + ": " + v.word()
		}
	}
	want := map[string]string{
		"C hook without libc, 1 KiB, bare ladder over the floor": "2.00, at most 2.00: met",
		"through the daemon's stdio, one hook, over the floor":   "3.01, at most 3.00: not met",
		"two in flight, runs per second against the floor's":     "0.80, at least 0.70: met",
		"event that no hook wants, 1,000 hooks":                  "11 µs, at most 10 µs: not met",
		"abort, six escapes × 40, survivors":                     "1, at most 0: not met",
		"hookd serve at rest (lean program), resident memory":    "12.0 MB, at most 16.0 MB: met",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestFloorAnswersMistakes asks the floor for what it cannot do.
func TestFloorAnswersMistakes(t *testing.T) {
	folder := t.TempDir()
	program, err := compile(t.Context(), folder, "floor.c", "floor", "-pthread")
	if errors.Is(err, errNoCompiler) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := startFloor(program, folder, folder, leastEnv())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []work{{program: filepath.Join(folder, "absent")}, {program: "/bin/false"}, {program: "/bin/true", group: 99}} {
		if _, _, err := f.run(t.Context(), w, 1); err == nil {
			t.Errorf("%+v is no error", w)
		}
	}
	took, all, err := f.run(t.Context(), work{program: "/bin/true", payload: bytes.Repeat([]byte("x"), 1<<20), threads: 2, group: 2}, 3)
	if err != nil || len(took) != 6 || all <= 0 {
		t.Errorf("a program that does not read: %v, %v, %v", took, all, err)
	}
	if err := f.close(); err != nil {
		t.Error(err)
	}
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
