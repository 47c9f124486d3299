//go:build unix

package meet

import (
	"fmt"
	"os"
	"syscall"
)

// CheckOwn fails unless dir is a folder of ours that is open to nobody else.
func CheckOwn(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("the folder %s does not belong to this user", dir)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("the folder %s is open to others (mode %#o): chmod 700 it, or use another", dir, mode)
	}
	return nil
}
