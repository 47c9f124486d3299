//go:build unix

package meet

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// CheckOwn fails unless dir is a folder of ours that is open to nobody else.
func CheckOwn(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return errors.New(dir + " is not a folder")
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
		return errors.New("the folder " + dir + " does not belong to this user")
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return errors.New("the folder " + dir + " is open to others (mode 0" + strconv.FormatUint(uint64(mode), 8) + "): chmod 700 it, or use another")
	}
	return nil
}
