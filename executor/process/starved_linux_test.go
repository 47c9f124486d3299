package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestRemovedControlGroup: no matter who tidies up control groups, a hook that runs as
// root included, does not switch the hooks off.
func TestRemovedControlGroup(t *testing.T) {
	rt, err := New(Options{Containment: Cgroup, LongLived: true})
	if err != nil {
		t.Skipf("no control groups here: %v", err)
	}
	defer rt.Close()
	groups := rt.mechanism.containment.(*cgroups)
	ours := func() string { // one of this process may be there before: groups are told by their number
		groups.mu.Lock()
		defer groups.mu.Unlock()
		return groups.dir
	}
	first := ours()
	for _, all := range []bool{false, true, true} {
		c := shell("setsid sleep 61 & echo ok")
		mark := marked(c)
		r := rt.Run(within(t, 10*time.Second), c)
		if r.Err != nil || string(r.Stdout) != "ok\n" {
			t.Fatalf("%v, stdout %q", r.Err, r.Stdout)
		}
		mustEnd(t, r, 2*time.Second)
		if left := survivors(mark); len(left) > 0 {
			t.Errorf("survivors: %v", left)
		}
		if r := rt.Run(within(t, 10*time.Second), shell("exit 0")); r.Err != nil { // leaves an idle container
			t.Fatal(r.Err)
		}
		containers, err := filepath.Glob(filepath.Join(ours(), "*", "cgroup.procs"))
		if err != nil || len(containers) == 0 {
			t.Fatalf("no containers in %s: %v", ours(), err)
		}
		for _, container := range containers {
			if err := unix.Rmdir(filepath.Dir(container)); err != nil {
				t.Fatal(err)
			}
		}
		if all {
			if err := unix.Rmdir(ours()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r := rt.Run(within(t, 10*time.Second), shell("exit 0")); r.Err != nil {
		t.Fatal(r.Err)
	}
	if _, watched := rt.mechanism.guardian.table.read(); watched != ours() {
		t.Errorf("the guardian watches %q, programs run in %s", watched, ours())
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{first, ours()} {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", dir, err)
		}
	}
}

func init() { programs["nests"] = func([]string) { nestGroups() } }

// nestGroups makes control groups below its own, 40 deep and with names of 200
// letters, and leaves a child in the last.
func nestGroups() {
	own, err := ownCgroup("/proc/self/mountinfo", "/proc/self/cgroup")
	at, openErr := openFolder(unix.AT_FDCWD, own)
	for i := range 40 {
		name := strings.Repeat("n", 200)
		err = errors.Join(err, openErr, unix.Mkdirat(at, fmt.Sprint("beside", i), 0o755), unix.Mkdirat(at, name, 0o755))
		at, openErr = openFolder(at, name)
	}
	_, forkErr := syscall.ForkExec("/bin/sh", []string{"sh", "-c", "sleep 61"}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: at}})
	if err = errors.Join(err, openErr, forkErr); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ok")
}

// TestNestedControlGroups: a program that makes groups in its own, deeper than any
// path is long and wide as well, leaves none of them.
func TestNestedControlGroups(t *testing.T) {
	rt, err := New(Options{Containment: Cgroup})
	if err != nil {
		t.Skipf("no control groups here: %v", err)
	}
	group := rt.mechanism.containment.(*cgroups).dir
	c := self(t, "nests")
	c.Env = nil
	r := rt.Run(within(t, 20*time.Second), c)
	if r.Err != nil || string(r.Stdout) != "ok\n" {
		t.Errorf("%v, exit %d, stdout %q, stderr %q", r.Err, r.ExitCode, r.Stdout, r.Stderr)
	}
	mustEnd(t, r, 5*time.Second)
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(group); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", group, err)
	}
}

// TestNoContainerIsNoMissingInterpreter: what fails before the program is looked for
// is not told as a fault of the program.
func TestNoContainerIsNoMissingInterpreter(t *testing.T) {
	c := shell("exit 0")
	c.Path = filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(c.Path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{&containerError{unix.ENOENT}, unix.ENOENT} {
		e := explain(c, err)
		if e.Reason != OtherReason || strings.Contains(e.Detail, "interpreter") {
			t.Errorf("%v: %s, %s", err, e.Reason, e.Detail)
		}
	}
}

// TestNoDescriptorsLeft: a process table that cannot be read is not an empty
// one. What escaped is ended as soon as there is a descriptor to look with.
func TestNoDescriptorsLeft(t *testing.T) {
	for _, options := range []Options{{Containment: Subreaper}, {Containment: Subreaper, portable: true}, {Containment: Group}} {
		rt := newRuntime(t, options)
		c := shell("setsid sleep 61 >&- 2>&- & sleep 0.2; echo ok")
		if options.Containment == Group {
			c = shell("sleep 61 >&- 2>&- & sleep 0.2; echo ok")
		}
		mark := marked(c)
		answer := make(chan Result)
		go func() { answer <- rt.Run(within(t, 10*time.Second), c) }()
		time.Sleep(100 * time.Millisecond)
		release := exhaust(t)
		r := <-answer
		time.Sleep(100 * time.Millisecond)
		ended := false
		select {
		case <-r.Gone:
			ended = true
		default:
		}
		release()
		if left := survivors(mark); ended && len(left) > 0 {
			t.Errorf("%s: said to be gone: %v", options.name(), left)
		}
		if r.Err != nil || string(r.Stdout) != "ok\n" {
			t.Errorf("%s: %v, stdout %q", options.name(), r.Err, r.Stdout)
		}
		mustEnd(t, r, 2*time.Second)
		if left := survivors(mark); len(left) > 0 {
			t.Errorf("%s: survivors %v", options.name(), left)
		}
	}
}

// exhaust lets this process open nothing until release is called. What is open
// stays open.
func exhaust(t *testing.T) (release func()) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	limit := func(to uint64) {
		low := old
		low.Cur = to
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
			t.Fatal(err)
		}
	}
	limit(3) // stdin, stdout and stderr take these
	return func() { limit(old.Cur) }
}
