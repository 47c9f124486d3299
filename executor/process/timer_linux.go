package process

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// timer is one of the kernel's, which sends this process a signal also while the
// process is stopped.
type timer struct{ id int32 }

func (t *timer) make(s syscall.Signal) error {
	// The kernel's struct sigevent, of 64 bytes on every system. A notify of 0 is a
	// signal to the process.
	event := struct {
		value          uintptr
		signal, notify int32
		_              [64]byte
	}{signal: int32(s)}
	_, _, errno := syscall.Syscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&t.id)))
	if errno != 0 {
		return errno
	}
	return nil
}

// set makes the timer come after first and then every pause; 0 is never.
func (t *timer) set(first, pause time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(first)), Interval: unix.NsecToTimespec(int64(pause))}
	syscall.Syscall6(unix.SYS_TIMER_SETTIME, uintptr(t.id), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
}

func (t *timer) remove() { syscall.Syscall(unix.SYS_TIMER_DELETE, uintptr(t.id), 0, 0) }
