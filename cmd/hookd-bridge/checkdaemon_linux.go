package main

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/hookd-dev/hookd/internal/program"
	"github.com/hookd-dev/hookd/protocol/rpc/socket/meet"
	"golang.org/x/sys/unix"
)

// A daemon is checked before it is believed: whatever listens at the socket could let
// everything pass.

// open connects to a daemon, and fails if it is not the hookd that was installed, which lies
// in our own folder, or does not run under our user.
func (c *connection) open(socket, state string) error {
	own, err := installedHookd(state)
	if err == nil {
		err = meet.CheckOwn(filepath.Dir(socket))
	}
	if err != nil {
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

// installedHookd returns the path of hookd in our own folder, if it is still the file that
// install recorded.
func installedHookd(state string) (string, error) {
	installed, err := program.Read(state)
	if err != nil {
		return "", err
	}
	own, err := hookd()
	if err != nil {
		return "", err
	}
	if now, err := program.IdentityOf(own); err != nil || own != installed.Path || now != installed.File {
		return "", errors.New("hookd is not the one that was installed")
	}
	return own, nil
}
