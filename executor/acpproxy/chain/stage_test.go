package chain

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/acpproxy"
	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
	"github.com/hookd-dev/hookd/test/dialogue"
)

// stage is a member of a chain whose conductor is the test.
type stage struct {
	lines dialogue.Lines
	t     *testing.T
	in    io.WriteCloser
	out   *bufio.Reader
	end   context.CancelCauseFunc
	done  chan struct{}
	notes dialogue.Notes
}

func newStage(t *testing.T, mode string, hooks ...protocol.GoHook) *stage {
	t.Helper()
	e, err := executor.Static(hooks...)
	if err != nil {
		t.Fatal(err)
	}
	in, inOfHookd := io.Pipe()
	outOfHookd, out := io.Pipe()
	ctx, end := context.WithCancelCause(t.Context())
	s := &stage{lines: dialogue.Lines{T: t}, t: t, in: inOfHookd, out: bufio.NewReader(outOfHookd), end: end, done: make(chan struct{})}
	member := Join(relay.Stream{In: in, Out: out}, Options{Note: s.notes.Add, Limit: 1 << 20})
	go func() {
		defer close(s.done)
		_ = acpproxy.Run(ctx, member.Client(), member.Successor(), acpproxy.Options{
			Open: func([]string) (proxied.Hooks, error) { return dialogue.Gate{Executor: e}, nil }, Mode: mode, Cwd: "/",
			Patience: 50 * time.Millisecond, Limit: 1 << 20, Note: s.notes.Add, Tell: func(*protocol.Outcome) {},
			Server: func(o acpproxy.Server) []string { return []string{"/bin/hookd", "mcp", "--name", o.Name} },
		})
		out.Close()
	}()
	t.Cleanup(func() {
		end(proxied.ErrClosed)
		inOfHookd.Close()
		outOfHookd.Close()
		<-s.done
		_ = e.Close(context.Background())
	})
	return s
}

// The conductor writes and reads lines.
func (s *stage) says(line string)   { s.t.Helper(); s.lines.Say(s.in, line) }
func (s *stage) next() string       { s.t.Helper(); return s.lines.Next(s.out) }
func (s *stage) reads(want string)  { s.t.Helper(); s.lines.Read(s.out, want) }
func (s *stage) has(want ...string) { s.t.Helper(); s.lines.Has(s.out, want...) }
func (s *stage) noted(want string)  { s.t.Helper(); s.notes.Await(s.t, want) }

// begins begins a chain in the dialect of the protocol itself, and opens the session s.
func (s *stage) begins() {
	s.t.Helper()
	s.says(`{"jsonrpc":"2.0","id":1,"method":"proxy/initialize","params":{"protocolVersion":1}}`)
	s.reads(`{"jsonrpc":"2.0","id":"chain-1","method":"proxy/successor","params":{"method":"initialize","params":{"protocolVersion":1}}}`)
	s.says(`{"jsonrpc":"2.0","id":"chain-1","result":{"protocolVersion":1}}`)
	s.reads(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`)
	s.says(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
	s.reads(sent1(2, "session/new", `{"cwd":"/","mcpServers":[]}`))
	s.says(`{"jsonrpc":"2.0","id":"chain-2","result":{"sessionId":"s"}}`)
	s.reads(`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`)
}

// sent1 is a request to the successor.
func sent1(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"chain-%d","method":"proxy/successor","params":{"method":%q,"params":%s}}`, id, method, params)
}

// from is a message of the successor: a request under an id, or a notification.
func from(id, method, params string) string {
	if id != "" {
		id = `"id":` + id + `,`
	}
	return `{"jsonrpc":"2.0",` + id + `"method":"proxy/successor","params":{"method":"` + method + `","params":` + params + `}}`
}

func promptLine(id, text string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"session/prompt","params":` + promptOf(text) + `}`
}

func promptOf(text string) string {
	return `{"sessionId":"s","prompt":[{"type":"text","text":"` + text + `"}]}`
}

const permission = `{"sessionId":"s","toolCall":{"toolCallId":"c","kind":"execute","title":"ls","rawInput":{"command":"ls"}},"options":[{"optionId":"y","name":"Y","kind":"allow_once"},{"optionId":"n","name":"N","kind":"reject_once"}]}`

// refuses is a hook that refuses an event.
func refuses(event protocol.EventName) protocol.GoHook {
	return protocol.GoHook{Name: "h", Events: []protocol.EventName{event}, OnFailure: protocol.RuleBlock, Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
		return protocol.Reply{Action: protocol.Block, Reason: "not here"}, nil
	}}
}
