package meet

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// PeerOf asks the kernel who is at the other end of a connected Unix socket. It names the
// process that began to listen there, or to connect.
func PeerOf(fd int) (Peer, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return Peer{}, wrap("who is at the other end", err)
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
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) { // the latter with hidepid=2
		return p.checkSign(path, want)
	}
	if err != nil {
		return wrap("what the other end runs cannot be seen", err)
	}
	if !os.SameFile(want, runs) {
		return errors.New("the other end (process " + strconv.Itoa(p.PID) + ") does not run " + path)
	}
	return nil
}

// Sign makes this process known as one that runs its program file, until the
// returned function is called. A daemon that keeps its environment from other
// programs of its user keeps from them what it runs, too. So it holds a shared lock
// on the file, and the kernel lists who holds which.
func Sign() (off func()) {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return func() {}
	}
	_ = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	return func() { f.Close() }
}

// checkSign fails unless the peer holds the lock that [Sign] takes. A program of our
// user can take it without being the daemon; so it could stand in for the daemon
// where the program file is seen, by running that first.
func (p Peer) checkSign(path string, want fs.FileInfo) error {
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return wrap("what the other end runs cannot be seen", err)
	}
	file, ok := want.Sys().(*syscall.Stat_t)
	for line := range strings.Lines(string(locks)) {
		// 7: FLOCK  ADVISORY  READ 4711 fe:00:1234 0 EOF
		fields := strings.Fields(line)
		if ok && len(fields) > 5 && fields[1] == "FLOCK" && fields[4] == strconv.Itoa(p.PID) && strings.HasSuffix(fields[5], ":"+strconv.FormatUint(file.Ino, 10)) {
			return nil
		}
	}
	return errors.New("the other end (process " + strconv.Itoa(p.PID) + ") does not run " + path)
}
