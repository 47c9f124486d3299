package mcpproxy

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
		switch word := ev.Data; {
		case strings.Contains(string(word), "block"):
			return protocol.BlockReply("no"), nil
		case strings.Contains(string(word), "ask"):
			return protocol.AskReply("may it?"), nil
		case strings.Contains(string(word), "replace"):
			return protocol.ResultReply(protocol.Result{Content: protocol.TextContent("mine")})
		case strings.Contains(string(word), "change"):
			return protocol.Reply{Action: protocol.Modify, Changes: []byte(`{"args":{"n":1}}`)}, nil
		case strings.Contains(string(word), "fail"):
			return protocol.Reply{}, io.ErrUnexpectedEOF
		case strings.Contains(string(word), "slow"):
			select {
			case <-ctx.Done():
			case <-time.After(2 * time.Millisecond):
			}
		}
		return protocol.Reply{}, nil
	})
	end := dialogue.HookOn(protocol.ToolCallEnd, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		switch word := ev.Data; {
		case strings.Contains(string(word), "secret"):
			return protocol.BlockReply("a secret"), nil
		case strings.Contains(string(word), "private"):
			return protocol.Reply{Action: protocol.Modify, Changes: []byte(`{"result":{"content":[{"type":"text","text":"***"}]}}`)}, nil
		}
		return protocol.Reply{}, nil
	})
	end.Name = "e"
	return []protocol.GoHook{start, end}
}

// chance says and does what the two sides of a conversation may.
type chance struct {
	*dialogue.Chance
	mu    sync.Mutex
	tasks []string
}

// task returns the id of a task that the server has named, or of none.
func (c *chance) task(add string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if add != "" {
		c.tasks = append(c.tasks, add)
		return add
	}
	if len(c.tasks) == 0 {
		return "none"
	}
	return c.Of(c.tasks...)
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// clientSays is what the client says next.
func (c *chance) clientSays() string {
	id := c.ID()
	switch c.Of("call", "call", "call", "read", "modern", "cancel", "cancel", "poll", "poll") {
	case "cancel":
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, max(1, id-len(c.Of("a", "bb", "ccc", "dddd"))))
	case "poll":
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"taskId":%q}}`, id, c.Of("tasks/get", "tasks/result"), c.task(""))
	case "read":
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":"file:///%s"}}`, id, c.Of("run", "block", "ask", "replace", "fail", "slow"))
	case "modern":
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x","arguments":{"do":%q},%s}}`, id, c.Of("ask", "ask", "run"), modernMeta)
	}
	return callLine(fmt.Sprint(id), fmt.Sprintf(`{"do":%q}`, c.Of("run", "run", "run", "block", "ask", "replace", "change", "fail", "slow", "slow")))
}

// serverSays is what the server says to a request.
func (c *chance) serverSays(line []byte) string {
	id, method := jsonspan.Get(line, "id"), jsonspan.Text(jsonspan.Get(line, "method"))
	answer := func(member, value string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%q:%s}`, id, member, value)
	}
	words, cancelled := c.Of("open", "secret", "private"), jsonspan.Text(jsonspan.Find(line, "/params/taskId")) == "c"
	switch {
	case id == nil || method == "", method == "tasks/result" && cancelled:
		return ""
	case method == "tasks/get" && cancelled:
		return answer("result", `{"taskId":"c","status":"cancelled"}`)
	case method == "tasks/result":
		return answer("result", content("open"))
	case method == "tasks/get":
		return answer("result", `{"taskId":"t","status":"working"}`)
	case method == "resources/read":
		return answer("result", c.Of(`{"contents":[{"uri":"file:///x","text":"`+words+`"}]}`, `{"resultType":"input_required","requestState":"s"}`, `{"contents":7}`))
	case method != "tools/call":
		return answer("result", "{}")
	}
	switch c.Of("result", "result", "twice", "error", "input", "task", "task", "never", "unread") {
	case "twice":
		return answer("result", content(words)) + "\n" + answer("result", content(words))
	case "error":
		return answer("error", `{"code":-32000,"message":"broken"}`)
	case "input":
		return answer("result", `{"resultType":"input_required","requestState":"s"}`)
	case "task":
		return answer("result", fmt.Sprintf(`{"task":{"taskId":%q,"status":"working"}}`, c.task(c.Of("a", "b", "c"))))
	case "never":
		return ""
	case "unread":
		return answer("result", `{"content":[],"content":[{"type":"text","text":"x"}]}`)
	}
	return answer("result", content(words))
}

// clientAnswers is what the client says to what it reads, "" if nothing.
func (c *chance) clientAnswers(line []byte) string {
	switch {
	case jsonspan.Text(jsonspan.Get(line, "method")) == "elicitation/create":
		word := c.Of("allow", "refuse", "never")
		if word == "never" {
			return ""
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":%q}}}`, jsonspan.Get(line, "id"), word)
	case jsonspan.Text(jsonspan.Find(line, "/result/resultType")) != "input_required" || c.Of("again", "never") == "never":
		return ""
	}
	state := jsonspan.Find(line, "/result/requestState")
	if jsonspan.Text(state) == "s" {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x","arguments":{"do":"run"},"inputResponses":{},"requestState":"s"}}`, c.ID())
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x","arguments":{"do":"ask"},%s,"inputResponses":{"question":{"action":"accept","content":{"answer":%q}}},"requestState":%s}}`,
		c.ID(), modernMeta, c.Of("allow", "refuse"), state)
}

// Hooks that were told of the start of a call are told of its end exactly once, whatever becomes of
// the call, and anyone who ends the connection.
func TestEachCallEndsOnceForHooks(t *testing.T) {
	starts := 0
	for seed := range uint64(30) {
		e, err := executor.Static(decideAnyhow()...)
		if err != nil {
			t.Fatal(err)
		}
		ledger, c := dialogue.NewLedger(dialogue.Gate{Executor: e}), &chance{Chance: dialogue.NewChance(seed)}
		s := dialogue.Between(t, e, func(ctx context.Context, client relay.Stream, server *proxied.Process) error {
			return Run(ctx, client, server, Options{Hooks: ledger, Server: "t", Session: "s", Cwd: "/", Patience: 5 * time.Millisecond, AskTimeout: 3 * time.Millisecond})
		})
		var sides sync.WaitGroup
		sides.Go(func() { dialogue.Converse(s.ToServer, s.Server, c.serverSays) })
		sides.Go(func() { dialogue.Converse(s.ToClient, s.Client, c.clientAnswers) })
		io.WriteString(s.Client, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}}}}`+"\n")
		for range 60 {
			io.WriteString(s.Client, c.clientSays()+"\n")
		}
		switch c.Of("client", "server", "hookd") {
		case "client":
			s.Client.Close()
		case "server":
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
	if starts < 250 {
		t.Errorf("only %d calls started", starts)
	}
}
