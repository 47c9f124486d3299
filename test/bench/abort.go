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

// escapes are ways in which a program's processes try to outlive it.
var escapes = []string{
	`sleep 61 & sleep 62; true`,                                                         // a background child
	`setsid sleep 61 & sleep 62; true`,                                                  // a session of its own
	`(setsid sh -c '(sleep 61 & sleep 61 &) & exit' &); sleep 62; true`,                 // a double fork
	`setsid sh -c 'trap "" HUP TERM; sleep 61; echo no' & sleep 62; true`,               // a daemon that holds stdout
	`trap '' TERM INT HUP; (while :; do sleep 0.2; done) & while :; do sleep 0.2; done`, // TERM ignored
	`"$CHAIN" & sleep 62; true`,                                                         // a chain of forks
}

const (
	escapeAfter = 80 * time.Millisecond // time to escape in
	abortMark   = "HOOKD_BENCH="        // begins the mark of each program
)

// aborts cuts every escape short, again and again, says how long it took until every
// process was dead, and looks for survivors in the table of processes. The grace time
// is 0: with one, a program that ignores TERM lives as long as that says.
func aborts(ctx context.Context, k *kit) (*race, error) {
	if runtime.GOOS != "linux" {
		return nil, skipf("survivors are looked for in /proc, which is Linux's")
	}
	chain, err := k.compile(ctx, "chain.c", "chain")
	if err != nil {
		return nil, err
	}
	alive, next := 0, 0
	play := func(ctx context.Context, n int) (took []time.Duration, err error) {
		for range n {
			mark := abortMark + rand.Text()
			dead, err := k.abort(ctx, escapes[next%len(escapes)], mark, chain)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", escapes[next%len(escapes)], err)
			}
			next++
			took = append(took, dead)
			alive += len(marked(mark))
		}
		return took, nil
	}
	left := func() figure { return figure{survived, "processes", float64(alive)} }
	return &race{time: 30 * time.Second, players: []player{{name: ours, burst: play}}, after: left}, nil
}

// abort runs a script, cuts it short, and says how long its last process lived.
func (k *kit) abort(ctx context.Context, script, mark, chain string) (time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan process.Result, 1)
	go func() {
		ended <- k.runtime.Run(ctx, &process.Command{
			Path: "/bin/sh", Argv: []string{"/bin/sh", "-c", script}, Dir: k.folder, EnvTag: mark, Grace: -1,
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
