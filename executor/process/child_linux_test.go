package process

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func start(t *testing.T, rt *Runtime, ctx context.Context, c *Command) *Child {
	t.Helper()
	child, err := rt.Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { child.End(0) })
	return child
}

// TestChildExchanges: line by line, both ways, for as long as one likes, and large
// pieces whole.
func TestChildExchanges(t *testing.T) {
	for _, options := range available(t) {
		t.Run(options.name(), func(t *testing.T) {
			child := start(t, newRuntime(t, options), within(t, 20*time.Second), shell("cat; echo bye >&2"))
			in := bufio.NewReader(child.Stdout)
			for i := range 3 {
				time.Sleep(20 * time.Millisecond)
				want := fmt.Sprintf("line %d\n", i)
				if _, err := io.WriteString(child.Stdin, want); err != nil {
					t.Fatal(err)
				}
				if got, err := in.ReadString('\n'); got != want || err != nil {
					t.Fatalf("%q, %v, want %q", got, err, want)
				}
			}
			noise := bytes.Repeat([]byte("0123456789abcdef\x00\xff"), 200_000)
			go child.Stdin.Write(noise)
			got := make([]byte, len(noise))
			if _, err := io.ReadFull(in, got); err != nil || sha256.Sum256(got) != sha256.Sum256(noise) {
				t.Errorf("large piece: %v", err)
			}
			r := child.End(5 * time.Second)
			if r.Err != nil || r.ExitCode != 0 || string(r.Stderr) != "bye\n" {
				t.Errorf("%v, exit %d, stderr %q", r.Err, r.ExitCode, r.Stderr)
			}
		})
	}
}

// TestChildEndings: whatever ends a child, its tree goes with it, in time.
func TestChildEndings(t *testing.T) {
	needs(t, "setsid")
	const escapees = `sleep 61 & (setsid sleep 61 &); `
	cause := errors.New("the owner's reason")
	tests := map[string]struct {
		script string
		end    func(rt *Runtime, child *Child, cancel context.CancelCauseFunc)
		err    error
		most   time.Duration
		least  time.Duration
	}{
		"exits on end of input":  {escapees + `echo ready; cat >/dev/null`, nil, nil, 500 * time.Millisecond, 0},
		"needs TERM":             {escapees + `echo ready; sleep 61`, nil, ErrEnded, time.Second, 300 * time.Millisecond},
		"needs KILL":             {escapees + `trap '' TERM; echo ready; while :; do sleep 0.1; done`, nil, ErrEnded, 1500 * time.Millisecond, 500 * time.Millisecond},
		"exits by itself":        {escapees + `echo ready; exit 0`, func(_ *Runtime, c *Child, _ context.CancelCauseFunc) { <-c.Done() }, nil, 700 * time.Millisecond, 0},
		"its context ends":       {escapees + `echo ready; sleep 61`, func(_ *Runtime, _ *Child, cancel context.CancelCauseFunc) { cancel(cause) }, cause, 700 * time.Millisecond, 0},
		"its Runtime is closed":  {escapees + `echo ready; sleep 61`, func(rt *Runtime, _ *Child, _ context.CancelCauseFunc) { rt.Close() }, ErrClosed, 700 * time.Millisecond, 0},
		"its output is not read": {escapees + `echo ready; yes`, nil, ErrEnded, time.Second, 300 * time.Millisecond},
	}
	for _, options := range available(t) {
		if options.Containment == Group {
			continue // does not hold what leaves the group, and says so
		}
		rt := newRuntime(t, options)
		for name, test := range tests {
			t.Run(options.name()+"/"+name, func(t *testing.T) {
				own := rt
				if test.err == ErrClosed {
					own = newRuntime(t, options)
				}
				ctx, cancel := context.WithCancelCause(within(t, 20*time.Second))
				defer cancel(nil)
				c := shell(test.script)
				c.Grace = 200 * time.Millisecond
				mark := marked(c)
				child := start(t, own, ctx, c)
				child.Stdout.SetReadDeadline(time.Now().Add(10 * time.Second))
				if _, err := io.ReadFull(child.Stdout, make([]byte, len("ready\n"))); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				if test.end != nil {
					test.end(own, child, cancel)
				}
				patience := 300 * time.Millisecond
				if test.err == nil {
					patience = 10 * time.Second // it ends by itself, which a busy machine delays
				}
				r := child.End(patience)
				took := time.Since(began)
				if !errors.Is(r.Err, test.err) || test.err == nil && r.Err != nil {
					t.Errorf("error %v, want %v", r.Err, test.err)
				}
				if took > test.most+late() || took < test.least {
					t.Errorf("took %s, want %s to %s", took, test.least, test.most)
				}
				if left := survivors(mark); len(left) > 0 {
					t.Errorf("survivors: %v", left)
				}
				if _, err := child.Stdout.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
					t.Errorf("stdout is still open: %v", err)
				}
			})
		}
	}
}

// TestChildLeavesNoPipe: a reader of a child's stdout meets its end when the
// program exits, although a process that it left holds the pipe.
func TestChildLeavesNoPipe(t *testing.T) {
	for _, options := range available(t) {
		child := start(t, newRuntime(t, options), within(t, 20*time.Second), shell("sleep 61 & echo last; exit 3"))
		began := time.Now()
		all, err := io.ReadAll(child.Stdout)
		if string(all) != "last\n" || err != nil || time.Since(began) > time.Second+late() {
			t.Errorf("%s: %q, %v after %s", options.name(), all, err, time.Since(began))
		}
		if r := child.Result(); r.ExitCode != 3 {
			t.Errorf("%s: exit %d, %v", options.name(), r.ExitCode, r.Err)
		}
	}
}

// TestChildThatCannotStart: the reason is told, at once or as the result.
func TestChildThatCannotStart(t *testing.T) {
	for _, options := range available(t) {
		child, err := newRuntime(t, options).Start(within(t, 10*time.Second), &Command{Path: "/nowhere/server"})
		if err == nil {
			err = child.End(time.Second).Err
		}
		var reason *StartError
		if !errors.As(err, &reason) || reason.Reason != FileMissing {
			t.Errorf("%s: %v", options.name(), err)
		}
	}
	rt := newRuntime(t, Options{})
	rt.Close()
	if _, err := rt.Start(within(t, time.Second), shell("cat")); !errors.Is(err, ErrClosed) {
		t.Errorf("closed Runtime: %v", err)
	}
}

// A stand-in for hookd that keeps a child. Arguments: containment, script, mark.
func init() {
	programs["keeper"] = func(args []string) {
		rt, err := New(Options{Containment: Kind(args[0]), LongLived: true})
		if err != nil {
			fmt.Println("failed:", err)
			return
		}
		c := shell(args[1])
		c.Env, c.EnvTag = append(c.Env, args[2]), args[2]
		child, err := rt.Start(context.Background(), c)
		if err != nil {
			fmt.Println("failed:", err)
			return
		}
		line, _ := bufio.NewReader(child.Stdout).ReadString('\n')
		fmt.Print(line)
		time.Sleep(time.Minute)
	}
}

// TestChildOfKilledHookd: after kill -9 of hookd nothing of a child is alive
// within a second.
func TestChildOfKilledHookd(t *testing.T) {
	needs(t, "setsid")
	const script = `trap '' TERM HUP; sleep 61 & (setsid sleep 61 &); sleep 0.2; echo running; while :; do sleep 0.1; done`
	for _, options := range available(t) {
		if options.portable {
			continue
		}
		t.Run(options.name(), func(t *testing.T) {
			t.Parallel()
			mark := "PROCESS_TEST=keeper" + options.name() + fmt.Sprint(time.Now().UnixNano())
			c := self(t, "keeper", string(options.Containment), script, mark)
			hookd := exec.Command(c.Path, c.Argv[1:]...)
			output, err := hookd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := hookd.Start(); err != nil {
				t.Fatal(err)
			}
			line, _ := bufio.NewReader(output).ReadString('\n')
			if strings.TrimSpace(line) != "running" || len(survivors(mark)) < 3 {
				t.Errorf("%q, %v", line, survivors(mark))
			}
			hookd.Process.Signal(syscall.SIGKILL)
			hookd.Wait()
			for died := time.Now(); len(survivors(mark)) > 0; time.Sleep(10 * time.Millisecond) {
				if time.Since(died) > time.Second+late() {
					t.Fatalf("a second after its death: %v", survivors(mark))
				}
			}
		})
	}
}

// TestOutputOfEndedChild asserts that what a parked program wrote before it ended is
// had afterwards, although nobody waits for more of it any longer.
func TestOutputOfEndedChild(t *testing.T) {
	rt := newRuntime(t, Options{})
	child, err := rt.StartIdle(t.Context(), shell("printf words"))
	if err != nil {
		t.Fatal(err)
	}
	<-child.Done()
	child.Interrupt() // as it is after Done
	var buffer [16]byte
	if got := string(child.ReadBuffered(buffer[:])); got != "words" {
		t.Errorf("%q, want its words", got)
	}
	child.Reap(new(sync.Mutex))
}

// TestReapDoesNotBlockReaders asserts that reading from a child does not
// wait for the end of a tree that does not die.
func TestReapDoesNotBlockReaders(t *testing.T) {
	theirs, ours, err := openPipePairs()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.close()
	gone := make(chan struct{})
	child := &Child{Stdin: ours.in, Stdout: ours.out, done: make(chan struct{}), result: Result{Gone: gone}}
	close(child.done)
	var pipes sync.Mutex
	reaped := make(chan struct{})
	go func() {
		child.Reap(&pipes)
		close(reaped)
	}()
	time.Sleep(20 * time.Millisecond)
	if !pipes.TryLock() {
		t.Fatal("Reap holds the lock while the tree lives")
	}
	close(gone)
	time.Sleep(20 * time.Millisecond)
	if _, err := child.Stdout.Stat(); err != nil {
		t.Errorf("its pipes were closed while the lock was held: %v", err)
	}
	pipes.Unlock()
	<-reaped
}
