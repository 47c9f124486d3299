package daemon

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol/rpc"
)

// Whatever a client sends, each line that comes back is a message, every
// request with an id of its own is answered once, and the daemon ends.
func FuzzDispatch(f *testing.F) {
	f.Add(openLine(1, "a") + "\n" + fireLine(2, "a", "c1", "block no") + "\n" + cancelLine(2) + "\n")
	f.Add(openLine(1, "a") + "\n" + fireLine(2, "a", "", "wait") + "\n" + fireLine(2, "a", "", "ls") + "\n" + `{"jsonrpc":"2.0","id":3,"method":"shutdown"}` + "\n")
	f.Add(`[` + openLine(1, "a") + `,` + fireLine(2, "a", "c1", "ls") + `,{"jsonrpc":"2.0","method":"ping"},1]` + "\n{\n\xff\n[]\n")
	f.Add(`{"jsonrpc":"2.0","id":"é","method":"initialize","params":{"version":1,"capabilities":{"notifications":["log","hook/started"]}}}` + "\n" +
		openLine(1, "a") + "\n" + openLine(2, "a") + "\n" + fireLine(3, "b", "", "ls") + "\n" +
		`{"jsonrpc":"2.0","id":4,"method":"session/close","params":{"id":"a"}}` + "\n" + `{"jsonrpc":"2.0","id":5,"method":"hooks/reload","params":{"project":"/x"}}` + "\n")
	f.Fuzz(func(t *testing.T, input string) {
		o := &opener{}
		s := New(Options{Open: o.open, Limits: Limits{Line: 4 << 10, Pending: 16 << 10}, Linger: 20 * time.Millisecond, Drain: 200 * time.Millisecond})
		in, toServer := io.Pipe()
		var out bytes.Buffer
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(context.Background(), rpc.NewConn(in, &out, 4<<10), nil) }()
		_, _ = io.WriteString(toServer, input)
		toServer.Close()
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(5 * time.Second):
			panic("the daemon does not end")
		}
		check(t, input, out.String())
	})
}

func check(t *testing.T, input, output string) {
	answers := map[string]int{}
	for line := range strings.Lines(output) {
		if !strings.HasSuffix(line, "\n") {
			t.Fatalf("half a line: %q", line)
		}
		m, failure := rpc.Parse([]byte(strings.TrimSuffix(line, "\n")))
		if failure != nil {
			t.Fatalf("%q: %v", line, failure)
		}
		if m.Invalid != nil {
			t.Fatalf("%q: %v", line, m.Invalid)
		}
		if m.Error != nil && m.Error.Code == rpc.InternalError && !strings.Contains(input, "panic") && !strings.Contains(input, "sleep") {
			t.Fatalf("%q", line)
		}
		if m.ID != nil {
			answers[m.Key()]++
		}
	}
	asked := map[string]int{}
	for line := range strings.Lines(input) {
		line = strings.TrimSuffix(line, "\n")
		if len(line) > 4<<10 {
			continue
		}
		m, failure := rpc.Parse([]byte(line))
		if failure == nil && m.ID != nil && (m.Invalid != nil || m.Method != "") {
			asked[m.Key()]++
		}
	}
	for key, n := range asked {
		// What comes after shutdown is not read any more.
		if answers[key] != n && (n == 1 && !strings.Contains(input, "shutdown")) {
			t.Fatalf("request %s was answered %d times: %q", key, answers[key], output)
		}
	}
}
