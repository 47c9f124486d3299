package mcpproxy

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/test/dialogue"
)

// floods writes lines until nobody takes them any more, and returns how many were taken.
func floods(to io.Writer, line func(n int) string) *atomic.Int64 {
	taken := new(atomic.Int64)
	go func() {
		for {
			if _, err := io.WriteString(to, line(int(taken.Load()))+"\n"); err != nil {
				return
			}
			taken.Add(1)
		}
	}()
	return taken
}

// settled waits until a number does not rise any more.
func settled(n *atomic.Int64) int64 {
	for before := int64(-1); ; time.Sleep(50 * time.Millisecond) {
		if now := n.Load(); now == before {
			return now
		} else {
			before = now
		}
	}
}

// What a side writes that the other one does not read is not kept for it, and the connection
// ends in time.
func TestFloodsThatNobodyReads(t *testing.T) {
	text := strings.Repeat("x", 64<<10)
	for name, test := range map[string]struct {
		from func(*stage) io.Writer
		line func(int) string
		most uint64 // bytes
	}{
		"progress": {func(s *stage) io.Writer { return s.Server }, func(int) string {
			return `{"jsonrpc":"2.0","method":"notifications/progress","params":"` + text + `"}`
		}, 6 << 20},
		"notifications": {func(s *stage) io.Writer { return s.Client }, func(int) string {
			return `{"jsonrpc":"2.0","method":"notifications/x","params":"` + text + `"}`
		}, 6 << 20},
		"calls": {func(s *stage) io.Writer { return s.Client }, func(n int) string {
			return callLine(fmt.Sprint(n), `{"text":"`+text+`"}`)
		}, 100 << 20},
	} {
		s := newStage(t)
		before := dialogue.Heap()
		taken := settled(floods(test.from(s), test.line))
		if after := dialogue.Heap(); taken == 0 || after > before+test.most {
			t.Errorf("%s: %d lines were taken, %d KiB are kept", name, taken, (after-before)>>10)
		}
		began := time.Now()
		s.End(proxied.ErrClosed)
		if err := <-s.Done; time.Since(began) > 3*time.Second {
			t.Errorf("%s: it ended after %v (%v)", name, time.Since(began), err)
		}
		s.Done <- nil
	}
}
