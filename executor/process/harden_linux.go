package process

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// ProgramName is what [Harden] calls a process. Nobody but the process itself can
// change it.
const ProgramName = "hookd"

// Harden is for a program that is hookd itself, not one that has it in it. It names
// the process, so that whatever comes from its programs is known by it however the
// executable is called, and closes the process to other programs of its user, those
// it starts included: they can read neither its environment nor its memory nor its
// descriptors in /proc, and attach no debugger. There are no core dumps either. What
// it starts is not closed. Call it in an init function, which the first thread runs.
//
// Root sees everything as before, and everybody the command line.
func Harden() {
	nameThread(ProgramName)
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// nameThread names the thread that calls, which must be the first: it has the
// process's name.
func nameThread(name string) {
	text := append([]byte(name), 0)
	unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&text[0])), 0, 0, 0)
}
