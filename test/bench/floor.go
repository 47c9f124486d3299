//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// floor is the C program that shows what the machine needs at the least. It runs
// beside us for the whole measurement and makes a burst when it is told to.
type floor struct {
	mu       sync.Mutex
	command  *exec.Cmd
	stdin    io.WriteCloser
	stdout   *bufio.Reader
	folder   string
	payloads map[string]string // file of each payload written so far
}

func startFloor(program, folder string) (*floor, error) {
	f := &floor{command: exec.Command(program), folder: folder, payloads: map[string]string{}}
	// What a hook's environment is at the least, so that programs start alike.
	f.command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LANG=C.UTF-8"}
	f.command.Dir = folder
	f.command.Stderr = os.Stderr
	var err error
	if f.stdin, err = f.command.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := f.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	f.stdout = bufio.NewReader(stdout)
	return f, f.command.Start()
}

func (f *floor) close() error {
	f.stdin.Close()
	return f.command.Wait()
}

// work is what the floor does in a burst.
type work struct {
	program string
	payload []byte
	group   int // programs started at once and waited for together, 0 = 1
	threads int // samples made side by side, 0 = 1
}

// burst makes n samples in each thread, and says how long each took and how
// long all of them together.
func (f *floor) burst(ctx context.Context, w work, n int) (took []time.Duration, all time.Duration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, 0, context.Cause(ctx)
	}
	file, err := f.file(w.payload)
	if err != nil {
		return nil, 0, err
	}
	if _, err := fmt.Fprintf(f.stdin, "%d %d %d %s %s\n", n, max(1, w.group), max(1, w.threads), file, w.program); err != nil {
		return nil, 0, fmt.Errorf("floor: %w", err)
	}
	for {
		line, err := f.stdout.ReadString('\n')
		if err != nil {
			return nil, 0, fmt.Errorf("floor: %w", err)
		}
		word, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "error" {
			return nil, 0, fmt.Errorf("floor: %s: %s", filepath.Base(w.program), number)
		}
		if word != "all" {
			number = word
		}
		nanoseconds, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, 0, fmt.Errorf("floor: %w", err)
		}
		if word == "all" {
			return took, time.Duration(nanoseconds), nil
		}
		took = append(took, time.Duration(nanoseconds))
	}
}

// file is a file that holds the payload.
func (f *floor) file(payload []byte) (string, error) {
	if path, known := f.payloads[string(payload)]; known {
		return path, nil
	}
	path := filepath.Join(f.folder, fmt.Sprintf("payload-%d", len(f.payloads)))
	if err := os.WriteFile(path, payload, 0o600); err != nil {
		return "", err
	}
	f.payloads[string(payload)] = path
	return path, nil
}

// player is the floor as a player of a contest.
func (f *floor) player(name string, w work) player {
	return player{name: name, burst: func(ctx context.Context, n int) ([]time.Duration, error) {
		took, all, err := f.burst(ctx, w, max(1, n/max(1, w.threads)))
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
