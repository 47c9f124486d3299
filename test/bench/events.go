//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// usualSize is the size of event in all rows that are about something else.
const usualSize = 1 << 10

// engineFor opens an engine on a project of n hooks of one program.
func engineFor(ctx context.Context, k *kit, program string, n int, run schema.RunMode, settings map[string]any) (*engine, error) {
	p, err := newProject(ctx, k.folder, guards(program, n, run), settings)
	if err != nil {
		return nil, err
	}
	e, err := p.open(ctx, k.runtime, k.pool)
	if err != nil {
		return nil, err
	}
	k.atEnd(e.close)
	return e, nil
}

// fires is the burst of events that n hooks are asked about.
func (e *engine) fires(size, n int) burst {
	event := e.project.event(size)
	return each(func(ctx context.Context) error { return e.fire(ctx, event, n) })
}

// versus races the floor with events of an engine, whose n hooks have nothing to say.
func versus(ctx context.Context, k *kit, language string, size, n int, w work, settings map[string]any, play func(*engine) burst) (*race, error) {
	program, err := k.hook(ctx, language, silent)
	if err != nil {
		return nil, err
	}
	e, err := engineFor(ctx, k, program, n, "", settings)
	if err != nil {
		return nil, err
	}
	w.program, w.payload = program, payloadOf(e.project.event(size))
	base, err := k.spawns(ctx, floor, w)
	return &race{players: []player{base, {name: ours, burst: play(e)}}}, err
}

// plain is a hook with nothing to say, started once for each event.
func plain(language string, size int) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		return versus(ctx, k, language, size, 1, work{}, nil, func(e *engine) burst { return e.fires(size, 1) })
	}
}

// inRow is one event that several hooks are asked about, the time per hook.
func inRow(n int) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		return versus(ctx, k, "c", usualSize, n, work{}, nil, func(e *engine) burst { return per(n, e.fires(usualSize, n)) })
	}
}

// inFlight is events of different calls at once.
func inFlight(n int) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		return versus(ctx, k, "c", usualSize, 1, work{threads: n}, nil, func(e *engine) burst {
			event := e.project.event(usualSize)
			return together(n, func(ctx context.Context) error { return e.fire(ctx, event, 1) })
		})
	}
}

// parallel is blockers side by side, compared with as many programs at once on the floor.
func parallel(n int) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		return versus(ctx, k, "c", usualSize, n, work{group: n}, map[string]any{"parallel": n}, func(e *engine) burst { return e.fires(usualSize, n) })
	}
}

// resident is a hook that lives as long as its session and answers each event, compared
// with a C program that exchanges the same line with a hook in C.
func resident(language string) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		program, err := k.hook(ctx, language, answering)
		if err != nil {
			return nil, err
		}
		inC, err := k.hook(ctx, "c", answering)
		if err != nil {
			return nil, err
		}
		e, err := engineFor(ctx, k, program, 1, schema.Resident, nil)
		if err != nil {
			return nil, err
		}
		base, err := k.talks(ctx, pipe, talk{line: payloadOf(e.project.event(usualSize)), program: inC})
		return &race{players: []player{base, {name: ours, burst: e.fires(usualSize, 1)}}}, err
	}
}

// standby is a hook whose process waits for its event, compared with the start of the same
// hook.
func standby(language string) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		program, err := k.hook(ctx, language, answering)
		if err != nil {
			return nil, err
		}
		e, err := engineFor(ctx, k, program, 1, schema.Standby, nil)
		if err != nil {
			return nil, err
		}
		base, err := k.spawns(ctx, spawn, work{program: program, payload: payloadOf(e.project.event(usualSize))})
		if err != nil {
			return nil, err
		}
		start, err := base.burst(ctx, 3)
		waiting := spaced(3*median(start)+10*time.Millisecond, e.fires(usualSize, 1))
		return &race{players: []player{base, {name: ours, burst: waiting}}}, err
	}
}

// serve is a client in C that asks hookd serve about events, compared with the small daemon
// that runs the same hook as often.
func serve(n int) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		program, err := k.hook(ctx, "c", silent)
		if err != nil {
			return nil, err
		}
		p, err := newProject(ctx, k.folder, guards(program, n, ""), nil)
		if err != nil {
			return nil, err
		}
		hookd, err := k.hookd(ctx, "")
		if err != nil {
			return nil, err
		}
		daemon, err := k.goProgram(ctx, "smalldaemon", "github.com/hookd-dev/hookd/test/bench/smalldaemon")
		if err != nil {
			return nil, err
		}
		line := requestOf(p.event(usualSize))
		base, err := k.talks(ctx, small, talk{line: line, program: daemon, args: []string{program, strconv.Itoa(n)}})
		if err != nil {
			return nil, err
		}
		asked, err := k.talks(ctx, ours, talk{
			opening: openingOf(p), line: line, dir: p.root, env: p.environ(), program: hookd, args: []string{"serve"},
		})
		if err != nil {
			return nil, err
		}
		under, err := k.spawns(ctx, floor, work{program: program, payload: payloadOf(p.event(usualSize))})
		base.burst, asked.burst = per(n, base.burst), per(n, asked.burst)
		return &race{players: []player{base, asked, under}}, err
	}
}

// openingOf is how a client begins with hookd serve.
func openingOf(p *project) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"version":1,"client":{"name":"bench","version":"1"},"capabilities":{}}}
{"jsonrpc":"2.0","id":2,"method":"session/open","params":{"id":"bench","cwd":%q}}
`, p.root)
}

// requestOf is the line that asks a daemon about an event.
func requestOf(event protocol.Event) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":7,"method":"event/fire","params":{"event":%q,"session":{"id":"bench"},"data":%s}}`+"\n", event.Event, event.Data)
}

// processAlone is package process without an executor: a program held together as hookd
// holds hooks.
func processAlone(ctx context.Context, k *kit) (*race, error) {
	program, err := k.hook(ctx, "c", silent)
	if err != nil {
		return nil, err
	}
	p, err := newProject(ctx, k.folder, nil, nil)
	if err != nil {
		return nil, err
	}
	payload := payloadOf(p.event(usualSize))
	command := &process.Command{
		Path: program, Dir: p.root, Stdin: [][]byte{payload},
		Env: hookenv.ForHook(hookenv.Config{Environ: p.environ(), Project: p.root}, hookenv.Execute, program),
	}
	base, err := k.spawns(ctx, floor, work{program: program, payload: payload})
	return &race{players: []player{base, {name: ours, burst: each(func(ctx context.Context) error {
		r := k.runtime.Run(ctx, command)
		if r.Err == nil && r.ExitCode != 0 {
			return fmt.Errorf("%s exited with %d: %s", program, r.ExitCode, r.Stderr)
		}
		return r.Err
	})}}}, err
}

// noMatch is an event that none of n hooks wants.
func noMatch(n int) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		program, err := k.hook(ctx, "sh", silent)
		if err != nil {
			return nil, err
		}
		c := &race{}
		for _, one := range []struct {
			name string
			n    int
		}{{"no hooks", 0}, {ours, n}} {
			hooks := guards(program, one.n, "")
			for i := range hooks {
				hooks[i].Match = map[string]any{"tool": fmt.Sprintf("tool-%d", i)}
			}
			p, err := newProject(ctx, k.folder, hooks, nil)
			if err != nil {
				return nil, err
			}
			e, err := p.open(ctx, k.runtime, k.pool)
			if err != nil {
				return nil, err
			}
			k.atEnd(e.close)
			c.players = append(c.players, player{name: one.name, burst: e.fires(usualSize, 0)})
		}
		return c, nil
	}
}

// rulesAlone is an event with n rules, which look at its command and have nothing to say,
// compared with an event without any.
func rulesAlone(n int) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		c := &race{}
		for _, one := range []struct {
			name string
			n    int
		}{{"no rules", 0}, {ours, n}} {
			rules := []map[string]any{}
			for i := range one.n {
				rules = append(rules, map[string]any{
					"name": fmt.Sprintf("rule-%d", i), "events": []string{string(protocol.ToolCallStart)},
					"match": map[string]any{"command": fmt.Sprintf("program-%d push *", i)},
					"reply": map[string]string{"action": "block", "reason": "a person does that"},
				})
			}
			p, err := newProject(ctx, k.folder, nil, map[string]any{"use": rules})
			if err != nil {
				return nil, err
			}
			e, err := p.open(ctx, k.runtime, k.pool)
			if err != nil {
				return nil, err
			}
			k.atEnd(e.close)
			if found := len(e.watcher.Current().Hooks); found != one.n {
				return nil, fmt.Errorf("%d rules, not %d", found, one.n)
			}
			c.players = append(c.players, player{name: one.name, burst: e.fires(usualSize, 0)})
		}
		return c, nil
	}
}

// heapArgument makes this program a peer that decides events of a project: the
// project's folder and the MiB of its heap follow.
const heapArgument = "bench-heap"

// largeHeap is an event in a process with a heap of some MiB, compared with a small one.
func largeHeap(size int) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		program, err := k.hook(ctx, "c", silent)
		if err != nil {
			return nil, err
		}
		if free, err := kilobytes("/proc/meminfo", "MemAvailable:"); err == nil && free < float64(size<<20)*3/2 {
			return nil, skipf("a heap of %d MiB does not fit: %.0f MiB are free", size, free/(1<<20))
		}
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		c := &race{}
		for _, heap := range []struct {
			name string
			size int
		}{{"small heap", 0}, {"2 GiB", size}} {
			p, err := newProject(ctx, k.folder, guards(program, 1, ""), nil)
			if err != nil {
				return nil, err
			}
			peer, err := startPeer(exec.Command(self, heapArgument, p.folder, strconv.Itoa(heap.size)))
			if err != nil {
				return nil, err
			}
			k.atEnd(peer.close)
			c.players = append(c.players, player{name: heap.name, burst: func(ctx context.Context, n int) ([]time.Duration, error) {
				took, _, err := peer.burst(ctx, strconv.Itoa(n))
				return took, err
			}})
		}
		return c, nil
	}
}

func heapProcess(args []string) int {
	signal.Ignore(syscall.SIGHUP)
	if err := decideBursts(args); err != nil {
		fmt.Println("error", err)
		return 1
	}
	return 0
}

func decideBursts(args []string) (err error) {
	if len(args) != 2 {
		return fmt.Errorf("%d arguments in place of 2", len(args))
	}
	size, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0)))
	heap := fill(size)
	defer runtime.KeepAlive(heap)
	rt, err := process.New(process.Options{LongLived: true, Processes: 4096})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	e, err := projectIn(filepath.Clean(args[0])).open(context.Background(), rt, nil)
	if err != nil {
		return err
	}
	defer e.close()
	play := e.fires(usualSize, 1)
	commands, out := bufio.NewScanner(os.Stdin), bufio.NewWriter(os.Stdout)
	for commands.Scan() {
		n, err := strconv.Atoi(commands.Text())
		if err != nil {
			return err
		}
		began := time.Now()
		took, err := play(context.Background(), n)
		if err != nil {
			return err
		}
		all := time.Since(began)
		for _, t := range took {
			fmt.Fprintln(out, t.Nanoseconds())
		}
		fmt.Fprintln(out, "all", all.Nanoseconds())
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return commands.Err()
}

// fill makes a heap of some MiB in pieces as large as an ordinary event, every
// page of them touched.
func fill(size int) [][]byte {
	const piece = 64 << 10
	heap := make([][]byte, 0, size<<20/piece)
	for range cap(heap) {
		b := make([]byte, piece)
		for i := 0; i < piece; i += 4096 {
			b[i] = 1
		}
		heap = append(heap, b)
	}
	return heap
}
