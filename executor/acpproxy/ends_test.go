package acpproxy

import (
	"context"
	"fmt"
	"io"
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

// decideAnyhow answers the starts and ends of calls in every way that there is, as their words say.
func decideAnyhow() []protocol.GoHook {
	start := dialogue.HookOn(protocol.ToolCallStart, func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
		switch word := string(ev.Data); {
		case strings.Contains(word, "block"):
			return protocol.BlockReply("no"), nil
		case strings.Contains(word, "halt"):
			return protocol.StopReply("no more"), nil
		case strings.Contains(word, "ask"):
			return protocol.AskReply("may it?"), nil
		case strings.Contains(word, "replace"):
			return protocol.ResultReply(protocol.Result{Content: protocol.TextContent("mine")})
		case strings.Contains(word, "fail"):
			return protocol.Reply{}, io.ErrUnexpectedEOF
		case strings.Contains(word, "slow"):
			select {
			case <-ctx.Done():
			case <-time.After(2 * time.Millisecond):
			}
		}
		return protocol.Reply{}, nil
	})
	end := dialogue.HookOn(protocol.ToolCallEnd, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		if strings.Contains(string(ev.Data), "secret") {
			return protocol.BlockReply("a secret"), nil
		}
		return protocol.Reply{}, nil
	})
	end.Name = "e"
	return []protocol.GoHook{start, end}
}

// chance says and does what the two sides of a conversation may.
type chance struct{ *dialogue.Chance }

// session is the id of a session, or of one that nobody has seen begin.
func (c *chance) session() string { return c.Of("s1", "s1", "s1", "s2", "unseen") }

// clientSays is what the client says next.
func (c *chance) clientSays() string {
	switch id := c.ID(); c.Of("prompt", "prompt", "prompt", "cancel", "open", "load", "close", "give up") {
	case "cancel":
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, c.session())
	case "give up":
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%d}}`, id-1)
	case "open":
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`, id)
	case "load":
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/load","params":{"sessionId":%q,"cwd":"/","mcpServers":[]}}`, id, c.session())
	case "close":
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/close","params":{"sessionId":%q}}`, id, c.Of("s1", "s2", "unseen"))
	default:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}}`, id, c.session())
	}
}

// agentAnswers is what the agent says to a request, "" if nothing.
func (c *chance) agentAnswers(line []byte) string {
	id := jsonspan.Get(line, "id")
	if id == nil || jsonspan.Get(line, "method") == nil {
		return ""
	}
	switch jsonspan.Text(jsonspan.Get(line, "method")) {
	case "session/new":
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":%q}}`, id, c.Of("s1", "s2"))
	case "session/prompt":
		if c.Of("ends", "ends", "goes on") == "goes on" {
			return ""
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":%q}}`, id, c.Of("end_turn", "cancelled", "refusal"))
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, id, c.Of(`"result":{}`, `"result":{}`, `"error":{"code":-32603,"message":"no"}`))
}

// agentSays is what the agent says next by itself.
func (c *chance) agentSays() string {
	id, call, word := c.ID(), c.Of("a", "b", "c", "d", ""), c.Of("run", "run", "block", "halt", "ask", "replace", "fail", "slow", "slow")
	request := func(method, rest string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":"g%d","method":%q,"params":{"sessionId":%q,%s}}`, id, method, c.session(), rest)
	}
	update := func(rest string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"toolCallId":%q,%s}}}`, c.session(), call, rest)
	}
	input := fmt.Sprintf(`"kind":"execute","title":"t","rawInput":{"command":%q}`, word)
	switch c.Of("permission", "permission", "retitled", "begin", "update", "update", "update", "unreadable", "file", "command", "output", "release", "give up") {
	case "permission":
		return request("session/request_permission", c.Of(`"options":[{"optionId":"yes","name":"Y","kind":"allow_once"},{"optionId":"no","name":"N","kind":"reject_once"}]`, `"options":[]`)+`,"toolCall":{"toolCallId":"`+call+`",`+input+`}`)
	case "retitled": // asks with another title than the one that it shows the args with
		return request("session/request_permission", `"options":[{"optionId":"no","name":"N","kind":"reject_once"}],"toolCall":{"toolCallId":"`+call+`","title":"`+word+`"}`)
	case "begin":
		return update(`"sessionUpdate":"tool_call","status":"` + c.Of("pending", "in_progress", "completed", "failed") + `",` + input)
	case "update":
		return update(`"sessionUpdate":"tool_call_update","status":"` + c.Of("in_progress", "completed", "failed") + `"`)
	case "unreadable":
		return update(`"sessionUpdate":"tool_call_update","status":"in_progress","rawInput":{},"rawInput":{"command":"x"}`)
	case "file":
		return request(c.Of("fs/read_text_file", "fs/write_text_file"), `"path":"/`+word+`","content":"x"`)
	case "command":
		return request("terminal/create", `"command":"`+word+`"`)
	case "output":
		return request("terminal/output", `"terminalId":"`+c.Of("t1", "t2")+`"`)
	case "release":
		return request("terminal/release", `"terminalId":"`+c.Of("t1", "t2")+`"`)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"g%d"}}`, max(1, id-2))
}

// clientAnswers is what the client says to a request of the agent, "" if nothing.
func (c *chance) clientAnswers(line []byte) string {
	id, method := jsonspan.Get(line, "id"), jsonspan.Text(jsonspan.Get(line, "method"))
	if id == nil || method == "" || c.Of("answers", "answers", "answers", "never") == "never" {
		return ""
	}
	result := `{}`
	switch method {
	case "session/request_permission":
		result = `{"outcome":` + c.Of(`{"outcome":"selected","optionId":"yes"}`, `{"outcome":"selected","optionId":"allow"}`, `{"outcome":"selected","optionId":"no"}`, `{"outcome":"cancelled"}`) + `}`
	case "fs/read_text_file":
		result = c.Of(`{"content":"open"}`, `{"content":"secret"}`, `{"content":"x","content":"y"}`)
	case "terminal/create":
		result = `{"terminalId":"` + c.Of("t1", "t2") + `"}`
	case "terminal/output":
		result = c.Of(`{"output":"x","truncated":false}`, `{"output":"secret","truncated":false,"exitStatus":{"exitCode":0}}`)
	}
	if c.Of("result", "result", "result", "error") == "error" {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`, id)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// Hooks that were told of the start of a call are told of its end exactly once, whatever becomes of
// the call, its turn and its session, and anyone who ends the connection.
func TestEachCallEndsOnceForHooks(t *testing.T) {
	starts := 0
	for seed := range uint64(30) {
		e, err := executor.Static(decideAnyhow()...)
		if err != nil {
			t.Fatal(err)
		}
		ledger, c := dialogue.NewLedger(dialogue.Gate{Executor: e}), &chance{dialogue.NewChance(seed)}
		s := dialogue.Between(t, e, func(ctx context.Context, client relay.Stream, agent *proxied.Process) error {
			return Run(ctx, client, agent, Options{Open: func([]string) (proxied.Hooks, error) { return ledger, nil }, Cwd: "/", Patience: 5 * time.Millisecond, Server: func(Server) []string { return nil }})
		})
		var sides, says sync.WaitGroup
		sides.Go(func() { dialogue.Converse(s.ToServer, s.Server, c.agentAnswers) })
		sides.Go(func() { dialogue.Converse(s.ToClient, s.Client, c.clientAnswers) })
		io.WriteString(s.Client, `{"jsonrpc":"2.0","id":0,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`+"\n")
		says.Go(func() {
			for range 30 {
				io.WriteString(s.Client, c.clientSays()+"\n")
			}
		})
		for range 120 {
			io.WriteString(s.Server, c.agentSays()+"\n")
		}
		says.Wait()
		switch c.Of("client", "agent", "hookd") {
		case "client":
			s.Client.Close()
		case "agent":
			s.Server.Close()
		default:
			s.End(proxied.ErrClosed)
		}
		s.Done <- <-s.Done
		ledger.Settled(t)
		sides.Wait()
		if starts += ledger.Started(); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if starts < 500 {
		t.Errorf("only %d calls started", starts)
	}
}

// Hooks hear at once of the end of a call that nothing more is heard of.
func TestCallsThatNothingMoreIsHeardOf(t *testing.T) {
	running := updateLine(`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","status":"in_progress","rawInput":{"command":"ls"}}`)
	shown := updateLine(`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","title":"ls","rawInput":{"command":"ls"}}`)
	retitled := `{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"sessionId":"s1","options":[{"optionId":"yes","name":"Y","kind":"allow_once"}],"toolCall":{"toolCallId":"c","title":"pwd"}}}`
	const start, lost, end = "tool-call-start bash observe", "tool-call-error bash observe", "tool-call-end bash observe"
	for name, test := range map[string]struct {
		agent, client []string // what they say, one after the other: first the agent
		want          []string
	}{
		"the turn ends":      {[]string{running, endLine("1", "end_turn")}, nil, []string{start, lost}},
		"the session closes": {[]string{running}, []string{`{"jsonrpc":"2.0","id":9,"method":"session/close","params":{"sessionId":"s1"}}`}, []string{start, lost, "session-end closed"}},
		"two readings": {
			[]string{shown, retitled, updateLine(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}`)},
			[]string{"", `{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`}, []string{start, start, end, end},
		},
		"two readings, not allowed": {
			[]string{shown, retitled}, []string{"", `{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"cancelled"}}}`}, []string{start, start, lost, lost},
		},
		"the agent asks after it began": {[]string{running, permissionLine("5", "c", "execute", `{"command":"ls"}`)}, nil, []string{start, lost, start}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "")
			s.opens()
			s.passes(s.Client, s.ToServer, promptLine("1", "go"))
			for i := range max(len(test.agent), len(test.client)) {
				if i < len(test.agent) {
					s.passes(s.Server, s.ToClient, test.agent[i])
				}
				if i < len(test.client) && test.client[i] != "" {
					s.passes(s.Client, s.ToServer, test.client[i])
				}
				if strings.Contains(name, "closes") {
					s.passes(s.Server, s.ToClient, `{"jsonrpc":"2.0","id":9,"result":{}}`)
				}
			}
			s.eventually(test.want...)
		})
	}
}

// A question that the agent gives up has ended for hooks. If the call runs all the same, it is seen
// as one that the agent did not ask about; if the agent only says that it failed, hooks know.
func TestQuestionsThatAreGivenUp(t *testing.T) {
	for status, more := range map[string][]string{"failed": nil, "completed": {"tool-call-start bash observe", "tool-call-end bash observe"}} {
		asked := make(chan struct{}, 1)
		s := newStage(t, "", dialogue.HookOn(protocol.ToolCallStart, func(ctx context.Context, _ *protocol.Event) (protocol.Reply, error) {
			select {
			case asked <- struct{}{}:
				<-ctx.Done()
				return protocol.Reply{}, ctx.Err()
			default:
				return protocol.Reply{}, nil
			}
		}))
		s.opens()
		s.passes(s.Client, s.ToServer, promptLine("1", "go"))
		s.Say(s.Server, permissionLine("5", "c", "execute", `{"command":"ls"}`))
		<-asked
		s.Say(s.Server, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}`)
		s.Read(s.ToServer, `{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"cancelled"}}}`)
		s.eventually("tool-call-error bash observe")
		asked <- struct{}{}
		s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"`+status+`"}`))
		s.passes(s.Server, s.ToClient, endLine("1", "end_turn"))
		s.eventually(append([]string{"tool-call-error bash observe"}, append(more, "agent-end done")...)...)
		if events := s.decided(); more == nil && strings.Contains(strings.Join(events, "\n"), "tool-call-start") {
			t.Errorf("%q", events)
		}
	}
}
