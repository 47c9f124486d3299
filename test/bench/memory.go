//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/schema"
)

// memoryEntries are about what is taken while nothing happens.
func (b *bench) memoryEntries() []entry {
	var list []entry
	for _, build := range []struct{ player, tag string }{{playerLean, leanTag}, {playerWhole, ""}} {
		list = append(list, entry{
			name: "memory/daemon-" + build.player, about: "resident memory of hookd serve (" + build.player + ") at rest, one project with one hook",
			measure: func(ctx context.Context) (*result, error) { return b.daemonMemory(ctx, build.tag) },
		})
	}
	return append(list, entry{name: "memory/standby", about: "memory of a waiting process of a standby hook, its share of what is shared (Pss)", measure: b.standbyMemory})
}

// restAfter is when a daemon is at rest.
const restAfter = 5 * time.Second

func (b *bench) daemonMemory(ctx context.Context, tag string) (r *result, err error) {
	l, err := b.language("sh")
	if err != nil {
		return nil, err
	}
	p, err := newProject(ctx, b.folder, guards(l.pass, 1, ""), nil)
	if err != nil {
		return nil, err
	}
	before := children(os.Getpid())
	session, end, err := b.serve(ctx, p, tag)
	if err != nil {
		return nil, err
	}
	defer func() {
		if failed := end(); err == nil {
			err = failed
		}
	}()
	var daemon int
	for _, pid := range children(os.Getpid()) {
		if !slices.Contains(before, pid) {
			daemon = pid
		}
	}
	if daemon == 0 {
		return nil, skipf("memory is read from /proc, which is Linux's")
	}
	for range 5 {
		if _, err := session.Fire(ctx, p.event(usualSize)); err != nil {
			return nil, err
		}
	}
	select {
	case <-time.After(time.Duration(float64(restAfter) * min(1, max(0.1, 2*b.options.pace.scale)))):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	r = &result{}
	resident, err := memory(daemon, "VmRSS:")
	if err != nil {
		return nil, err
	}
	r.figures = append(r.figures, figure{name: playerDaemon, unit: bytesUnit, value: resident})
	for _, pid := range children(daemon) {
		if guardian, err := memory(pid, "VmRSS:"); err == nil {
			r.figures = append(r.figures, figure{name: "guardian", unit: bytesUnit, value: guardian})
		}
	}
	return r, nil
}

// standbyMemory reads the memory of waiting processes, one for each language.
func (b *bench) standbyMemory(ctx context.Context) (*result, error) {
	if runtime.GOOS != "linux" {
		return nil, skipf("memory is read from /proc, which is Linux's")
	}
	r := &result{}
	for _, name := range languageNames {
		l := b.languages[name]
		if l.missing != nil {
			continue // said at the beginning
		}
		bytes, err := b.waitingMemory(ctx, l)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.figures = append(r.figures, figure{name: name, unit: bytesUnit, value: bytes})
	}
	return r, nil
}

func (b *bench) waitingMemory(ctx context.Context, l *language) (bytes float64, err error) {
	p, err := newProject(ctx, b.folder, guards(l.answer, 1, string(schema.Standby)), nil)
	if err != nil {
		return 0, err
	}
	before := children(os.Getpid())
	e, err := p.open(ctx, b.contained, b.pool)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	if err := e.fire(ctx, p.event(usualSize), 1); err != nil {
		return 0, err
	}
	select {
	case <-time.After(500 * time.Millisecond): // until the next one waits
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	waiting := slices.DeleteFunc(children(os.Getpid()), func(pid int) bool { return slices.Contains(before, pid) })
	if len(waiting) != 1 {
		return 0, fmt.Errorf("%d processes wait and not 1", len(waiting))
	}
	return memory(waiting[0], "Pss:")
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

// freeMemory is how many bytes may still be taken.
func freeMemory() (int64, bool) {
	free, err := kilobytes("/proc/meminfo", "MemAvailable:")
	return int64(free), err == nil
}
