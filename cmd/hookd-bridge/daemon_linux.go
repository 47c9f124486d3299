package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd-dev/hookd/internal/program"
	"github.com/hookd-dev/hookd/protocol/rpc/socket/meet"
)

// asksDaemons says that this system tells which program is at the other end of a socket.
const asksDaemons = true

// ask has the daemon of the project answer. On an error the call is to be answered without
// it; start then names the socket on which a new one should be started, "" for none.
func (m *messenger) ask(input []byte) (r reply, start string, err error) {
	if len(input) > mostInput {
		return r, "", errors.New("too large for a daemon")
	}
	cwd, err := unix.Getwd()
	if err != nil {
		return r, "", err
	}
	state, err := stateDir()
	if err != nil {
		return r, "", err
	}
	socket, err := meet.Path(meet.Project(cwd, os.Getenv("HOME")), state)
	if err == nil {
		err = meet.CheckPath(socket)
	}
	if err != nil {
		return r, "", err
	}
	if m.start {
		start = socket
	}
	left := time.Until(m.due)
	c := connection{patience: min(left/4, patience), due: m.due}
	if err := c.open(socket, state); err != nil {
		return r, start, err
	}
	own := event{
		agent: m.agent, name: m.event, cwd: cwd, environ: os.Environ(), input: input,
		leftMs: (left - min(left/10, margin)).Milliseconds(),
	}
	line, err := own.encode()
	if err != nil {
		return r, "", err
	}
	r, err = c.exchange(line)
	return r, "", err
}

const (
	// patience is how long the daemon may be silent before it is asked whether it is there,
	// and then again before the messenger does without it.
	patience = time.Second
	// margin is how much earlier than the messenger the daemon refuses what is late: it
	// knows which hooks were.
	margin = 100 * time.Millisecond
)

// stateDir is the user's state folder, by the rules of package state; where that would
// look into the user database, hookd has to.
func stateDir() (string, error) {
	if base := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "hookd"), nil
	}
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "hookd"), nil
	}
	return "", errors.New("neither HOME nor XDG_STATE_HOME says where the state folder is")
}

// connection is a connection to a daemon. Nothing closes it but the end of this process, or
// its becoming hookd.
type connection struct {
	patience time.Duration
	due      time.Time
	fd       int
	unread   []byte
}

// open connects to a daemon, if it is the hookd that was installed, which lies in our own
// folder, and runs under our user.
func (c *connection) open(socket, state string) error {
	installed, err := program.Read(state)
	if err != nil {
		return err
	}
	own, err := hookd()
	if err != nil {
		return err
	}
	if now, err := program.IdentityOf(own); err != nil || own != installed.Path || now != installed.File {
		return errors.New("hookd is not the one that was installed")
	}
	if err := meet.CheckOwn(filepath.Dir(socket)); err != nil {
		return err
	}
	c.fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	// A daemon that hangs may have a full queue of connections, or of bytes.
	limit := unix.NsecToTimeval(max(c.patience, time.Millisecond).Nanoseconds())
	if err := unix.SetsockoptTimeval(c.fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit); err != nil {
		return err
	}
	if err := unix.Connect(c.fd, &unix.SockaddrUnix{Name: socket}); err != nil {
		return err
	}
	peer, err := meet.PeerOf(c.fd)
	if err == nil {
		err = peer.CheckUser()
	}
	if err == nil {
		err = peer.CheckExecutable(own)
	}
	return err
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
