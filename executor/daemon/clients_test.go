//go:build unix

package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/creachadair/jrpc2"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/socket"
)

// onSocket starts a server on a real socket, without stdio.
func onSocket(t *testing.T, opt Options, o *opener) (path string, stop func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "hd")
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "s")
	listener, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	opt.Open = o.open
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- New(opt).Serve(ctx, nil, listener) }()
	return path, func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the server did not end")
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		os.RemoveAll(dir)
	}
}

func connect(t *testing.T, path string) (*peerEnd, net.Conn) {
	t.Helper()
	c, err := socket.Dial(context.Background(), path, "")
	if err != nil {
		t.Fatal(err)
	}
	return newPeerEnd(c, c), c
}

// Several clients at once: a client that disconnects in the middle has its
// events aborted, and the others go on.
func TestClientsOnASocket(t *testing.T) {
	began, aborted := make(chan struct{}, 1), make(chan struct{}, 1)
	o := &opener{begin: func(e protocol.Event) func() {
		if commandOf(e.Data) == "wait" {
			began <- struct{}{}
		}
		return func() {
			if commandOf(e.Data) == "wait" {
				aborted <- struct{}{}
			}
		}
	}}
	path, stop := onSocket(t, Options{}, o)
	defer stop()
	one, _ := connect(t, path)
	two, conn := connect(t, path)
	for i, p := range []*peerEnd{one, two} {
		_ = p.send(openLine(1, fmt.Sprint("s", i)))
		p.answer(t, "1")
	}
	_ = two.send(fireLine(2, "s1", "", "wait"), fireLine(3, "s1", "", "never begins"), `{"jsonrpc":"2.0","id":4,"method":"ping"}`)
	two.answer(t, "4")
	<-began // an event that has not begun is not aborted, but not asked about
	left := time.Now()
	conn.Close()
	select {
	case <-aborted:
	case <-time.After(5 * time.Second):
		t.Fatal("the event was not aborted")
	}
	if took := time.Since(left); took > 500*time.Millisecond {
		t.Errorf("aborted after %v", took)
	}
	two.close()
	_ = one.send(fireLine(2, "s0", "", "ls"))
	one.answer(t, "2")
	// Its session is free again, as soon as its event has ended.
	_ = one.send(openLine(3, "s1"), fireLine(4, "s1", "", "ls"))
	one.answer(t, "3")
	one.answer(t, "4")
	for _, e := range o.of("/proj")[0].events() {
		if commandOf(e.Data) == "never begins" {
			t.Error("an event of a client that is gone began")
		}
	}
	one.close()
}

// Many clients with many sessions each: every event is answered, and one engine
// serves them all.
func TestManyClients(t *testing.T) {
	o := &opener{slow: 5 * time.Millisecond}
	path, stop := onSocket(t, Options{}, o)
	defer stop()
	var wg sync.WaitGroup
	for c := range 8 {
		wg.Go(func() {
			p, _ := connect(t, path)
			defer p.close()
			for s := range 5 {
				_ = p.send(openLine(1000+s, fmt.Sprintf("c%ds%d", c, s)))
			}
			for e := range 100 {
				_ = p.send(fireLine(e, fmt.Sprintf("c%ds%d", c, e%5), fmt.Sprint("t", e%3), "ls"))
			}
			seen := map[string]bool{}
			for range 105 {
				r := p.next(t)
				if r.Error != nil || seen[string(r.ID)] {
					t.Errorf("client %d: %s twice %v: %v", c, r.ID, seen[string(r.ID)], r.Error)
				}
				seen[string(r.ID)] = true
			}
		})
	}
	wg.Wait()
	if engines := o.of("/proj"); len(engines) != 1 {
		t.Errorf("%d engines", len(engines))
	}
}

func TestTooManyClients(t *testing.T) {
	o := &opener{}
	path, stop := onSocket(t, Options{Limits: Limits{Connections: 2}}, o)
	defer stop()
	var peers []*peerEnd
	for range 2 {
		p, _ := connect(t, path)
		_ = p.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		p.answer(t, "1")
		peers = append(peers, p)
	}
	third, _ := connect(t, path)
	select {
	case line, open := <-third.lines:
		if open {
			t.Errorf("the third got %s", line)
		}
	case <-time.After(5 * time.Second):
		t.Error("the third is not turned away")
	}
	third.close()
	for _, p := range peers {
		p.close()
	}
}

// A client of another make, jrpc2's, understands this server.
func TestForeignClient(t *testing.T) {
	path, stop := onSocket(t, Options{}, &opener{})
	defer stop()
	c, err := socket.Dial(context.Background(), path, "")
	if err != nil {
		t.Fatal(err)
	}
	client := jrpc2.NewClient(rpc.NewConn(c, c, 0), nil)
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var opened struct{ ID, Key string }
	if err := client.CallResult(ctx, "session/open", map[string]string{"project": "/proj"}, &opened); err != nil || opened.Key == "" {
		t.Fatalf("open: %v %v", opened, err)
	}
	var outcome struct {
		Action, Reason string
	}
	event := json.RawMessage(`{"event":"notification","session":{"id":"` + opened.ID + `"},"data":{"kind":"info","text":"block no"}}`)
	if err := client.CallResult(ctx, "event/fire", event, &outcome); err != nil || outcome.Action != "block" || outcome.Reason != "no" {
		t.Errorf("fire: %v %v", outcome, err)
	}
	_, err = client.Call(ctx, "event/fire", map[string]int{"event": 1})
	if failure, ok := err.(*jrpc2.Error); !ok || failure.Code != jrpc2.InvalidParams || string(failure.Data) != `{"path":"/event"}` {
		t.Errorf("a wrong event: %v", err)
	}
}
