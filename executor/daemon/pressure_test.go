package daemon

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// A client that sends faster than hooks answer is slowed down by its own pipe.
// What it sent is all answered in the end, in order.
func TestReadingPausesWhileTooMuchIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count, held = 3_000, 256 << 10
		s := serve(t, Options{Limits: Limits{Pending: held}}, nil)
		_ = s.stdio.send(openLine(count, "a"))
		s.stdio.answer(t, fmt.Sprint(count))
		var accepted atomic.Int64
		bytes := int64(len(fireLine(count, "a", "", "sleep 1ms")))
		go func() {
			for i := range count {
				if s.stdio.send(fireLine(i, "a", "", "sleep 1ms")) != nil {
					return
				}
				accepted.Add(1)
			}
		}()
		synctest.Wait()
		// Nothing has been answered yet: each millisecond is still to come.
		// Beyond what is held one line waits to be taken and some lie in the buffer.
		if n := accepted.Load(); n*bytes > held+(128<<10) || n < held/(2*overhead)/2 {
			t.Errorf("%d lines of %d bytes were taken in", n, bytes)
		}
		for i := range count {
			if r := s.stdio.answer(t, fmt.Sprint(i)); r.Error != nil {
				t.Fatalf("answer %d: %v", i, r.Error)
			}
		}
		s.cancel(errSignal)
		s.end(time.Second)
	})
}

// However many requests are in line, a cancellation after them is obeyed.
func TestCancelBehindAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count = 10_000
		s := serve(t, Options{}, nil)
		_ = s.stdio.send(openLine(count, "a"))
		s.stdio.answer(t, fmt.Sprint(count))
		for i := range count {
			if err := s.stdio.send(fireLine(i, "a", "", "wait")); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		goroutines := runtime.NumGoroutine()
		if goroutines > 100 {
			t.Errorf("%d goroutines for calls that wait", goroutines)
		}
		for _, i := range []int{count - 1, 0, count / 2} {
			_ = s.stdio.send(cancelLine(i))
			if r := s.stdio.answer(t, fmt.Sprint(i)); r.code() != rpc.Cancelled {
				t.Errorf("answer %d: %v", i, r.Error)
			}
		}
		s.cancel(errSignal)
		for i := range count {
			if i == count-1 || i == 0 || i == count/2 {
				continue
			}
			if r := s.stdio.next(t); r.code() != rpc.Cancelled {
				t.Fatalf("answer %d: %v", i, r.Error)
			}
		}
		s.end(5 * time.Second)
	})
}

// A client that does not read its answers is not read either, and costs no more
// than its budget; a second client does not notice.
func TestClientThatDoesNotRead(t *testing.T) {
	const held = 1 << 20
	s := serve(t, Options{Limits: Limits{Pending: held}}, nil)
	here, there := net.Pipe()
	s.listener.conns <- there
	var sent atomic.Int64
	written := make(chan struct{})
	go func() {
		defer close(written)
		line := []byte(`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 4000) + `","method":"ping"}` + "\n")
		for {
			if _, err := here.Write(line); err != nil {
				return
			}
			sent.Add(int64(len(line)))
		}
	}()
	waitUntil(t, 5*time.Second, func() bool {
		before := sent.Load()
		time.Sleep(100 * time.Millisecond)
		return before > 0 && sent.Load() == before
	})
	if n := sent.Load(); n > 2*held {
		t.Errorf("%d bytes were taken in unanswered", n)
	}
	_ = s.stdio.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	s.stdio.answer(t, "1")
	_ = here.Close()
	<-written
	s.cancel(errSignal)
	s.end(5 * time.Second)
}

func waitUntil(t *testing.T, limit time.Duration, done func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !done(); {
		if time.Now().After(end) {
			t.Fatalf("not so after %v", limit)
		}
	}
}

// H26: a line of 16 MiB and a small one after it are both answered; one over
// 32 MiB is an error, and the one after it works. H28: not a byte of the large
// one has changed.
func TestLargeLines(t *testing.T) {
	s := serve(t, Options{}, nil)
	_ = s.stdio.send(openLine(1, "a"))
	s.stdio.answer(t, "1")
	filler := strings.Repeat(`é€😀<&>\u00e9 1e400 `, 16<<20/32)
	data := `{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"ls","n":[1.10,1e400,9007199254740993,-0],"s":"` + filler + `"},"parallel":1}`
	large := `{"jsonrpc":"2.0","id":2,"method":"event/fire","params":{"event":"tool-call-start","session":{"id":"a"},"data":` + data + `}}`
	began := time.Now()
	_ = s.stdio.send(large, fireLine(3, "a", "", "ls"))
	r := s.stdio.answer(t, "2")
	took := time.Since(began)
	var outcome struct {
		Event struct {
			Data protocol.RawMessage `json:"data"`
		} `json:"event"`
	}
	if err := json.Unmarshal(r.Result, &outcome); err != nil || string(outcome.Event.Data) != data {
		t.Errorf("%d MiB: the data came back otherwise (%d bytes for %d): %v", len(large)>>20, len(outcome.Event.Data), len(data), err)
	}
	if took > time.Minute {
		t.Errorf("%d MiB took %v", len(large)>>20, took)
	}
	s.stdio.answer(t, "3")

	_ = s.stdio.send(`{"jsonrpc":"2.0","id":4,"x":"`+strings.Repeat("y", 32<<20)+`"}`, `{"jsonrpc":"2.0","id":5,"method":"ping"}`)
	if r := s.stdio.next(t); r.code() != rpc.TooLarge || string(r.ID) != "null" {
		t.Errorf("over the limit: %s %v", r.ID, r.Error)
	}
	s.stdio.answer(t, "5")
	s.cancel(errSignal)
	s.end(5 * time.Second)
}

// An engine that does not give up when its context ends keeps neither the other
// clients nor the end of the daemon.
func TestEngineThatDoesNotEnd(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, Options{
		Linger: 50 * time.Millisecond, Drain: 300 * time.Millisecond,
		Open: func(context.Context, string, string) (Engine, error) {
			return stuck{newFake("/proj"), release}, nil
		},
	}, nil)
	_ = s.stdio.send(openLine(1, "a"), fireLine(2, "a", "", "x"))
	s.stdio.answer(t, "1")
	began := time.Now()
	s.cancel(errSignal)
	s.end(2 * time.Second)
	if took := time.Since(began); took > time.Second {
		t.Errorf("the end took %v", took)
	}
	close(release)
}

type stuck struct {
	*fake
	release chan struct{}
}

func (s stuck) Fire(ctx context.Context, event protocol.Event, _ Progress) (protocol.Outcome, error) {
	<-s.release
	return protocol.Outcome{}, ctx.Err()
}
