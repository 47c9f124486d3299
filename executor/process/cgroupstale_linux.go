package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// removeStale ends and removes what hookd processes left that were killed: a
// group whose lock is free has lost its owner. What belongs to another user is
// left to that user.
func removeStale(own string) {
	entries, err := os.ReadDir(own)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), cgroupPrefix) {
			continue
		}
		dir := filepath.Join(own, entry.Name())
		handle, err := os.Open(dir)
		if err != nil {
			continue
		}
		if unix.Flock(int(handle.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			killCgroup(dir, time.Second)
		}
		handle.Close()
	}
}

// killCgroup kills everything in a control group and below, waits for it for at
// most patience, and removes the group.
func killCgroup(dir string, patience time.Duration) error {
	for end := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte{'1'}, 0); errors.Is(err, os.ErrNotExist) {
			return nil
		}
		err := removeCgroup(dir)
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}

// removeCgroup removes a control group and those below it; all must be empty.
func removeCgroup(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if entry.IsDir() {
			if err := removeCgroup(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	if err := unix.Rmdir(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove control group %s: %w", dir, err)
	}
	return nil
}
