package daemon

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

type smoke struct{ ch chan struct{} }

func (s smoke) Fire(ctx context.Context, ev protocol.Event, p Progress) (protocol.Outcome, error) {
	return protocol.Outcome{Action: protocol.Ask, Event: ev, Generation: 7}, nil
}
func (s smoke) List() Listing                   { return Listing{Project: "/p", Generation: 7} }
func (s smoke) Reload(context.Context) error    { return nil }
func (s smoke) Changed() <-chan struct{}        { return s.ch }
func (s smoke) Close(ctx context.Context) error { return nil }

func TestSmoke(t *testing.T) {
	s := New(Options{Open: func(ctx context.Context, p, c string) (Engine, error) { return smoke{}, nil }})
	ir, iw := io.Pipe()
	or, ow := io.Pipe()
	done := make(chan error)
	go func() { done <- s.Serve(t.Context(), rpc.NewConn(ir, ow, 0), nil) }()
	go func() {
		fmt.Fprintln(iw, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"version":1,"client":{"name":"t"},"cwd":"/p"}}`)
		fmt.Fprintln(iw, `{"jsonrpc":"2.0","id":2,"method":"session/open","params":{"id":"s","project":"/p"}}`)
		fmt.Fprintln(iw, `{"jsonrpc":"2.0","id":3,"method":"event/fire","params":{"event":"tool-call-start","session":{"id":"s"},"data":{"toolCallId":"x<y"}}}`)
		fmt.Fprintln(iw, `{"jsonrpc":"2.0","id":4,"method":"event/fire","params":{"event":5}}`)
		fmt.Fprintln(iw, `{"jsonrpc":"2.0","id":5,"method":"shutdown"}`)
	}()
	sc := bufio.NewScanner(or)
	for sc.Scan() {
		fmt.Println(sc.Text())
	}
	fmt.Println(<-done)
}
