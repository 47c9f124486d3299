package process

import (
	"fmt"
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// prepareProcess makes this process fit to start programs.
func prepareProcess(o *Options) error {
	closeOnExec()
	if !o.portable {
		o.portable = !hasPidfd()
	}
	return nil
}

// closeOnExec keeps descriptors that this process inherited from its parent from
// reaching the programs it starts. Those it opens itself are marked already.
func closeOnExec() {
	const first = 3
	if unix.CloseRange(first, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
}

// hasPidfd reports whether the kernel can watch a process by a descriptor.
func hasPidfd() bool {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}

// kinds lists the containments, the one that misses least first.
var kinds = []struct {
	kind Kind
	make func(unavailable []string) (containment, error)
}{
	{Cgroup, newCgroup},
	{Subreaper, newSubreaper},
	{Group, newGroup},
}

// choose takes the first containment that works here, or the one asked for.
func choose(o *Options) (containment, error) {
	var unavailable []string
	for _, k := range kinds {
		if o.Containment != k.kind && o.Containment != Best {
			continue
		}
		c, err := k.make(unavailable)
		if err == nil {
			return c, nil
		}
		unavailable = append(unavailable, fmt.Sprintf("%s: %v", k.kind, err))
	}
	return nil, fmt.Errorf("no containment works here: %v", unavailable)
}

func (rt *Runtime) startProgram(c *Command, l *launch) (program, error) {
	// Were a thread of ours to end, the kernel would take it for our death; none
	// does, as no goroutine of ours ends while it is locked to its thread.
	l.sys.Pdeathsig = unix.SIGKILL
	if rt.options.portable {
		return startPortable(c, l)
	}
	return startPolled(c, l)
}

// startProcess is os.StartProcess for a child that its starter waits for.
func startProcess(path string, argv []string, attr *os.ProcAttr) (process *os.Process, err error) {
	err = ourChildren.start(func() (int, error) {
		if process, err = os.StartProcess(path, argv, attr); err != nil {
			return 0, err
		}
		return process.Pid, nil
	})
	return process, err
}

func waitedFor(pid int) { ourChildren.waitedFor(pid) }
