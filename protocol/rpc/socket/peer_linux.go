package socket

import (
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// PeerOf asks the kernel who is at the other end.
func PeerOf(conn *net.UnixConn) (Peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var cred *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return Peer{}, err
	}
	if failed != nil {
		return Peer{}, fmt.Errorf("who is at the other end: %w", failed)
	}
	return Peer{UID: int(cred.Uid), PID: int(cred.Pid)}, nil
}

// CheckExecutable fails unless the peer runs from the program file at path. It
// compares the files themselves, so a link or another name is the same program
// and a replaced one is not.
func (p Peer) CheckExecutable(path string) error {
	want, err := os.Stat(path)
	if err != nil {
		return err
	}
	runs, err := os.Stat("/proc/" + strconv.Itoa(p.PID) + "/exe")
	if err != nil {
		return fmt.Errorf("what the other end runs cannot be seen: %w", err)
	}
	if !os.SameFile(want, runs) {
		return fmt.Errorf("the other end (process %d) does not run %s", p.PID, path)
	}
	return nil
}
