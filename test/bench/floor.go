//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// floor is the C program that shows what the machine needs at the least. It runs
// beside us for the whole measurement.
type floor struct {
	*peer
	folder   string
	payloads map[string]string // file of each payload written so far
}

// startFloor starts the floor; what it starts has its folder and environment.
func startFloor(program, folder, dir string, env []string) (*floor, error) {
	command := exec.Command(program)
	command.Dir, command.Env = dir, env
	p, err := startPeer(command)
	if err != nil {
		return nil, err
	}
	return &floor{peer: p, folder: folder, payloads: map[string]string{}}, nil
}

// leastEnv is what a hook's environment is at the least, so that programs start
// alike.
func leastEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LANG=C.UTF-8"}
}

// work is what the floor does in a burst.
type work struct {
	program string
	args    []string // no blanks in them
	payload []byte
	group   int // programs started at once and waited for together, 0 = 1
	threads int // samples made side by side, 0 = 1
}

// run makes n samples in each thread.
func (f *floor) run(ctx context.Context, w work, n int) (took []time.Duration, all time.Duration, err error) {
	file, err := f.file(w.payload)
	if err != nil {
		return nil, 0, err
	}
	line := fmt.Sprintf("%d %d %d %s %s %s", n, max(1, w.group), max(1, w.threads), file, w.program, strings.Join(w.args, " "))
	return f.burst(ctx, line)
}

// file is a file that holds the payload.
func (f *floor) file(payload []byte) (string, error) {
	if path, known := f.payloads[string(payload)]; known {
		return path, nil
	}
	file, err := os.CreateTemp(f.folder, "payload-")
	if err != nil {
		return "", err
	}
	defer file.Close()
	if _, err := file.Write(payload); err != nil {
		return "", err
	}
	f.payloads[string(payload)] = file.Name()
	return file.Name(), nil
}

// player is the floor as a player of a contest.
func (f *floor) player(name string, w work) player {
	return player{name: name, burst: func(ctx context.Context, n int) ([]time.Duration, error) {
		took, all, err := f.run(ctx, w, max(1, n/max(1, w.threads)))
		if err == nil && w.threads > 1 {
			return spread(all, len(took)), nil
		}
		return took, err
	}}
}

// spread is a burst of which only the whole time means something: runs that
// were in flight together.
func spread(all time.Duration, n int) []time.Duration {
	each := make([]time.Duration, n)
	for i := range each {
		each[i] = all / time.Duration(n)
	}
	return each
}

// buildEmpty builds a Go program that does nothing.
func buildEmpty(ctx context.Context, folder string) (string, error) {
	source, program := filepath.Join(folder, "empty.go"), filepath.Join(folder, "empty")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return "", err
	}
	if err := buildGo(ctx, folder, program, source); err != nil {
		return "", err
	}
	return program, nil
}
