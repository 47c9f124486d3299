package proxied

import (
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// A client that has closed its stream and reads no more waits for no answer, although it has asked
// for one.
func TestClientThatReadsNoMoreWaitsForNothing(t *testing.T) {
	clientIn, client := io.Pipe()
	serverIn, toServer := io.Pipe()
	fromServer, server := io.Pipe()
	left, exited := make(chan struct{}), make(chan struct{})
	given := make(chan time.Duration, 2)
	exit := sync.OnceFunc(func() { close(exited); server.Close(); serverIn.Close() })
	const patience = time.Minute
	c := &Connection{
		Relay: relay.New(relay.Options{
			Client: relay.Stream{In: clientIn, Out: io.Discard, Left: left}, Server: relay.Stream{In: fromServer, Out: toServer},
		}),
		Process: &Process{In: toServer, Out: fromServer, Done: exited, End: func(patience time.Duration) {
			given <- patience
			exit()
		}},
		Patience: patience, Waiting: func() bool { return true }, Ending: func() {},
	}
	done := make(chan struct{})
	go func() { defer close(done); c.Run(context.Background()) }()
	client.Close()
	if _, err := io.Copy(io.Discard, serverIn); err != nil { // its stream ends with the client's
		t.Fatal(err)
	}
	close(left)
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("hookd waits for an answer that nobody reads")
	}
	if first := <-given; first != patience {
		t.Errorf("the program had %v to end by itself", first)
	}
}
