package process

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// namespaces contains each program in a PID namespace. The kernel kills all of a
// namespace when its first process ends; that first process is a shim of ours,
// so that the program is an ordinary process which signals can reach.
type namespaces struct {
	user   bool // inside a user namespace, which needs no privilege
	passed []string
}

func newPidNamespace(passed []string) (containment, error) {
	return (&namespaces{passed: passed}).probed()
}

func newUserNamespace(passed []string) (containment, error) {
	return (&namespaces{user: true, passed: passed}).probed()
}

// probed nearly starts a process: making the namespace comes before looking for
// the program, so the error says whether it works. The shim is our own
// executable, which has a name in /proc only.
func (n *namespaces) probed() (containment, error) {
	if err := unix.Access(ownExecutable, unix.X_OK); err != nil {
		return nil, fmt.Errorf("%s: %w", ownExecutable, err)
	}
	_, err := syscall.ForkExec("/dev/null/none", []string{"none"}, &syscall.ProcAttr{Sys: n.attributes()})
	if err == syscall.ENOTDIR || err == syscall.ENOENT {
		return n, nil
	}
	return nil, fmt.Errorf("make a PID namespace: %w", err)
}

func (n *namespaces) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if n.user {
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
	return a
}

func (n *namespaces) report() Report {
	r := Report{
		Kind:   PidNamespace,
		Covers: "every process of a hook, whatever it does: a PID namespace of its own holds them",
		Misses: "",
		Passed: n.passed,
	}
	if n.user {
		r.Kind = UserNamespace
		r.Misses = "nothing; but a hook has only its own user id: sudo and other programs of another owner do not work in it"
	}
	return r
}

func (n *namespaces) close() error { return nil }

func (n *namespaces) cell(*Command) (cell, error) {
	var pair [2]int
	if err := unix.Pipe2(pair[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	return &namespaceCell{namespaces: n, report: pair[0], reporter: pair[1]}, nil
}

// namespaceCell is one namespace; its first process is the shim.
type namespaceCell struct {
	namespaces *namespaces
	shim       int
	report     int // read end, the program's from the start on
	reporter   int // write end, for the shim
	reaped     bool
}

func (n *namespaceCell) attach(l *launch) {
	l.sys.Cloneflags = n.namespaces.attributes().Cloneflags
	l.sys.UidMappings = n.namespaces.attributes().UidMappings
	l.sys.GidMappings = n.namespaces.attributes().GidMappings
	l.sys.Setsid = true
	l.argv = append([]string{initName, l.path}, l.argv...)
	l.path = ownExecutable
	l.extra, l.status = n.reporter, n.report
}

func (n *namespaceCell) started(pid int) {
	n.shim = pid
	n.report = -1 // the program closes it
	n.closeReporter()
}

// terminate asks the shim, which knows the program's group by the number it has
// inside.
func (n *namespaceCell) terminate() { syscall.Kill(n.shim, syscall.SIGTERM) }

func (n *namespaceCell) exited() { n.kill() }

func (n *namespaceCell) clean() bool { return false }

func (n *namespaceCell) record() guardRecord {
	return guardRecord{root: n.shim, start: startTime(n.shim)}
}

func (n *namespaceCell) kill() {
	if !n.reaped {
		syscall.Kill(n.shim, syscall.SIGKILL)
	}
}

// empty waits for the shim, which ends after all others of its namespace.
func (n *namespaceCell) empty() bool {
	if !n.reaped {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(n.shim, &status, syscall.WNOHANG, nil)
		if n.reaped = pid == n.shim || err == syscall.ECHILD; n.reaped {
			family.waitedFor(n.shim)
		}
	}
	return n.reaped
}

func (n *namespaceCell) await(d time.Duration) {
	if n.reaped {
		return
	}
	fd, err := unix.PidfdOpen(n.shim, 0)
	if err != nil {
		time.Sleep(d)
		return
	}
	pollOne(fd, unix.POLLIN, d)
	unix.Close(fd)
}

func (n *namespaceCell) free() {
	n.closeReporter()
	if n.report >= 0 {
		unix.Close(n.report)
		n.report = -1
	}
}

func (n *namespaceCell) closeReporter() {
	if n.reporter >= 0 {
		unix.Close(n.reporter)
		n.reporter = -1
	}
}
