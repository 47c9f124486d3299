package process

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// programName is the name that [Harden] gives to the process. No other process can change
// it.
const programName = "hookd"

// Harden protects this process from other programs of its user, also from those that it
// starts: they cannot read its environment, memory and descriptors in /proc, and cannot
// attach a debugger. The process dumps no core. Harden also names the process
// programName, so that its descendants recognise it whatever the executable is called.
// It does not protect the programs that this process starts. Root can still read
// everything, and every user the command line.
//
// Only the program hookd itself calls Harden, not a program that embeds it. The caller
// must be an init function, which runs on the first thread.
func Harden() {
	nameThread(programName)
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// nameThread names the thread that calls, which must be the first: it has the
// process's name.
func nameThread(name string) {
	text := append([]byte(name), 0)
	unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&text[0])), 0, 0, 0)
}
