//go:build unix

package install

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// mayWrite reports whether this user may write to a file or into a folder.
func mayWrite(path string) bool { return unix.Access(path, unix.W_OK) == nil }

// isQuota reports whether a user has used up the room that the system grants.
func isQuota(err error) bool { return errors.Is(err, unix.EDQUOT) }

// closed reports whether others than its owner cannot start a program, by its own mode or by
// that of a folder above it.
func closed(program string) bool {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return true
	}
	for path := real; ; path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return true
		}
		if path == filepath.Dir(path) {
			return false
		}
	}
}

// changeable reports whether anybody but root can change a program, by its file or by
// the folder that it lies in.
func changeable(program string) bool {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return true
	}
	for _, path := range []string{real, filepath.Dir(real)} {
		info, err := os.Stat(path)
		if err != nil {
			return true
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok || stat.Uid != 0 || info.Mode().Perm()&0o022 != 0 {
			return true
		}
	}
	return false
}
