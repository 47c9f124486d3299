//go:build unix

package install

import (
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// mayWrite reports whether this user may write to a file or into a folder.
func mayWrite(path string) bool { return unix.Access(path, unix.W_OK) == nil }

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
