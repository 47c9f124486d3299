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
	"github.com/hookd-dev/hookd/test/dialogue"
)

// stage is a proxy between a client and an agent that are pipes of the test.
type stage struct {
	dialogue.Lines
	*dialogue.Sides // the agent is the server
	notes           dialogue.Notes

	mu      sync.Mutex
	events  []told
	answers map[string]int // how often a permission-request was decided so, as "action who option: reason"
	opened  []string       // the folders of each session, with commas between them
}

// told is a decided event, as "event tool-or-reason action".
type told struct {
	seq  int64 // in its session
	text string
}

func newStage(t *testing.T, mode string, hooks ...protocol.GoHook) *stage {
	t.Helper()
	return newStageWith(t, func(o *Options) { o.Mode = mode }, hooks...)
}

// newStageWith returns a stage with other options.
func newStageWith(t *testing.T, set func(*Options), hooks ...protocol.GoHook) *stage {
	t.Helper()
	e, err := executor.Static(hooks...)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{Lines: dialogue.Lines{T: t}, answers: map[string]int{}}
	s.Sides = dialogue.Between(t, e, func(ctx context.Context, client relay.Stream, agent *proxied.Process) error {
		options := Options{
			Open: func(folders []string) (proxied.Hooks, error) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.opened = append(s.opened, strings.Join(folders, ","))
				return dialogue.Gate{Executor: e}, nil
			}, Cwd: "/", Patience: 50 * time.Millisecond, Limit: 1 << 20,
			Server: func(o Server) []string {
				line := []string{"/bin/hookd", "mcp", "--name", o.Name}
				if o.URL != "" {
					return append(append(line, "--url", o.URL), o.Headers...)
				}
				return append(append(line, "--", o.Command), o.Args...)
			},
			Tell: s.tell, Note: s.notes.Add,
		}
		set(&options)
		return Run(ctx, client, agent, options)
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
	if o.Event.Event == protocol.PermissionRequest {
		who := "nobody"
		if a := o.Answered; a != nil {
			who = strings.TrimSpace(fmt.Sprint(a.By, " ", a.Name, a.Option))
		}
		s.answers[fmt.Sprintf("%s %s: %s", o.Action, who, o.Reason)]++
	}
	for _, lost := range o.Lost {
		s.notes.Add("lost: " + lost)
	}
}

// passes has a line reach the other side as it is.
func (s *stage) passes(from io.Writer, to *bufio.Reader, line string) {
	s.T.Helper()
	s.Say(from, line)
	s.Read(to, line)
}

// opens begins the session s1.
func (s *stage) opens() {
	s.T.Helper()
	s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","id":0,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
	s.passes(s.Server, s.ToClient, `{"jsonrpc":"2.0","id":0,"result":{"sessionId":"s1"}}`)
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
	s.T.Helper()
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
	s.T.Errorf("events %q\nwant   %q", got, want)
}

// noted waits until the person was told something.
func (s *stage) noted(want string) {
	s.T.Helper()
	s.notes.Await(s.T, want)
}

// says answers an event always the same.
func says(event protocol.EventName, reply protocol.Reply) protocol.GoHook {
	return dialogue.HookOn(event, func(context.Context, *protocol.Event) (protocol.Reply, error) { return reply, nil })
}
