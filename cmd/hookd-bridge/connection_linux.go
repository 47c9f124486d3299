package main

import (
	"bytes"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// connection is a connection to a daemon. Nothing closes it but the end of this process, or
// its becoming hookd.
type connection struct {
	patience time.Duration
	due      time.Time
	fd       int
	unread   []byte
}

var errSilent = errors.New("the daemon does not answer")

// exchange sends a line and returns the answer to it.
func (c *connection) exchange(line []byte) (r reply, err error) {
	if err := c.write(line); err != nil {
		return r, err
	}
	asked := false // whether it is there
	for {
		line, err := c.line()
		switch {
		case err == errLate && time.Until(c.due) <= 0:
			return r, errLate
		case err == errLate && asked:
			return r, errSilent
		case err == errLate:
			if asked, err = true, c.write([]byte(ping)); err != nil {
				return r, err
			}
			continue
		case err != nil:
			return r, err
		}
		asked = false
		r, answered, err := decode(line)
		if answered || err != nil {
			return r, err
		}
	}
}

func (c *connection) write(text []byte) error {
	for len(text) > 0 {
		n, err := unix.SendmsgN(c.fd, text, nil, nil, unix.MSG_NOSIGNAL)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// line reads a line, without its end. The error is errLate when the patience is over.
func (c *connection) line() ([]byte, error) {
	room := make([]byte, 8<<10)
	for {
		if line, rest, whole := bytes.Cut(c.unread, []byte("\n")); whole {
			c.unread = rest
			return line, nil
		}
		until := time.Now().Add(c.patience)
		if until.After(c.due) {
			until = c.due
		}
		if err := wait(c.fd, unix.POLLIN, until); err != nil {
			return nil, err
		}
		n, err := unix.Read(c.fd, room)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
		case err != nil:
			return nil, err
		case n == 0:
			return nil, errors.New("the daemon has ended")
		default:
			c.unread = append(c.unread, room[:n]...)
		}
	}
}
