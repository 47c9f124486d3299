//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/hookd-dev/hookd/executor/process"
)

// childArgument makes this program a peer that decides events of a project:
// the project's folder and the MiB of its heap follow.
const childArgument = "bench-child"

const largeHeap = 2048 // MiB

// heapEntries are about what the size of the process that runs hooks costs.
func (b *bench) heapEntries() []entry {
	return []entry{{name: "heap/2GiB", about: "an event in a process with a heap of 2 GiB, against a small one", prepare: b.heap}}
}

func (b *bench) heap(ctx context.Context) (*contest, error) {
	l, err := b.language("c")
	if err != nil {
		return nil, err
	}
	if free, known := freeMemory(); known && free < largeHeap<<20*3/2 {
		return nil, skipf("a heap of 2 GiB does not fit: %d MiB are free", free>>20)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &contest{}
	var peers []*peer
	c.close = func() (failed error) {
		for _, p := range peers {
			if err := p.close(); err != nil {
				failed = err
			}
		}
		return failed
	}
	for _, heap := range []struct {
		name string
		size int
	}{{"small", 0}, {"2GiB", largeHeap}} {
		p, err := newProject(ctx, b.folder, guards(l.noop, 1, ""), nil)
		if err != nil {
			return nil, err
		}
		peer, err := startPeer(exec.Command(self, childArgument, p.folder, strconv.Itoa(heap.size)))
		if err != nil {
			return nil, err
		}
		peers = append(peers, peer)
		c.players = append(c.players, player{name: heap.name, burst: func(ctx context.Context, n int) ([]time.Duration, error) {
			took, _, err := peer.burst(ctx, strconv.Itoa(n))
			return took, err
		}})
	}
	return c, nil
}

// child is the peer.
func child(args []string) int {
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
	heap := fill(size)
	defer runtime.KeepAlive(heap)
	rt, err := process.New(process.Options{LongLived: true, Processes: 4096})
	if err != nil {
		return err
	}
	defer func() {
		if failed := rt.Close(); err == nil {
			err = failed
		}
	}()
	p := projectIn(args[0])
	e, err := p.open(context.Background(), rt, nil)
	if err != nil {
		return err
	}
	defer e.close()
	event := p.event(usualSize)
	burst := each(func(ctx context.Context) error { return e.fire(ctx, event, 1) })
	commands := bufio.NewScanner(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	for commands.Scan() {
		n, err := strconv.Atoi(commands.Text())
		if err != nil {
			return err
		}
		began := time.Now()
		took, err := burst(context.Background(), n)
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
