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
	return rpc.NewConn(reader, out, limit), nil
}

// claim moves a descriptor away from its number, out of reach of children.
func claim(fd int) (*os.File, error) {
	moved, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(moved), []string{"stdin", "stdout"}[fd]), nil
}

// reader reads a descriptor that may block, and whose mode must not be changed
// since it is shared with whoever started us, in a way that Close can end.
type reader struct {
	file       *os.File
	wake, woke *os.File
	once       sync.Once
	mu         sync.Mutex // held while a Read uses the descriptors
}

func newReader(file *os.File) (*reader, error) {
	woke, wake, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &reader{file: file, wake: wake, woke: woke}, nil
}

func (r *reader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fds := []unix.PollFd{
		{Fd: int32(r.file.Fd()), Events: unix.POLLIN},
		{Fd: int32(r.woke.Fd()), Events: unix.POLLIN},
	}
	for {
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return 0, os.NewSyscallError("poll", err)
		}
		if fds[1].Revents != 0 {
			return 0, io.EOF
		}
		if fds[0].Revents != 0 {
			return r.file.Read(p)
		}
	}
}

// Close ends a waiting Read and every later one.
func (r *reader) Close() error {
	var err error
	r.once.Do(func() {
		_ = r.wake.Close()
		r.mu.Lock()
		defer r.mu.Unlock()
		err = errors.Join(r.file.Close(), r.woke.Close())
	})
	return err
}
