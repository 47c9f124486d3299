package process

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/hookd-dev/hookd/test/prove"
)

// ladders are the two ways in which a program is served.
var ladders = map[string]Options{"polled": {}, "portable": {portable: true}}

func onLadders(t *testing.T, test func(t *testing.T, rt *Runtime)) {
	t.Helper()
	for name, options := range ladders {
		t.Run(name, func(t *testing.T) { test(t, newRuntime(t, options)) })
	}
}

func TestEndings(t *testing.T) {
	type ending struct {
		Stdout, Stderr string
		ExitCode       int
		Signal         string
	}
	tests := map[string]struct {
		script string
		want   ending
	}{
		"nothing":             {"exit 0", ending{}},
		"both outputs":        {"cat; echo err >&2", ending{Stdout: "in\n", Stderr: "err\n"}},
		"exit 2":              {"echo no; exit 2", ending{Stdout: "no\n", ExitCode: 2}},
		"exit 255":            {"exit 255", ending{ExitCode: 255}},
		"kills itself":        {"kill -9 $$", ending{ExitCode: -1, Signal: "SIGKILL"}},
		"SIGSEGV":             {"kill -SEGV $$", ending{ExitCode: -1, Signal: "SIGSEGV"}},
		"TERM to itself":      {"kill $$; sleep 5", ending{ExitCode: -1, Signal: "SIGTERM"}},
		"closes its outputs":  {"exec >&- 2>&-; sleep 0.05; exit 7", ending{ExitCode: 7}},
		"closes stdin":        {"exec <&-; echo ok", ending{Stdout: "ok\n"}},
		"writes after a rest": {"printf a; sleep 0.02; printf b; sleep 0.02; printf c", ending{Stdout: "abc"}},
	}
	for _, options := range available(t) {
		rt := newRuntime(t, options)
		for name, test := range tests {
			t.Run(options.name()+"/"+name, func(t *testing.T) {
				c := shell(test.script)
				c.Stdin = [][]byte{[]byte("i"), nil, []byte("n\n")}
				r := rt.Run(within(t, 10*time.Second), c)
				got := ending{string(r.Stdout), string(r.Stderr), r.ExitCode, r.Signal}
				if diff := cmp.Diff(test.want, got); diff != "" || r.Err != nil || r.OutputHeldOpen {
					t.Errorf("(-want +got), error %v, held %v:\n%s", r.Err, r.OutputHeldOpen, diff)
				}
				mustEnd(t, r, 2*time.Second)
			})
		}
	}
}

// TestSurroundings: own session, no terminal, no descriptor but three, the given
// folder and environment, exact arguments (H04, H05).
func TestSurroundings(t *testing.T) {
	leaked, err := syscall.Open("/dev/null", syscall.O_RDONLY, 0) // without close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(leaked)
	dir := filepath.Join(t.TempDir(), "my proj (été)'$x")
	program := filepath.Join(dir, "a b.sh")
	// Not ls | tr: the shell holds the pipe itself for a moment.
	script := "#!/bin/sh\npwd\necho \"$0\"\necho \"$1\"\nls /proc/$$/fd >fds\ntr '\\n' ' ' <fds\necho\ncut -d' ' -f6-8 /proc/$$/stat\necho $$\nenv | grep -c .\n"
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, options := range []Options{{}, {portable: true}, {Containment: Group}, {Containment: Subreaper}} {
		rt := newRuntime(t, options)
		argument := "$(touch no) 'x' \xff"
		r := rt.Run(within(t, 10*time.Second), &Command{Path: program, Argv: []string{program, argument}, Dir: dir, Env: []string{"A=1", "PATH=/usr/bin:/bin"}})
		got := strings.Split(strings.TrimRight(string(r.Stdout), "\n"), "\n")
		if len(got) != 7 {
			t.Fatalf("%s: %q, stderr %q, %v", options.name(), got, r.Stderr, r.Err)
		}
		pid := strconv.Itoa(r.Pid)
		// From 10 on they are the shell's own: its script, and a stdout it set aside.
		got[3] = regexp.MustCompile(`\d\d+ `).ReplaceAllString(got[3], "")
		want := []string{dir, program, argument, "0 1 2 ", pid + " " + pid + " 0", pid, got[6]}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", options.name(), diff)
		}
		if n, _ := strconv.Atoi(got[6]); n < 2 || n > 6 { // PWD, _ and the like are the shell's own
			t.Errorf("%s: %d variables", options.name(), n)
		}
	}
}

// TestNoDeadlock is G9 and H12, H13, H24: whatever is read and written in
// whatever order, a run ends.
func TestNoDeadlock(t *testing.T) {
	sizes := []int{0, 600, 64 << 10, 64<<10 + 1, 1 << 20, 64 << 20}
	readers := map[string]func(size int) string{
		"all":             func(int) string { return "cat >/dev/null; echo ok" },
		"half":            func(size int) string { return fmt.Sprintf("head -c %d >/dev/null; echo ok", size/2) },
		"none":            func(int) string { return "echo ok" },
		"none, slowly":    func(int) string { return "sleep 0.05; echo ok" },
		"closes at once":  func(int) string { return "exec <&-; sleep 0.02; echo ok" },
		"stderr first":    func(int) string { return "head -c 5000000 /dev/zero >&2; cat >/dev/null; echo ok" },
		"stdout, then in": func(int) string { return "head -c 900000 /dev/zero | tr '\\0' ' '; cat >/dev/null; echo ok" },
	}
	ended, longest := 0, time.Duration(0)
	onLadders(t, func(t *testing.T, rt *Runtime) {
		for _, size := range sizes {
			for name, script := range readers {
				if size > 8<<20 && strings.Contains(name, " ") && count(0, 1) == 0 {
					continue // in the long proof
				}
				c := shell(script(size))
				c.Stdin = [][]byte{make([]byte, size/3), make([]byte, size-size/3)}
				for range count(1, 25) {
					r := rt.Run(within(t, 20*time.Second), c)
					ended, longest = ended+1, max(longest, r.Took)
					if r.Err != nil || strings.TrimSpace(string(r.Stdout)) != "ok" {
						t.Errorf("%d bytes, reads %s: %v, exit %d, stdout %.20q", size, name, r.Err, r.ExitCode, r.Stdout)
					}
					if want := int64(5000000 - defaultStderrTail); name == "stderr first" && (r.StderrCut != want || len(r.Stderr) != defaultStderrTail) {
						t.Errorf("stderr: %d kept, %d cut", len(r.Stderr), r.StderrCut)
					}
				}
			}
		}
	})
	prove.Figure(t, "G9", "%d runs of %d sizes × %d readers on both ladders: 0 hangs, the longest took %s", ended, len(sizes), len(readers), longest.Round(time.Millisecond))
}

// TestBytesIntact sends noise through cat and back.
func TestBytesIntact(t *testing.T) {
	noise := make([]byte, 3<<20+17)
	state := uint32(1)
	for i := range noise {
		state = state*1664525 + 1013904223
		noise[i] = byte(state >> 24)
	}
	onLadders(t, func(t *testing.T, rt *Runtime) {
		c := shell("cat")
		c.Stdin, c.StdoutLimit = [][]byte{noise}, int64(len(noise))
		r := rt.Run(within(t, 20*time.Second), c)
		if r.Err != nil || sha256.Sum256(r.Stdout) != sha256.Sum256(noise) {
			t.Errorf("%v, %d of %d bytes", r.Err, len(r.Stdout), len(noise))
		}
		c.StdoutLimit--
		r = rt.Run(within(t, 20*time.Second), c)
		var over *OutputError
		if !errors.As(r.Err, &over) || !bytes.Equal(r.Stdout, noise[:len(noise)-1]) {
			t.Errorf("one byte over the limit: %v, %d bytes kept", r.Err, len(r.Stdout))
		}
		mustEnd(t, r, 2*time.Second)
	})
}

// TestFloods is G8 and H23.
func TestFloods(t *testing.T) {
	size := count(256<<20, 2<<30)
	most := 0
	onLadders(t, func(t *testing.T, rt *Runtime) {
		for _, stream := range []string{"1", "2"} {
			c := shell(fmt.Sprintf("head -c %d /dev/zero >&%s", size, stream))
			before := memory(t, true)
			r := rt.Run(within(t, 60*time.Second), c)
			grown := memory(t, false) - before
			if most = max(most, grown); grown > 16<<20 {
				t.Errorf("flood on %s: grown by %d KiB", stream, grown>>10)
			}
			var over *OutputError
			if stream == "1" {
				if !errors.As(r.Err, &over) || len(r.Stdout) != DefaultStdoutLimit || r.Took > 5*time.Second {
					t.Errorf("stdout: %v, %d bytes, %s", r.Err, len(r.Stdout), r.Took)
				}
			} else if r.Err != nil || len(r.Stderr) != defaultStderrTail || r.StderrCut != int64(size-defaultStderrTail) {
				t.Errorf("stderr: %v, %d kept, %d cut", r.Err, len(r.Stderr), r.StderrCut)
			}
			mustEnd(t, r, 2*time.Second)
		}
	})
	prove.Figure(t, "G8", "floods of %d MiB on stdout and stderr: grown by at most %.1f MiB", size>>20, float64(most)/(1<<20))
}

// memory returns this process's resident bytes, or the most since the last
// reset.
func memory(t *testing.T, reset bool) int {
	t.Helper()
	field := "VmHWM:"
	if reset {
		runtime.GC()
		debug.FreeOSMemory()
		field = "VmRSS:"
		if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
			t.Skipf("this kernel does not let growth be measured: %v", err)
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), field)
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// TestDrain is H03: output is read for 250 ms after the exit, and no longer.
func TestDrain(t *testing.T) {
	tests := map[string]struct {
		script   string
		want     string
		held     bool
		min, max time.Duration
	}{
		"nothing held":         {"echo a", "a\n", false, 0, 0},
		"silent child":         {"sleep 61 & echo a", "a\n", true, 250 * time.Millisecond, 250 * time.Millisecond},
		"child with stderr":    {"sleep 61 >&- & echo a", "a\n", true, 250 * time.Millisecond, 250 * time.Millisecond},
		"child closes outputs": {"sleep 61 >&- 2>&- & echo a", "a\n", false, 0, 0},
		"child says in time":   {`(while read _ _ state _ </proc/$$/stat && [ $state != Z ]; do :; done; echo b) & echo a`, "a\nb\n", false, 0, 100 * time.Millisecond}, // when its parent has exited
		"child says too late":  {"(sleep 1; echo b) & echo a", "a\n", true, 250 * time.Millisecond, 250 * time.Millisecond},
	}
	onLadders(t, func(t *testing.T, rt *Runtime) {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				c := shell(test.script)
				mark := marked(c)
				r := rt.Run(within(t, 10*time.Second), c)
				if string(r.Stdout) != test.want || r.OutputHeldOpen != test.held || r.Err != nil {
					t.Errorf("stdout %q, held %v, %v", r.Stdout, r.OutputHeldOpen, r.Err)
				}
				if r.Took < test.min || r.Took > test.max+late() {
					t.Errorf("took %s, want %s to %s", r.Took, test.min, test.max+late())
				}
				mustEnd(t, r, 2*time.Second)
				if left := survivors(mark); len(left) > 0 {
					t.Errorf("survivors: %v", left)
				}
			})
		}
	})
}

// TestOutputBeforeInterrupt: what was written before the limit is in the result.
func TestOutputBeforeInterrupt(t *testing.T) {
	onLadders(t, func(t *testing.T, rt *Runtime) {
		r := rt.Run(within(t, 300*time.Millisecond), shell("echo no; echo why >&2; sleep 62"))
		if r.Err != errLimit || string(r.Stdout) != "no\n" || string(r.Stderr) != "why\n" || r.ExitCode != -1 || r.Signal != "" {
			t.Errorf("%v, stdout %q, stderr %q, exit %d, signal %q", r.Err, r.Stdout, r.Stderr, r.ExitCode, r.Signal)
		}
		mustEnd(t, r, 2*time.Second)
	})
}

// TestGrace: TERM comes first, also to one that has stopped itself, and its
// clean-up may still write.
func TestGrace(t *testing.T) {
	onLadders(t, func(t *testing.T, rt *Runtime) {
		for _, script := range []string{
			`while :; do sleep 0.02; done`,
			`kill -STOP $$; sleep 5`,
		} {
			c := shell(`trap 'echo bye; echo bye >"$DIR/bye"; exit 0' TERM; echo ready; ` + script)
			dir := t.TempDir()
			c.Env, c.Grace = append(c.Env, "DIR="+dir), 5*time.Second
			ctx, end := context.WithCancelCause(within(t, 10*time.Second))
			began := make(chan time.Time, 1)
			c.Stream = func(piece []byte) {
				if strings.HasPrefix(string(piece), "ready") {
					time.AfterFunc(100*time.Millisecond, func() { // when it has stopped itself
						began <- time.Now()
						end(errLimit)
					})
				}
			}
			r := rt.Run(ctx, c)
			mustEnd(t, r, 3*time.Second)
			if !strings.HasPrefix(string(r.Stdout), "ready") {
				t.Fatalf("the script did not begin: %+v", r)
			}
			if took := time.Since(<-began); took > 2*time.Second {
				t.Errorf("the tree took %s to end", took)
			}
			if _, err := os.Stat(filepath.Join(dir, "bye")); err != nil {
				t.Errorf("no clean-up: %v", err)
			}
		}
	})
}

// TestMergeAndTail: both outputs as one, the last bytes only.
func TestMergeAndTail(t *testing.T) {
	onLadders(t, func(t *testing.T, rt *Runtime) {
		c := shell("echo one; echo two >&2; echo three")
		c.Merge = true
		if r := rt.Run(within(t, 5*time.Second), c); string(r.Stdout) != "one\ntwo\nthree\n" || len(r.Stderr) > 0 {
			t.Errorf("merged: %q, %q", r.Stdout, r.Stderr)
		}
		c = shell("seq 1 100000")
		c.StdoutTail = 20
		if r := rt.Run(within(t, 5*time.Second), c); !strings.HasSuffix("\n"+string(r.Stdout), "\n99999\n100000\n") || r.StdoutCut != 588895-20 || r.Err != nil {
			t.Errorf("tail: %q, %d cut, %v", r.Stdout, r.StdoutCut, r.Err)
		}
	})
}

// TestStream: every piece is seen before Run returns, and none after.
func TestStream(t *testing.T) {
	onLadders(t, func(t *testing.T, rt *Runtime) {
		var seen []byte
		returned := false
		c := shell("echo one; sleep 0.05; echo two >&2; (sleep 0.1; echo late) & sleep 61")
		c.Merge, c.StdoutTail, c.Grace = true, 1, 100*time.Millisecond
		c.Stream = func(piece []byte) {
			if returned {
				t.Error("a piece came after Run had returned")
			}
			seen = append(seen, piece...)
		}
		r := rt.Run(within(t, time.Second), c)
		returned = true
		if string(seen) != "one\ntwo\nlate\n" {
			t.Errorf("streamed %q", seen)
		}
		mustEnd(t, r, 2*time.Second)
	})
}

// TestPlaces: no more than Processes at once; a wait ends with its context and
// leaves no place taken.
func TestPlaces(t *testing.T) {
	rt := newRuntime(t, Options{Processes: 2})
	began := time.Now()
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if r := rt.Run(within(t, 5*time.Second), shell("sleep 0.1")); r.Err != nil {
				t.Error(r.Err)
			}
		})
	}
	all.Wait()
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("6 programs of 100 ms, 2 at once, took %s", took)
	}
	results := make([]Result, 2)
	for i := range results {
		all.Go(func() { results[i] = rt.Run(within(t, 5*time.Second), shell("sleep 0.5")) })
	}
	time.Sleep(100 * time.Millisecond)
	for range 10 {
		r := rt.Run(within(t, 10*time.Millisecond), shell("exit 0"))
		if r.Err != errLimit || r.Pid != 0 || r.Waited == 0 || r.Took > late() {
			t.Errorf("without a place: %+v", r)
		}
	}
	all.Wait()
	for _, r := range results {
		mustEnd(t, r, 10*time.Second) // a place is free when the tree is gone
	}
	if n := len(rt.slots); n != 0 {
		t.Errorf("%d places are still taken", n)
	}
}

// TestKey: a program whose tree is still ending is not started again.
func TestKey(t *testing.T) {
	rt := newRuntime(t, Options{})
	stubborn := shell("trap '' TERM; echo $$; while :; do sleep 0.05; done")
	stubborn.Key, stubborn.Grace = "k", 400*time.Millisecond
	first := rt.Run(within(t, 200*time.Millisecond), stubborn)
	if r := rt.Run(within(t, 50*time.Millisecond), stubborn); !errors.Is(r.Err, errLimit) || r.Pid != 0 {
		t.Errorf("started while its old tree was alive: %+v", r)
	}
	other := shell("exit 0")
	other.Key = "other"
	if r := rt.Run(within(t, 5*time.Second), other); r.Err != nil || r.Took > 300*time.Millisecond {
		t.Errorf("another program was held up: %v, %s", r.Err, r.Took)
	}
	again := shell("kill -0 $OLD 2>/dev/null || echo gone")
	again.Key, again.Env = "k", append(again.Env, "OLD="+lines(first.Stdout)[0])
	if r := rt.Run(within(t, 5*time.Second), again); string(r.Stdout) != "gone\n" || r.Waited < 50*time.Millisecond {
		t.Errorf("stdout %q, waited %s, %v", r.Stdout, r.Waited, r.Err)
	}
}

// TestClose ends what runs, and what came too late never starts.
func TestClose(t *testing.T) {
	for _, options := range available(t) {
		options.LongLived = true
		rt, err := New(options)
		if err != nil {
			t.Fatal(err)
		}
		c := shell("trap '' TERM; sleep 61 & while :; do sleep 0.1; done")
		c.Grace = 50 * time.Millisecond
		mark := marked(c)
		result := make(chan Result)
		go func() { result <- rt.Run(context.Background(), c) }()
		time.Sleep(150 * time.Millisecond)
		if err := rt.Close(); err != nil {
			t.Errorf("%s: %v", options.name(), err)
		}
		if r := <-result; r.Err != ErrClosed {
			t.Errorf("%s: ended with %v", options.name(), r.Err)
		}
		if left := survivors(mark); len(left) > 0 {
			t.Errorf("%s: survivors %v", options.name(), left)
		}
		if r := rt.Run(context.Background(), shell("exit 0")); r.Err != ErrClosed {
			t.Errorf("%s: a run after Close: %+v", options.name(), r)
		}
		if groups, ok := rt.mechanism.containment.(*cgroups); ok {
			if _, err := os.Stat(groups.dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the control group is still there: %v", err)
			}
		}
	}
}

// TestNoLeaks: descriptors are the same before and after, however runs end.
func TestNoLeaks(t *testing.T) {
	for _, options := range available(t) {
		rt := newRuntime(t, options)
		round := func() {
			for _, script := range []string{"exit 0", "echo x; exit 3", "sleep 61 & sleep 61", "sleep 61 >&- 2>&- &"} {
				c := shell(script)
				c.Grace, c.Drain = time.Millisecond, time.Millisecond
				mustEnd(t, rt.Run(within(t, 50*time.Millisecond), c), 5*time.Second)
			}
			mustEnd(t, rt.Run(within(t, time.Second), &Command{Path: "/no/such/file"}), 5*time.Second)
			mustEnd(t, rt.Run(within(t, 0), shell("exit 0")), time.Second)
		}
		round()
		before := descriptors(t)
		for range count(2, 200) {
			round()
		}
		if after := descriptors(t); len(after) > len(before) {
			t.Errorf("%s: descriptors before and after:\n%s\n%s", options.name(), before, after)
		}
	}
}

// descriptors lists what this process has open.
func descriptors(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, entry := range entries {
		target, _ := os.Readlink("/proc/self/fd/" + entry.Name())
		list = append(list, entry.Name()+" "+target)
	}
	return list
}

// TestSurvivorsAreSeen shows that the way survivors are looked for finds one:
// the process group alone does not hold a program that leaves it.
func TestSurvivorsAreSeen(t *testing.T) {
	needs(t, "setsid")
	rt := newRuntime(t, Options{Containment: Group})
	c := shell("setsid sleep 63 >&- 2>&- & sleep 0.3")
	mark := marked(c)
	mustEnd(t, rt.Run(within(t, 5*time.Second), c), 2*time.Second)
	left := survivors(mark)
	table, _ := processTable()
	for _, e := range table {
		if hasMark(e.pid, mark) {
			killEntry(e)
			unix.Wait4(e.pid, nil, 0, nil) // ours, if an earlier test made us sub-reaper
		}
	}
	if len(left) != 1 {
		t.Errorf("survivors of setsid in a process group: %v", left)
	}
}

// TestHugeEventIsOnStdinOnly is H25.
func TestHugeEventIsOnStdinOnly(t *testing.T) {
	rt := newRuntime(t, Options{})
	c := shell("wc -c; wc -c </proc/self/environ; wc -c </proc/self/cmdline")
	c.Stdin = [][]byte{make([]byte, 3<<20)}
	r := rt.Run(within(t, 10*time.Second), c)
	sizes := lines(r.Stdout)
	if len(sizes) != 3 || sizes[0] != strconv.Itoa(3<<20) || len(sizes[1]) > 4 || len(sizes[2]) > 3 {
		t.Errorf("stdin, environment, arguments: %v; %v", sizes, r.Err)
	}
}
