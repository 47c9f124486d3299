//go:build unix

package daemon

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/hookd-dev/hookd/protocol/rpc"
)

// Stdio takes stdin and stdout for the protocol and leaves nothing of them to
// anyone else: descriptor 0 becomes the null device, and descriptor 1 what
// stderr is. So whatever a library, a panic or a program below this one prints
// on stdout lands on stderr, and each line on the real stdout is a message. It
// is to be called once, before anything is started.
//
// A reader that is gone shows as an error of Write and not as the death of the
// process, so that what runs can still be ended cleanly.
func Stdio(limit int64) (*rpc.Conn, error) {
	in, err := claim(0)
	if err != nil {
		return nil, err
	}
	out, err := claim(1)
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	if err := duplicate(int(null.Fd()), 0); err != nil {
		return nil, err
	}
	if err := duplicate(2, 1); err != nil {
		if err := duplicate(int(null.Fd()), 1); err != nil { // there is no stderr
			return nil, err
		}
	}
	// Not signal.Ignore: that would be inherited by every hook.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	reader, err := newReader(in)
	if err != nil {
		return nil, err
	}
	return rpc.NewConn(reader, os.NewFile(uintptr(out), "stdout"), limit), nil
}

// claim moves a descriptor away from its number, out of reach of children.
func claim(fd int) (int, error) {
	moved, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return -1, os.NewSyscallError("fcntl", err)
	}
	return moved, nil
}

// reader reads a descriptor in a way that Close can end. The descriptor may
// block, and that must not be changed: the program that started us shares it.
type reader struct {
	fd         int
	wake, woke *os.File // closing wake makes woke readable
	once       sync.Once
	reading    sync.Mutex
}

func newReader(fd int) (*reader, error) {
	woke, wake, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &reader{fd: fd, wake: wake, woke: woke}, nil
}

func (r *reader) Read(p []byte) (int, error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	if r.fd < 0 {
		return 0, io.EOF
	}
	fds := []unix.PollFd{
		{Fd: int32(r.fd), Events: unix.POLLIN},
		{Fd: int32(r.woke.Fd()), Events: unix.POLLIN},
	}
	for {
		_, err := unix.Poll(fds, -1)
		if err == nil && fds[1].Revents != 0 {
			return 0, io.EOF
		}
		if err == nil {
			var n int
			if n, err = unix.Read(r.fd, p); err == nil && n == 0 {
				return 0, io.EOF
			} else if err == nil {
				return n, nil
			}
		}
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return 0, os.NewSyscallError("read stdin", err)
		}
	}
}

// Close ends a waiting Read and every later one.
func (r *reader) Close() error {
	var err error
	r.once.Do(func() {
		err = r.wake.Close()
		r.reading.Lock()
		defer r.reading.Unlock()
		err = errors.Join(err, unix.Close(r.fd))
		r.fd = -1
	})
	return err
}
