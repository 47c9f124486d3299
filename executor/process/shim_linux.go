package process

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The names, in argv[0], of the two helpers that a Runtime makes of its own
// executable. They show in a process list.
const (
	initName     = "hookd: init"
	guardianName = "hookd: guardian"
)

// ownExecutable leads to the file that this process was started from, also after
// another one has taken its name.
const ownExecutable = "/proc/self/exe"

// A Runtime makes its helpers by starting its own executable again. The takeover
// is here and not in main, because a program that forgot to call it would run as
// itself in place of the helper, and start helpers of its own without end.
func init() { becomeHelper() }

// becomeHelper takes over the process when a Runtime started it as one of its
// helpers, and does not return then.
func becomeHelper() {
	if len(os.Args) == 0 || !isPipe(shimPipe) {
		return
	}
	switch {
	case os.Args[0] == initName && len(os.Args) >= 3 && os.Getpid() == 1:
		callSelf(initName)
		runInit(os.Args[1], os.Args[2:])
	case os.Args[0] == guardianName:
		callSelf(guardianName)
		unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // no debugger holds it
		runGuardian()
	}
}

// isPipe keeps a program that merely has a helper's name from becoming one.
func isPipe(fd int) bool {
	var info unix.Stat_t
	return unix.Fstat(fd, &info) == nil && info.Mode&unix.S_IFMT == unix.S_IFIFO
}

// shimPipe is the descriptor that a helper talks to its Runtime on.
const shimPipe = 3

// runInit is the first process of a PID namespace: it starts the program, tells
// how it ended, and reaps orphans until it is killed, and the namespace with it.
func runInit(path string, argv []string) {
	unix.CloseOnExec(shimPipe)
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, syscall.SIGTERM)

	pid, err := startInside(path, argv)
	if err != nil {
		errno, _ := err.(syscall.Errno)
		unix.Write(shimPipe, verdict{kind: verdictFailed, value: uint32(errno)}.bytes())
		os.Exit(1)
	}
	releaseStandardFiles()
	go func() {
		for range terms {
			terminateGroup(pid)
		}
	}()
	for {
		var status syscall.WaitStatus
		child, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case child == pid:
			unix.Write(shimPipe, verdict{kind: verdictEnded, value: uint32(status)}.bytes())
		case err == syscall.ECHILD:
			os.Exit(0) // nobody is left
		}
	}
}

// startInside starts the program in a session of its own. The file may be held
// open for writing by a fork elsewhere for a moment.
func startInside(path string, argv []string) (pid int, err error) {
	for pause, total := busyFirst, time.Duration(0); ; pause *= 2 {
		pid, err = syscall.ForkExec(path, argv, &syscall.ProcAttr{
			Env:   os.Environ(),
			Files: []uintptr{0, 1, 2},
			Sys:   &syscall.SysProcAttr{Setsid: true},
		})
		if err != syscall.ETXTBSY || total >= busyTotal {
			return pid, err
		}
		time.Sleep(pause)
		total += pause
	}
}

// releaseStandardFiles lets go of the program's three files, which would
// otherwise never be closed while the shim lives.
func releaseStandardFiles() {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	for fd := range 3 {
		if err != nil {
			unix.Close(fd)
			continue
		}
		unix.Dup3(null, fd, 0)
	}
}
