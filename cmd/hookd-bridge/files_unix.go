//go:build unix

package main

import (
	"io"

	"golang.org/x/sys/unix"
)

// readAll reads a descriptor to its end, but no more than most bytes.
func readAll(fd, most int) ([]byte, error) {
	text := make([]byte, 0, 16<<10)
	for len(text) < most {
		if len(text) == cap(text) {
			text = append(text, make([]byte, cap(text))...)[:len(text)]
		}
		n, err := unix.Read(fd, text[len(text):min(cap(text), most)])
		switch {
		case err == unix.EINTR || err == unix.EAGAIN && wait(fd, unix.POLLIN) == nil:
		case err != nil:
			return text, err
		case n == 0:
			return text, nil
		default:
			text = text[:len(text)+n]
		}
	}
	return text, nil
}

// writeAll writes everything to a descriptor.
func writeAll(fd int, text []byte) error {
	for len(text) > 0 {
		n, err := unix.Write(fd, text)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN && wait(fd, unix.POLLOUT) == nil:
		case err != nil:
			return err
		case n <= 0:
			return io.ErrShortWrite
		default:
			text = text[n:]
		}
	}
	return nil
}

// wait waits for a descriptor that an agent has made non-blocking.
func wait(fd int, event int16) error {
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: event}}, -1)
		if err != unix.EINTR {
			return err
		}
	}
}
