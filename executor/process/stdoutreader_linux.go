package process

import (
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stdoutReader is our end of an idle program's stdout. A read waits in a poll(2) of
// its own, because a program that writes into a pipe hands its processor to the thread
// that is blocked on it. The runtime's poller is another thread, which must wake a
// third one; that takes ten times as long.
type stdoutReader struct {
	out         *os.File
	raw         syscall.RawConn // of out
	wake        *os.File        // eventfd
	interrupted atomic.Bool
}

// openStdoutReader returns the reader and the end that the program writes to.
func openStdoutReader() (e *stdoutReader, theirs *os.File, err error) {
	var pair [2]int
	if err := unix.Pipe2(pair[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		unix.Close(pair[0])
		unix.Close(pair[1])
		return nil, nil, os.NewSyscallError("eventfd", err)
	}
	// Named files of blocking descriptors stay out of the runtime's poller.
	e = &stdoutReader{out: os.NewFile(uintptr(pair[0]), "stdout"), wake: os.NewFile(uintptr(wake), "wake")}
	theirs = os.NewFile(uintptr(pair[1]), "stdout")
	unix.SetNonblock(pair[0], true)
	if e.raw, err = e.out.SyscallConn(); err != nil {
		e.close()
		theirs.Close()
		return nil, nil, err
	}
	return e, theirs, nil
}

// read waits for what the program writes next. After interrupt its error is
// [os.ErrDeadlineExceeded].
func (e *stdoutReader) read(buffer []byte) (n int, err error) {
	closed := e.raw.Control(func(fd uintptr) {
		for n == 0 && err == nil {
			if n, err = e.wait(int(fd)); err == nil {
				n, err = readAvailable(int(fd), buffer)
			}
		}
	})
	if closed != nil {
		return 0, os.ErrClosed
	}
	return n, err
}

// wait returns when there may be something to read.
func (e *stdoutReader) wait(fd int) (int, error) {
	slots := [2]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(e.wake.Fd()), Events: unix.POLLIN}}
	_, err := unix.Ppoll(slots[:], nil, nil)
	if err != nil && err != unix.EINTR {
		time.Sleep(time.Millisecond) // see polled.pollEach
	}
	if e.interrupted.Load() {
		return 0, os.ErrDeadlineExceeded
	}
	return 0, nil
}

// readHeld reads what a pipe holds, nothing if it holds nothing now.
func readAvailable(fd int, buffer []byte) (int, error) {
	n, err := unix.Read(fd, buffer)
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return 0, nil
	case err != nil:
		return 0, err
	case n == 0 && len(buffer) > 0:
		return 0, io.EOF
	}
	return n, nil
}

// interrupt makes every read return, now and from now on.
func (e *stdoutReader) interrupt() {
	if e.interrupted.CompareAndSwap(false, true) {
		e.wake.Write([]byte{7: 1, 0: 1})
	}
}

func (e *stdoutReader) close() {
	e.out.Close()
	e.wake.Close()
}
