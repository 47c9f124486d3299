//go:build unix

package guarded

import (
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// watchReader returns what is closed once nobody can read any more what is written to a pipe
// or a socket, such as our stdout when the client has died: a write would fail, and there may
// be none for a long time. stop ends the watch.
func watchReader(f *os.File) (left <-chan struct{}, stop func()) {
	woke, wake, err := os.Pipe()
	if err != nil {
		return nil, func() {}
	}
	var watching sync.WaitGroup
	gone := make(chan struct{})
	fds := []unix.PollFd{{Fd: int32(f.Fd())}, {Fd: int32(woke.Fd()), Events: unix.POLLIN}} // of the first, POLLERR and POLLHUP come unasked
	watching.Go(func() {
		for {
			switch _, err := unix.Poll(fds, -1); {
			case errors.Is(err, unix.EINTR):
			case err != nil || fds[1].Revents != 0 || fds[0].Revents&unix.POLLNVAL != 0:
				return
			case fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0:
				close(gone)
				return
			}
		}
	})
	return gone, sync.OnceFunc(func() {
		wake.Close()
		watching.Wait()
		woke.Close()
	})
}
