package process

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hookd-dev/hookd/test/prove"
)

// hasMark waits until it can tell whether a process has the mark.
func hasMark(pid int, mark string) bool {
	if e, ok := readEntry(pid); !ok || e.zombie || e.session == 0 {
		return false
	}
	for range 200 {
		if b := readEnvTag(pid, mark); b != unclear {
			return b == member
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// survivors lists the processes alive that were started with the mark.
func survivors(mark string) []string {
	var list []string
	table, _ := processTable()
	for _, e := range table {
		if !e.zombie && hasMark(e.pid, mark) {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", e.pid))
			list = append(list, fmt.Sprintf("%d %q", e.pid, line))
		}
	}
	return list
}

// available lists the containments that work here, each with every ladder.
func available(t *testing.T) []Options {
	t.Helper()
	var list []Options
	for _, kind := range []Kind{Cgroup, Subreaper, Group} {
		rt, err := New(Options{Containment: kind})
		if err != nil {
			t.Logf("not available here: %v", err)
			continue
		}
		rt.Close()
		list = append(list, Options{Containment: kind})
	}
	// A process stays a sub-reaper, and the orphans of other containments would
	// come to it and wait in vain to be reaped. Who asks for it gets it anew.
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	return append(list, Options{Containment: Group, portable: true}, Options{Containment: Subreaper, portable: true})
}

func (o Options) name() string {
	if o.portable {
		return string(o.Containment) + "-portable"
	}
	return string(o.Containment)
}

// shapes are the ways in which a program's processes escape (G2). Each script
// then goes on to the end given: exit, or sleep until the limit.
var shapes = []struct {
	name   string
	script string
	leaves bool // the process group
	chain  bool
}{
	{name: "background child", script: `sleep 61 &`},
	{name: "setsid", script: `setsid sleep 61 &`, leaves: true},
	{name: "double fork", script: `(setsid sh -c '(sleep 61 & sleep 61 &) & exit' &)`, leaves: true},
	{name: "daemon holding stdout", script: `setsid sh -c 'trap "" HUP TERM; sleep 61; echo no' & `, leaves: true},
	{name: "TERM ignored", script: `trap '' TERM INT HUP; (while :; do sleep 0.2; done) &`},
	{name: "storm of 200", script: `i=0; while [ $i -lt 100 ]; do sleep 61 & setsid sleep 61 & i=$((i+1)); done`, leaves: true},
	{name: "leaves its control group", script: `(` + leaveGroup + `setsid sh -c 'sleep 61 & sleep 61' &)`, leaves: true},
	{name: "fork chain", script: `"$SELF" program chain 4 &`, leaves: true, chain: true},
}

// leaveGroup moves a shell out of the control group that a Runtime made for it, where
// there is one, to that of the process which started it.
const leaveGroup = `top=$(sed -n 's/^[^ ]* [^ ]* [^ ]* [^ ]* \([^ ]*\) .* - cgroup2 .*/\1/p' /proc/self/mountinfo | head -n 1); own=$(sed -n 's/^0:://p' /proc/self/cgroup); case $own in */hookd.*) { echo $$ >"$top${own%/hookd.*}/cgroup.procs"; } 2>/dev/null;; esac; `

func init() { programs["chain"] = func(args []string) { forkChain() } }

// forkChain is a process that leaves its session, starts a copy of itself and
// ends, on and on for four seconds. No program is started, so a step is as short
// as it can be.
//
//go:norace
//go:nocheckptr
func forkChain() {
	var began, now unix.Timespec
	clock(&began)
	for {
		pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
		if errno != 0 || pid != 0 {
			syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
		syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
		clock(&now)
		if now.Sec-began.Sec > 4 {
			syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
}

//go:norace
//go:nosplit
func clock(t *unix.Timespec) {
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(t)), 0)
}

// TestNothingSurvives is G2, with H03, H15 and H21: whatever a program starts is
// dead after its run, and the run does not wait for it.
func TestNothingSurvives(t *testing.T) {
	needs(t, "setsid")
	var sum tally
	var covered []string
	for _, options := range available(t) {
		if options.portable && count(0, 1) == 0 {
			continue // ends its tree as another one of the list does; it is in the long proof
		}
		rt := newRuntime(t, options)
		covered = append(covered, options.name())
		full := 4 // of ways that are there for completeness
		if reflect.DeepEqual(options, Options{Containment: rt.Containment().Kind}) && (len(covered) == 1 || options.Containment == Subreaper) {
			full = 100
		}
		t.Run(options.name(), func(t *testing.T) {
			for _, shape := range shapes {
				if shape.leaves && options.Containment == Group || shape.chain && options.Containment == Subreaper {
					if rt.Containment().Misses == "" {
						t.Errorf("%s: not covered, and the report does not say so", shape.name)
					}
					continue
				}
				for _, limited := range []bool{false, true} {
					if shape.name == "storm of 200" && !limited && options.Containment != Cgroup && count(0, 1) == 0 {
						continue // the slowest; it is in the long proof
					}
					t.Run(fmt.Sprintf("%s/limited=%v", shape.name, limited), func(t *testing.T) {
						t.Parallel()
						for range count(1, full) {
							escape(t, rt, shape.script, limited, &sum)
						}
					})
				}
			}
		})
	}
	prove.Figure(t, "G2", "%d runs of %d shapes under %s: %s", sum.rounds, len(shapes), strings.Join(covered, ", "), &sum)
}

func escape(t *testing.T, rt *Runtime, script string, limited bool, sum *tally) {
	t.Helper()
	const limit = 700 * time.Millisecond
	end := "\nsleep 0.15; echo said" // time to escape
	if limited {
		end += "\nsleep 62; true"
	}
	c := shell(script + end)
	c.Env = append(c.Env, "SELF="+self(t, "").Path)
	c.Grace = 50 * time.Millisecond
	mark := marked(c)
	over := time.Duration(0)
	ctx := within(t, 20*time.Second)
	if limited {
		ctx = within(t, limit)
	}
	r := rt.Run(ctx, c)
	if limited {
		if r.Err != errLimit {
			t.Errorf("ended with %v, exit %d, %s", r.Err, r.ExitCode, r.Signal)
		}
		if over = r.Took - limit; over > late() {
			t.Errorf("answer %s after the limit", over)
		}
	} else if r.Err != nil || r.ExitCode != 0 || string(r.Stdout) != "said\n" {
		t.Errorf("ended with %v, exit %d, %s; stdout %q", r.Err, r.ExitCode, r.Signal, r.Stdout)
	}
	mustEnd(t, r, 5*time.Second)
	left := survivors(mark)
	if sum.add(over, left); len(left) > 0 {
		t.Errorf("survivors: %v", left)
	}
}

// TestAborts is G10 and H46: control comes back at once, and nothing is alive
// afterwards, at whatever moment the abort comes.
func TestAborts(t *testing.T) {
	needs(t, "setsid")
	var sum tally
	t.Cleanup(func() { prove.Figure(t, "G10", "%d aborts of programs: %s", sum.rounds, &sum) })
	for _, options := range available(t) {
		t.Run(options.name(), func(t *testing.T) {
			if !prove.Full() {
				t.Parallel()
			}
			rt := newRuntime(t, options)
			script := `sleep 61 & (setsid sleep 61 &); sleep 61`
			if options.Containment == Group {
				script = `sleep 61 & (sleep 61 &); sleep 61`
			}
			var marks []string
			rounds := count(12, 500)
			for i := range rounds {
				c := shell(script)
				c.Grace = 5 * time.Millisecond
				marks = append(marks, marked(c))
				delay := time.Duration(i) * 30 * time.Millisecond / time.Duration(rounds)
				r := rt.Run(within(t, delay), c)
				if r.Err != errLimit {
					t.Fatalf("round %d after %s ended with %v, exit %d, %s; stderr %q", i, delay, r.Err, r.ExitCode, r.Signal, r.Stderr)
				}
				over := r.Took - delay
				if over > late() || prove.Full() && over > 250*time.Millisecond {
					t.Errorf("control came back %s after the abort", over)
				}
				sum.add(over, nil)
				mustEnd(t, r, 5*time.Second)
			}
			for _, mark := range marks {
				if left := survivors(mark); len(left) > 0 {
					sum.add(0, left)
					t.Errorf("survivors: %v", left)
				}
			}
		})
	}
}

// TestForkChainLeavesNoZombies has a chain of thousands of processes in a control group,
// where others in this process may wait for children of theirs: what died there is reaped
// at once, so that the end of the next tree is seen quickly.
func TestForkChainLeavesNoZombies(t *testing.T) {
	rt := newRuntime(t, Options{})
	if rt.Containment().Kind != Cgroup {
		t.Skip("the test is about processes in a control group, and this user may not make one; CI runs it as root")
	}
	if ourChildren.dedicated {
		t.Fatal("another test made this process one that owns all its children")
	}
	c := shell(`"$SELF" program chain 4 & sleep 0.15; echo said`)
	c.Env = append(c.Env, "SELF="+self(t, "").Path)
	mark := marked(c)
	r := rt.Run(within(t, 10*time.Second), c)
	if r.Err != nil || string(r.Stdout) != "said\n" {
		t.Fatalf("ended with %v, %q", r.Err, r.Stdout)
	}
	mustEnd(t, r, 5*time.Second)
	if left := survivors(mark); len(left) > 0 {
		t.Errorf("alive: %v", left)
	}
	table, err := processTable()
	if err != nil {
		t.Fatal(err)
	}
	dead := 0
	for _, e := range table {
		if e.zombie && e.parent == os.Getpid() && e.session != startedIn(os.Getpid()) && endedInOurCgroup(e.pid) {
			dead++
		}
	}
	if dead > 0 {
		t.Errorf("%d dead processes of the chain are kept", dead)
	}
}
