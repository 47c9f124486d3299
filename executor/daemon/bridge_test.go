package daemon

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

var errOther = errors.New("the daemon was started with another HOME")

// resolveCaller has an engine of its own for some callers, and none for others.
func resolveCaller(folders []string, caller Caller) (string, error) {
	switch {
	case slices.Contains(caller.Environ, "HOME=/other"):
		return "", errOther
	case slices.Contains(caller.Environ, "TOKEN=2"):
		return folders[0] + " with TOKEN=2", nil
	}
	return folders[0], nil
}

func bridgeLine(id int, command, environ string) string {
	input := fmt.Sprintf(`{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":"c1"}`, command)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"bridge/event","params":{"version":"test","agent":"claude","event":"","leftMs":60000,"cwd":"/proj","environ":[%q],"input":%q}}`,
		id, environ, base64.StdEncoding.EncodeToString([]byte(input)))
}

// A caller for whom the hooks would decide otherwise is turned away before any is asked,
// and does not keep the daemon alive.
func TestBridgeTurnsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &opener{}
		server := New(Options{Version: "test", EndUnused: time.Minute, Open: o.open, ResolveCaller: resolveCaller})
		listener := newMemoryListener()
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(t.Context(), nil, listener) }()
		began := time.Now()
		ask := func(environ string) string {
			here, there := net.Pipe()
			listener.conns <- there
			client := newPeerEnd(here, here)
			defer client.close()
			if err := client.send(bridgeLine(1, "block no", environ)); err != nil {
				t.Fatal(err)
			}
			return <-client.lines
		}
		for _, token := range []string{"TOKEN=1", "TOKEN=2", "TOKEN=1"} {
			if line := ask(token); !strings.Contains(line, `"result":{"exit":`) {
				t.Errorf("answered %s", line)
			}
		}
		time.Sleep(30 * time.Second)
		if line := ask("HOME=/other"); !strings.Contains(line, `"code":-32004`) || !strings.Contains(line, errOther.Error()) {
			t.Errorf("answered %s", line)
		}
		for key, want := range map[string]int{"/proj": 2, "/proj with TOKEN=2": 1} {
			if engines := o.of(key); len(engines) != 1 || len(engines[0].events()) != want {
				t.Errorf("%d engines of %s", len(engines), key)
			}
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(began).Round(time.Second); took != time.Minute {
			t.Errorf("it ended after %v", took)
		}
	})
}

// A caller that goes away ends its event; others go on side by side with it.
func TestBridgeEventsRunSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		aborted := make(chan struct{})
		engine := newFake("/proj")
		engine.begin = func(event protocol.Event) func() {
			if strings.Contains(string(event.Data), "wait") {
				return func() { close(aborted) }
			}
			return func() {}
		}
		server := New(Options{Version: "test", Open: func(context.Context, string, string) (Engine, error) { return engine, nil }})
		listener := newMemoryListener()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(ctx, nil, listener) }()
		connect := func(command string) *peerEnd {
			here, there := net.Pipe()
			listener.conns <- there
			client := newPeerEnd(here, here)
			if err := client.send(bridgeLine(1, command, "A=1")); err != nil {
				t.Fatal(err)
			}
			return client
		}
		waiting := connect("wait")
		synctest.Wait()
		quick := connect("ls")
		if line := <-quick.lines; !strings.Contains(line, `"result":{"exit":0`) {
			t.Errorf("answered %s", line)
		}
		quick.close()
		waiting.close()
		<-aborted
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
