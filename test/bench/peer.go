//go:build unix

package main

import (
	"bufio"
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
	if _, err := fmt.Fprintln(p.stdin, line); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", name, err)
	}
	for {
		answer, err := p.stdout.ReadString('\n')
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", name, err)
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
