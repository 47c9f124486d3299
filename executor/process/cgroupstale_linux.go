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

// removeCgroup removes a control group and those below it; all must be empty. A
// program may nest them deeper than a path can be long, so the way goes from folder
// to folder.
func removeCgroup(dir string) error {
	at, err := openFolder(unix.AT_FDCWD, dir)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err == nil {
		at, err = removeBelow(at)
		unix.Close(at)
	}
	if err == nil {
		err = unix.Rmdir(dir)
	}
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove control group %s: %w", dir, err)
	}
	return nil
}

// removeBelow removes the groups below an open one and returns the one it is in.
func removeBelow(at int) (int, error) {
	open := [][]string{subfolders(at)} // not visited yet, in each folder on the way
	var way []string
	for {
		if last := len(open) - 1; len(open[last]) > 0 {
			name := open[last][0]
			open[last] = open[last][1:]
			below, err := openFolder(at, name)
			if errors.Is(err, unix.ENOENT) {
				continue
			}
			if err != nil {
				return at, err
			}
			unix.Close(at)
			at = below
			way, open = append(way, name), append(open, subfolders(at))
			continue
		}
		if len(way) == 0 {
			return at, nil
		}
		above, err := openFolder(at, "..")
		if err != nil {
			return at, err
		}
		unix.Close(at)
		at = above
		name := way[len(way)-1]
		way, open = way[:len(way)-1], open[:len(open)-1]
		if err := unix.Unlinkat(at, name, unix.AT_REMOVEDIR); err != nil && !errors.Is(err, unix.ENOENT) {
			return at, err
		}
	}
}

func openFolder(at int, name string) (int, error) {
	return unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

func subfolders(at int) (names []string) {
	fd, err := openFolder(at, ".")
	if err != nil {
		return nil
	}
	folder := os.NewFile(uintptr(fd), ".")
	defer folder.Close()
	entries, _ := folder.ReadDir(-1)
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names
}
