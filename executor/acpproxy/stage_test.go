package acpproxy

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// stage is a proxy between a client and an agent that are pipes of the test.
type stage struct {
	t        *testing.T
	toAgent  *bufio.Reader // what the agent reads
	toClient *bufio.Reader // what the client reads
	client   io.WriteCloser
	agent    io.WriteCloser
	end      context.CancelCauseFunc
	done     chan error
	exited   chan struct{}
	exit     sync.Once

	mu     sync.Mutex
	events []told
	notes  []string
}

// told is a decided event, as "event tool-or-reason action".
type told struct {
	seq  int64 // in its session
	text string
}

// gate is hooks in Go without a project.
type gate struct{ *executor.Executor }

func (g gate) Project() string { return "" }

func newStage(t *testing.T, mode string, hooks ...protocol.GoHook) *stage {
	t.Helper()
	e, err := executor.Static(hooks...)
	if err != nil {
		t.Fatal(err)
	}
	clientIn, client := io.Pipe()
	toClient, clientOut := io.Pipe()
	toAgent, agentIn := io.Pipe()
	agentOut, agent := io.Pipe()
	s := &stage{
		t: t, toAgent: bufio.NewReader(toAgent), toClient: bufio.NewReader(toClient), client: client, agent: agent,
		done: make(chan error, 1), exited: make(chan struct{}),
	}
	ctx, end := context.WithCancelCause(t.Context())
	s.end = end
	process := &proxied.Process{In: agentIn, Out: agentOut, Done: s.exited, Ended: func() string { return "exit code 3" }, End: func(time.Duration) {
		toAgent.Close()
		agent.Close()
		s.exit.Do(func() { close(s.exited) })
	}}
	go func() {
		s.done <- Run(ctx, relay.Stream{In: clientIn, Out: clientOut}, process, Options{
			Open: func(string) (proxied.Hooks, error) { return gate{e}, nil }, Mode: mode, Cwd: "/", Patience: 50 * time.Millisecond, Limit: 1 << 20,
			Server: func(o Server) []string {
				line := []string{"/bin/hookd", "mcp", "--name", o.Name}
				if o.URL != "" {
					return append(append(line, "--url", o.URL), o.Headers...)
				}
				return append(append(line, "--", o.Command), o.Args...)
			},
			Tell: s.tell,
			Note: func(text string) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.notes = append(s.notes, text)
			},
		})
		clientIn.Close()
		toClient.Close()
	}()
	t.Cleanup(func() {
		end(proxied.ErrClosed)
		client.Close()
		toClient.Close()
		<-s.done
		_ = e.Close(context.Background())
	})
	return s
}

func (s *stage) tell(o *protocol.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	word := ""
	for _, member := range []string{"name", "prompt", "reason", "source", "stopReason", "message"} {
		if word == "" {
			word = jsonspan.Text(jsonspan.Get(o.Event.Data, member))
		}
	}
	s.events = append(s.events, told{*o.Event.Seq, fmt.Sprintf("%s %s %s", o.Event.Event, word, o.Action)})
	for _, lost := range o.Lost {
		s.notes = append(s.notes, "lost: "+lost)
	}
}

func (s *stage) says(to io.Writer, line string) {
	s.t.Helper()
	if _, err := io.WriteString(to, line+"\n"); err != nil {
		s.t.Fatalf("%s: %v", line, err)
	}
}

func (s *stage) reads(from *bufio.Reader, want string) {
	s.t.Helper()
	if got := s.next(from); got != want {
		s.t.Fatalf("got  %s\nwant %s", got, want)
	}
}

// has reads a line that has all of some texts in it.
func (s *stage) has(from *bufio.Reader, want ...string) string {
	s.t.Helper()
	got := s.next(from)
	for _, w := range want {
		if !strings.Contains(got, w) {
			s.t.Fatalf("got %s\nwithout %s", got, w)
		}
	}
	return got
}

func (s *stage) next(from *bufio.Reader) string {
	s.t.Helper()
	line := make(chan string, 1)
	go func() {
		text, err := from.ReadString('\n')
		if err != nil {
			text = err.Error()
		}
		line <- strings.TrimSuffix(text, "\n")
	}()
	select {
	case text := <-line:
		return text
	case <-time.After(5 * time.Second):
		s.t.Fatal("no line came")
		return ""
	}
}

// passes has a line reach the other side as it is.
func (s *stage) passes(from io.Writer, to *bufio.Reader, line string) {
	s.t.Helper()
	s.says(from, line)
	s.reads(to, line)
}

// opens begins the session s1.
func (s *stage) opens() {
	s.t.Helper()
	s.passes(s.client, s.toAgent, `{"jsonrpc":"2.0","id":0,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
	s.passes(s.agent, s.toClient, `{"jsonrpc":"2.0","id":0,"result":{"sessionId":"s1"}}`)
}

func promptLine(id, text string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"` + text + `"}]}}`
}

func endLine(id, reason string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"stopReason":"` + reason + `"}}`
}

func updateLine(update string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":` + update + `}}`
}

// decided returns the events that were decided, in the order in which they began.
func (s *stage) decided() (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := slices.Clone(s.events)
	slices.SortStableFunc(events, func(a, b told) int { return cmp.Compare(a.seq, b.seq) })
	for _, e := range events {
		list = append(list, e.text)
	}
	return list
}

// eventually waits for decided events that begin so, in this order.
func (s *stage) eventually(want ...string) {
	s.t.Helper()
	var got []string
	for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(time.Millisecond) {
		got = s.decided()
		at := 0
		for _, e := range got {
			if at < len(want) && strings.HasPrefix(e, want[at]) {
				at++
			}
		}
		if at == len(want) {
			return
		}
	}
	s.t.Errorf("events %q\nwant   %q", got, want)
}

// noted waits until the person was told something.
func (s *stage) noted(want string) {
	s.t.Helper()
	for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		all := strings.Join(s.notes, "\n")
		s.mu.Unlock()
		if strings.Contains(all, want) {
			return
		}
	}
	s.t.Errorf("no note %q: %q", want, s.notes)
}

func hookOn(event protocol.EventName, do func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error)) protocol.GoHook {
	return protocol.GoHook{Name: "h", Events: []protocol.EventName{event}, OnFailure: protocol.RuleBlock, Func: do}
}

// says answers an event always the same.
func says(event protocol.EventName, reply protocol.Reply) protocol.GoHook {
	return hookOn(event, func(context.Context, *protocol.Event) (protocol.Reply, error) { return reply, nil })
}
