//go:build unix

package main

import (
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// readAll reads a descriptor to its end, but no more than most bytes, and not past the time
// when the answer is due.
func readAll(fd, most int, due time.Time) ([]byte, error) {
	text := make([]byte, 0, 8<<10)
	for len(text) < most {
		if err := wait(fd, unix.POLLIN, due); err != nil {
			return text, err
		}
		if len(text) == cap(text) {
			text = append(text, make([]byte, cap(text))...)[:len(text)]
		}
		n, err := unix.Read(fd, text[len(text):min(cap(text), most)])
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
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

// pipePiece is what a pipe that is ready takes at once (PIPE_BUF).
const pipePiece = 4096

// writeAll writes everything to a descriptor, or fails with errLate at a time, zero for
// never.
func writeAll(fd int, text []byte, until time.Time) error {
	for len(text) > 0 {
		piece := text
		if !until.IsZero() {
			if err := wait(fd, unix.POLLOUT, until); err != nil {
				return err
			}
			piece = text[:min(len(text), pipePiece)]
		}
		n, err := unix.Write(fd, piece)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
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

// wait waits until a descriptor is ready, or fails with errLate at a time, zero for never.
func wait(fd int, event int16, until time.Time) error {
	polled := [1]unix.PollFd{{Fd: int32(fd), Events: event}}
	for {
		timeout := -1
		if !until.IsZero() {
			timeout = int(max(0, time.Until(until)+time.Millisecond-1) / time.Millisecond)
		}
		n, err := unix.Poll(polled[:], timeout)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n > 0:
			return nil
		case !until.IsZero() && time.Until(until) <= 0:
			return errLate
		}
	}
}
