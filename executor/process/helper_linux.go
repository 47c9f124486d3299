package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// guardianName is the name, in argv[0], of the helper that a Runtime makes of its
// own executable. A process list shows it.
const guardianName = "hookd: guardian"

// ownExecutable leads to the file that this process was started from, also after
// another one has taken its name.
const ownExecutable = "/proc/self/exe"

// A Runtime makes its helper by starting its own executable again. The takeover
// is here and not in main, because a program that forgot to call it would run as
// itself in place of the helper, and start helpers of its own without end.
func init() { becomeHelper() }

// becomeHelper takes over the process when a Runtime started it as its helper, and
// does not return then.
func becomeHelper() {
	if len(os.Args) == 0 || os.Args[0] != guardianName || !isPipe(helperPipe) {
		return
	}
	nameThread(guardianName)
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // no debugger can stop it
	runGuardian()
}

// isPipe keeps a program that merely has a helper's name from becoming one.
func isPipe(fd int) bool {
	var info unix.Stat_t
	return unix.Fstat(fd, &info) == nil && info.Mode&unix.S_IFMT == unix.S_IFIFO
}

// The descriptors that a helper has of its Runtime: the pipe that ends with it, and the
// [table].
const (
	helperPipe  = 3
	helperTable = 4
)
