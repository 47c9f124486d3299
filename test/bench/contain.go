//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/executor/process"
)

// containEntries are about what holding a hook's processes together costs, and
// about how surely and quickly they are ended.
func (b *bench) containEntries() []entry {
	return []entry{
		{name: "contain/cgroup", about: "a run in a control group of the pool, against the process group only", prepare: b.contain},
		{name: "abort/escapes", about: "from the abort until every process is dead, in six ways of escaping (grace 0)", measure: b.aborts},
	}
}

func (b *bench) contain(ctx context.Context) (*contest, error) {
	l, err := b.language("c")
	if err != nil {
		return nil, err
	}
	pooled, err := process.New(process.Options{Containment: process.Cgroup, LongLived: true})
	if err != nil {
		return nil, skip{err}
	}
	p, err := newProject(ctx, b.folder, nil, nil)
	if err != nil {
		return nil, err
	}
	payload := payloadOf(p.event(usualSize))
	return &contest{
		players: []player{
			{name: "none", burst: each(b.ladder(b.bare, p, l.noop, payload))},
			{name: "cgroup", burst: each(b.ladder(pooled, p, l.noop, payload))},
		},
		close: pooled.Close,
	}, nil
}

// escapes are ways in which a program's processes try to outlive it.
var escapes = []struct{ name, script string }{
	{"background child", `sleep 61 & sleep 62; true`},
	{"setsid", `setsid sleep 61 & sleep 62; true`},
	{"double fork", `(setsid sh -c '(sleep 61 & sleep 61 &) & exit' &); sleep 62; true`},
	{"daemon holding stdout", `setsid sh -c 'trap "" HUP TERM; sleep 61; echo no' & sleep 62; true`},
	{"TERM ignored", `trap '' TERM INT HUP; (while :; do sleep 0.2; done) & while :; do sleep 0.2; done`},
	{"fork chain", `"$CHAIN" & sleep 62; true`},
}

const (
	escapeTimes = 40
	escapeAfter = 80 * time.Millisecond // time to escape in
	allEscapes  = "all"
	abortMark   = "HOOKD_BENCH=" // begins the mark of each program
)

// aborts cuts every escape short, again and again, and looks for survivors in the
// table of processes.
func (b *bench) aborts(ctx context.Context) (*result, error) {
	if runtime.GOOS != "linux" {
		return nil, skipf("survivors are looked for in /proc, which is Linux's")
	}
	chain, err := compile(ctx, b.folder, "chain.c", "chain")
	if err != nil {
		return nil, skip{err}
	}
	times := max(1, int(escapeTimes*b.options.pace.scale))
	r := &result{}
	var all []time.Duration
	survivors, waited := 0, 0
	for _, shape := range escapes {
		var took []time.Duration
		for range times {
			mark := abortMark + rand.Text()
			dead, err := b.abort(ctx, shape.script, mark, chain)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", shape.name, err)
			}
			took = append(took, dead)
			survivors += len(marked(mark))
			waited++
		}
		all = append(all, took...)
		r.standings = append(r.standings, standingOf(shape.name, took))
	}
	r.standings = append(r.standings, standingOf(allEscapes, all))
	r.figures = []figure{{name: "survivors", unit: "survivors", value: float64(survivors)}, {name: "aborts", unit: "aborts", value: float64(waited)}}
	return r, nil
}

// abort runs a script, cuts it short, and says how long its last process lived.
func (b *bench) abort(ctx context.Context, script, mark, chain string) (time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan process.Result, 1)
	go func() {
		ended <- b.contained.Run(ctx, &process.Command{
			Path: "/bin/sh", Argv: []string{"/bin/sh", "-c", script}, Dir: b.folder, EnvTag: mark, Grace: -1,
			Env: []string{"PATH=" + os.Getenv("PATH"), "CHAIN=" + chain, mark},
		})
	}()
	select {
	case r := <-ended:
		<-r.Gone
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return 0, fmt.Errorf("it ended before it was cut short: %v, exit code %d, %s", r.Err, r.ExitCode, r.Stderr)
	case <-time.After(escapeAfter):
	}
	began := time.Now()
	cancel()
	r := <-ended
	select {
	case <-r.Gone:
		return time.Since(began), nil
	case <-time.After(20 * time.Second):
		return 0, fmt.Errorf("process %d and its tree are there after 20 s", r.Pid)
	}
}

// marked lists the processes alive that have an entry in their environment.
func marked(entry string) []string {
	var list []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(environ), entry) {
			list = append(list, filepath.Base(filepath.Dir(file)))
		}
	}
	return list
}
