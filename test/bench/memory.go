//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/client"
	"github.com/hookd-dev/hookd/schema"
)

// restAfter is when a daemon is at rest.
const restAfter = 5 * time.Second

// serveMemory is the resident memory of hookd serve at rest, with one project and hook. Own is
// the part of it that is not the program file's, whose pages all processes of hookd share.
func serveMemory(ctx context.Context, k *kit) (*race, error) {
	c := &race{}
	for _, build := range []struct{ name, tag string }{{"lean", leanTag}, {"whole", ""}} {
		figures, err := serveMemoryOf(ctx, k, build.name, build.tag)
		if err != nil {
			return nil, err
		}
		c.figures = append(c.figures, figures...)
	}
	return c, nil
}

func serveMemoryOf(ctx context.Context, k *kit, name, tag string) (figures []figure, err error) {
	program, err := k.hook(ctx, "sh", silent)
	if err != nil {
		return nil, err
	}
	hookd, err := k.hookd(ctx, tag)
	if err != nil {
		return nil, err
	}
	p, err := newProject(ctx, k.folder, guards(program, 1, ""), nil)
	if err != nil {
		return nil, err
	}
	before := children(os.Getpid())
	daemon, err := client.Start(ctx, client.Options{Name: "bench", Dir: p.root, Env: p.environ()}, hookd, "serve")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, daemon.Close()) }()
	session, err := daemon.Open(ctx, client.SessionOptions{Cwd: p.root})
	if err != nil {
		return nil, err
	}
	for range 5 {
		if _, err := session.Fire(ctx, p.event(usualSize)); err != nil {
			return nil, err
		}
	}
	if err := sleep(ctx, time.Duration(float64(restAfter)*min(1, max(0.1, 2*k.pace.scale)))); err != nil {
		return nil, err
	}
	for _, pid := range startedSince(before) {
		resident, err := memory(pid, "VmRSS:")
		if err != nil {
			return nil, err
		}
		own, err := memory(pid, "RssAnon:")
		if err != nil {
			return nil, err
		}
		figures = append(figures, figure{name, bytesUnit, resident}, figure{name + " own", bytesUnit, own})
		for _, guardian := range children(pid) {
			if resident, err := memory(guardian, "VmRSS:"); err == nil {
				figures = append(figures, figure{name + " guardian", bytesUnit, resident})
			}
		}
	}
	if figures == nil {
		return nil, skipf("memory is read from /proc, which is Linux's")
	}
	return figures, nil
}

// standbyMemory is the memory of a waiting process of a standby hook, its share of what
// is shared (Pss).
func standbyMemory(ctx context.Context, k *kit) (*race, error) {
	c := &race{}
	for _, language := range languages {
		program, err := k.hook(ctx, language, answering)
		var missing skip
		if errors.As(err, &missing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		before := children(os.Getpid())
		e, err := engineFor(ctx, k, program, 1, schema.Standby, nil)
		if err != nil {
			return nil, err
		}
		if err := e.fire(ctx, e.project.event(usualSize), 1); err != nil {
			return nil, err
		}
		if err := sleep(ctx, 500*time.Millisecond); err != nil { // until the next one waits
			return nil, err
		}
		waiting := startedSince(before)
		if len(waiting) != 1 {
			return nil, skipf("%d processes wait and not 1", len(waiting))
		}
		share, err := memory(waiting[0], "Pss:")
		if err != nil {
			return nil, err
		}
		c.figures = append(c.figures, figure{language, bytesUnit, share})
	}
	return c, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func startedSince(before []int) []int {
	return slices.DeleteFunc(children(os.Getpid()), func(pid int) bool { return slices.Contains(before, pid) })
}

// children lists the processes that a process has started and that are alive.
func children(parent int) []int {
	var list []int
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		// The name in brackets may hold anything.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) > 1 && fields[0] != "Z" && fields[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			list = append(list, pid)
		}
	}
	return list
}

// memory is a figure of a process's memory in bytes.
func memory(pid int, name string) (float64, error) {
	file := "status"
	if name == "Pss:" {
		file = "smaps_rollup"
	}
	return kilobytes(fmt.Sprintf("/proc/%d/%s", pid, file), name)
}

// kilobytes reads a line such as "VmRSS:  1234 kB" and returns bytes.
func kilobytes(file, name string) (float64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			return n * 1024, err
		}
	}
	return 0, fmt.Errorf("%s has no line %s", file, name)
}
