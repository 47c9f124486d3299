package process

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestNewTakesNothing: a command that runs no program pays for no containment and
// no guardian. The first program gets both.
func TestNewTakesNothing(t *testing.T) {
	mine := func() []int {
		list, ok := children(os.Getpid())
		if !ok {
			t.Skip("this kernel does not list children")
		}
		return list
	}
	groups := func() []string {
		own, err := ownCgroup("/proc/self/mountinfo", "/proc/self/cgroup")
		if err != nil {
			return nil
		}
		list, _ := filepath.Glob(filepath.Join(own, cgroupPrefix+strconv.Itoa(os.Getpid())+".*"))
		return list
	}
	before, files := len(mine())+len(groups()), descriptors(t)
	rt := newRuntime(t, Options{LongLived: true})
	if after := len(mine()) + len(groups()); after != before || len(descriptors(t)) != len(files) {
		t.Errorf("New left children %v, groups %v, descriptors %v", mine(), groups(), descriptors(t))
	}
	if r := rt.Run(within(t, 10*time.Second), shell("exit 0")); r.Err != nil {
		t.Fatal(r.Err)
	}
	if report := rt.Containment(); report.Kind == Best || rt.mechanism.guardian == nil {
		t.Errorf("after a run: %+v, guardian %v", report, rt.mechanism.guardian)
	}

	unused := newRuntime(t, Options{LongLived: true})
	if err := unused.Close(); err != nil {
		t.Error(err)
	}
	if report := unused.Containment(); report.Kind != Best || report.Misses == "" {
		t.Errorf("of a closed Runtime: %+v", report)
	}
}

// TestCloseWhileProgramsStart: Close waits also for a program that is just being
// started, so that what it is contained in is removed after it.
func TestCloseWhileProgramsStart(t *testing.T) {
	for round := range 25 {
		rt, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		var runs sync.WaitGroup
		for range 4 {
			runs.Go(func() {
				for rt.Run(t.Context(), shell("exit 0")).Err == nil {
				}
			})
		}
		time.Sleep(time.Duration(round) * 200 * time.Microsecond)
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
		runs.Wait()
		if groups, ok := rt.mechanism.containment.(*cgroups); ok {
			if _, err := os.Stat(groups.dir); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("round %d: %s is left: %v", round, groups.dir, err)
			}
		}
	}
}

// TestEndIsAwaited: the kernel tells the end of a control group; it is not found by
// looking now and then.
func TestEndIsAwaited(t *testing.T) {
	const never, soon = 20 * time.Second, 5 * time.Second
	for _, kind := range []Kind{Cgroup} {
		rt, err := New(Options{Containment: kind})
		if err != nil {
			t.Logf("not available here: %v", err)
			continue
		}
		c := shell("exec sleep 61")
		r, err := rt.start(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if group, ok := r.container.(*sweptCgroup); ok {
			time.Sleep(50 * time.Millisecond) // the news of its beginning comes late
			group.look()
		}
		time.AfterFunc(100*time.Millisecond, func() { syscall.Kill(r.program.pid(), syscall.SIGKILL) })
		began := time.Now()
		r.container.(endAwaiter).await(never)
		if took := time.Since(began); took < 50*time.Millisecond || took > soon {
			t.Errorf("%s: told after %s of what ended after 100 ms", kind, took)
		}
		r.program.discardOutput(soon)
		r.program.reap()
		r.gone = make(chan struct{})
		r.runtime.slots <- struct{}{}
		r.killAll(true)
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNothingLeftIsSeenAtOnce: a program that leaves nobody behind is gone with
// its answer, also where only its process group holds it.
func TestNothingLeftIsSeenAtOnce(t *testing.T) {
	for _, kind := range []Kind{Cgroup, Group} {
		rt, err := New(Options{Containment: kind})
		if err != nil {
			t.Logf("not available here: %v", err)
			continue
		}
		r := rt.Run(within(t, 10*time.Second), shell("exit 0"))
		alone := kind == Group || ourChildren.childless() // else what other tests left is looked at
		if r.Err != nil || alone && r.Gone != closedChannel {
			t.Errorf("%s: %v, still ending", kind, r.Err)
		}
		mustEnd(t, r, time.Second)
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	}
}
