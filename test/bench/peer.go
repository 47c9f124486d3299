//go:build unix

package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// work is what the floor, a program in C, does in a burst: it starts a program with two
// pipes, writes, reads to end of file and waits.
type work struct {
	program string
	args    []string // no blanks in them
	payload []byte
	group   int // programs started at once and waited for together, 0 for 1
	threads int // samples made side by side, 0 for 1
}

// spawns is the player of the floor.
func (k *kit) spawns(ctx context.Context, name string, w work) (player, error) {
	if k.spawner == nil {
		env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LANG=C.UTF-8"}
		spawner, err := k.startSpawner(ctx, k.folder, env)
		if err != nil {
			return player{}, err
		}
		k.spawner = spawner
	}
	return spawnsWith(k.spawner, k.folder, name, w)
}

// startSpawner starts a floor; what it starts has its folder and environment.
func (k *kit) startSpawner(ctx context.Context, dir string, env []string) (*peer, error) {
	program, err := k.compile(ctx, "floor.c", "floor", "-pthread")
	if err != nil {
		return nil, err
	}
	command := exec.Command(program)
	command.Dir, command.Env = dir, env
	return startPeer(command)
}

func spawnsWith(p *peer, folder, name string, w work) (player, error) {
	file, err := payloadFile(folder, w.payload)
	line := fmt.Sprintf("%d %d %s %s %s", max(1, w.group), max(1, w.threads), file, w.program, strings.Join(w.args, " "))
	return player{name: name, burst: func(ctx context.Context, n int) ([]time.Duration, error) {
		took, all, err := p.burst(ctx, fmt.Sprintf("%d %s", max(1, n/max(1, w.threads)), line))
		if err == nil && w.threads > 1 {
			return spread(all, len(took)), nil
		}
		return took, err
	}}, err
}

// talk is what the client, a program in C, does: it starts a program, sends the opening
// and reads the answers, and then sends the line again and again, each time after the
// answer to the one before.
type talk struct {
	opening, line []byte
	dir           string
	env           []string
	program       string
	args          []string
}

// talks is the player of a client of its own.
func (k *kit) talks(ctx context.Context, name string, t talk) (player, error) {
	client, err := k.compile(ctx, "client.c", "client")
	if err != nil {
		return player{}, err
	}
	opening, err := payloadFile(k.folder, t.opening)
	if err != nil {
		return player{}, err
	}
	line, err := payloadFile(k.folder, t.line)
	if err != nil {
		return player{}, err
	}
	command := exec.Command(client, append([]string{opening, line, t.program}, t.args...)...)
	command.Dir, command.Env = t.dir, t.env
	p, err := startPeer(command)
	if err != nil {
		return player{}, err
	}
	k.atEnd(p.close)
	return player{name: name, burst: func(ctx context.Context, n int) ([]time.Duration, error) {
		took, _, err := p.burst(ctx, strconv.Itoa(n))
		return took, err
	}}, nil
}

func payloadFile(folder string, payload []byte) (string, error) {
	file, err := os.CreateTemp(folder, "payload-")
	if err != nil {
		return "", err
	}
	_, err = file.Write(payload)
	return file.Name(), errors.Join(err, file.Close())
}

// peer is a process that measures for us: it makes a burst for each line that it
// reads, and answers with a line of nanoseconds for each sample and one for all.
type peer struct {
	mu      sync.Mutex
	command *exec.Cmd
	stdin   io.WriteCloser
	stdout  *bufio.Reader
}

func startPeer(command *exec.Cmd) (*peer, error) {
	p := &peer{command: command}
	command.Stderr = os.Stderr
	// An interrupt is for us. A peer ends when its stdin does, also if we are killed.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if p.stdin, err = command.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.stdout = bufio.NewReader(stdout)
	return p, command.Start()
}

func (p *peer) close() error {
	p.stdin.Close()
	_, drained := io.Copy(io.Discard, p.stdout)
	return errors.Join(drained, p.command.Wait())
}

// burst says how long each sample took and how long all of them together.
func (p *peer) burst(ctx context.Context, line string) (took []time.Duration, all time.Duration, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil {
		return nil, 0, context.Cause(ctx)
	}
	name := filepath.Base(p.command.Path)
	_, unread := fmt.Fprintln(p.stdin, line) // a peer that has ended has said why
	for {
		answer, err := p.stdout.ReadString('\n')
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", name, cmp.Or(unread, err))
		}
		word, rest, _ := strings.Cut(strings.TrimSpace(answer), " ")
		number := word
		switch word {
		case "error":
			return nil, 0, fmt.Errorf("%s: %s: %s", name, line, rest)
		case "all":
			number = rest
		}
		nanoseconds, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", name, err)
		}
		if word == "all" {
			return took, time.Duration(nanoseconds), nil
		}
		took = append(took, time.Duration(nanoseconds))
	}
}
