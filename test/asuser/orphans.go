//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Orphans are processes whose parents in the tests have ended. This process adopts
// them: the first one of a container often reaps nobody, and they would stay as
// zombies after the tests.
type orphans struct {
	mu       sync.Mutex
	children map[int]bool // started here; somebody waits for them
	stop     chan struct{}
	stopped  sync.WaitGroup
}

func adopt() (*orphans, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	o := &orphans{children: map[int]bool{}, stop: make(chan struct{})}
	o.stopped.Go(func() {
		for {
			select {
			case <-o.stop:
				return
			case <-time.After(100 * time.Millisecond):
				o.reap()
			}
		}
	})
	return o, nil
}

// start starts a child that its caller waits for.
func (o *orphans) start(start func() error, pid func() int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := start(); err != nil {
		return err
	}
	o.children[pid()] = true
	return nil
}

// reap waits for each orphan that has ended.
func (o *orphans) reap() {
	o.mu.Lock()
	defer o.mu.Unlock()
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// pid (name) state ppid …; the name may hold anything.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || len(fields) < 2 || string(fields[0]) != "Z" || string(fields[1]) != strconv.Itoa(os.Getpid()) || o.children[pid] {
			continue
		}
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
}

// end stops the reaping. It must be called when no process of the tests is left.
func (o *orphans) end() {
	close(o.stop)
	o.stopped.Wait()
	o.reap()
}
