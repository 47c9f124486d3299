//go:build unix

package files

import (
	"io/fs"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/hookd-dev/hookd/executor/process"
)

// OpenFlags keep an open from blocking on a FIFO that took the file's place.
const OpenFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_CLOEXEC

// NoFollow makes an open fail at a symbolic link.
const NoFollow = syscall.O_NOFOLLOW

// Lstat returns the Info of a path, of a link itself.
func Lstat(path string) (Info, error) {
	var st unix.Stat_t
	if err := ignoringEINTR(func() error { return unix.Lstat(path, &st) }); err != nil {
		return Info{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return fromStat(&st), nil
}

// Stat returns the Info of what a path leads to.
func Stat(path string) (Info, error) {
	var st unix.Stat_t
	if err := ignoringEINTR(func() error { return unix.Stat(path, &st) }); err != nil {
		return Info{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return fromStat(&st), nil
}

// Fstat returns the Info of an open file.
func Fstat(f *os.File) (Info, error) {
	var st unix.Stat_t
	if err := ignoringEINTR(func() error { return unix.Fstat(int(f.Fd()), &st) }); err != nil {
		return Info{}, &fs.PathError{Op: "fstat", Path: f.Name(), Err: err}
	}
	return fromStat(&st), nil
}

func ignoringEINTR(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func fromStat(st *unix.Stat_t) Info {
	return Info{
		Dev: uint64(st.Dev), Ino: uint64(st.Ino), Size: st.Size,
		Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(),
		Mode: fileMode(uint32(st.Mode)), UID: int(st.Uid), GID: int(st.Gid),
	}
}

func fileMode(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	switch m & unix.S_IFMT {
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	}
	if m&unix.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if m&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if m&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

// BarredByMount reports whether nothing but the mount option noexec keeps this
// process from running the file. It keeps no copy elsewhere from running.
func BarredByMount(path string, st Info) bool {
	if !process.NoExec(path) {
		return false
	}
	groups, _ := os.Getgroups()
	switch {
	case os.Geteuid() == 0:
		return st.Mode&0o111 != 0
	case st.UID == os.Geteuid():
		return st.Mode&0o100 != 0
	case st.GID == os.Getegid() || slices.Contains(groups, st.GID):
		return st.Mode&0o010 != 0
	}
	return st.Mode&0o001 != 0
}

// MayExecute reports whether this process may run the file.
func MayExecute(path string, st Info) bool {
	return st.Mode&0o111 != 0 && unix.Access(path, unix.X_OK) == nil
}
