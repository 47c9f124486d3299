package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
		killMembers(dir)
	}
}

// killMembers kills the processes in a control group and below one by one. The
// kernel's own way sends the signal to the first thread of each, and so does
// nothing to a process whose first thread has ended before the others.
func killMembers(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if entry.IsDir() {
			killMembers(filepath.Join(dir, entry.Name()))
		}
	}
	for _, pid := range cgroupMembers(dir) {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		if slices.Contains(cgroupMembers(dir), pid) { // still, so it is the one opened
			unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
		unix.Close(fd)
	}
}

func cgroupMembers(dir string) (pids []int) {
	text, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	for line := range strings.Lines(string(text)) {
		if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
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
