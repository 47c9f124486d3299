package acpproxy

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/test/dialogue"
)

// The conversations of real agents pass byte for byte, and their turns are seen.
func TestConversationsOfAgents(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newStage(t, "")
			calls := false
			for line := range strings.Lines(string(text)) {
				message := string(jsonspan.Get([]byte(line), "m"))
				calls = calls || strings.Contains(message, `"status": "completed"`) || strings.Contains(message, "request_permission")
				if jsonspan.Text(jsonspan.Get([]byte(line), "dir")) != "client>agent" {
					s.passes(s.Server, s.ToClient, message)
					continue
				}
				s.Say(s.Client, message)
				if strings.Contains(message, `"mcpServers": [{`) {
					s.Has(s.ToServer, `"command": "/bin/hookd", "args": ["mcp","--name","mini","--","/usr/bin/node","/home/user/mcp_mini.mjs"`)
					continue
				}
				s.Read(s.ToServer, message)
			}
			want := []string{"session-start startup", "prompt-submit do the thing"}
			if calls {
				want = append(want, "tool-call-start ")
			}
			if !strings.Contains(file, "cancel") { // the last turn of others ends
				want = append(want, "agent-stop done", "agent-end done")
			}
			s.eventually(want...)
			s.End(proxied.ErrClosed)
			s.Done <- <-s.Done
			s.eventually("session-end interrupted")
		})
	}
}

// What nobody knows passes byte for byte, whatever its ids, numbers and members are.
func TestBytesPass(t *testing.T) {
	s := newStage(t, "")
	s.opens()
	for _, line := range []string{
		` {"jsonrpc" : "2.0","method":"craft/x","params":{"n":12345678901234567890,"a":1,"a":2,"\u0061b":"\u003c\/"},"unknown":[1.0,1e2]}`,
		`{"id":"a-1","jsonrpc":"2.0","method":"_zed/thing","params":{"sessionId":"s1","n":-0.0}}`,
		"{\"jsonrpc\":\"2.0\",\"method\":\"qwen/notify\",\"params\":{\"bad\":\"\xff\"}}",
		`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"_meta":{"k":9007199254740993},"prompt":[ {"text":"\u0061","type":"text","annotations":{"n":1.0}},{"type":"audio","data":"x","n":1e400}],"sessionId":"s1", "x":[]}}`,
	} {
		s.passes(s.Client, s.ToServer, line)
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"unknown","update":{"sessionUpdate":"tool_call","toolCallId":"x","status":"completed"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"n":9007199254740993}}`,
		updateLine(`{"sessionUpdate":"_new","n":12345678901234567890,"a":1,"a":2}`),
		updateLine(`{"sessionUpdate":"tool_call","toolCallId":"c","name":"x","rawInput":{"n":12345678901234567890}}`),
		`{"result":{"x":12345678901234567890},"id":"a-1","jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn","usage":{"n":9007199254740993}} }`,
	} {
		s.passes(s.Server, s.ToClient, line)
	}
	s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","id":2,"result":{"action":"decline"}}`)
}

// A question never overtakes the updates before it, however many these are.
func TestOrderHoldsBehindAFlood(t *testing.T) {
	s := newStage(t, "")
	s.opens()
	s.passes(s.Client, s.ToServer, promptLine("1", "go"))
	const count = 5000
	update := func(i int) string {
		return updateLine(fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%d"}}`, i))
	}
	go func() {
		for i := range count {
			fmt.Fprintln(s.Server, update(i))
		}
		s.Say(s.Server, permissionLine("7", "x", "execute", `{"command":"ls"}`))
		s.Say(s.Server, updateLine(`{"sessionUpdate":"plan","entries":[]}`))
		s.Say(s.Server, endLine("1", "end_turn"))
	}()
	for i := range count {
		s.Read(s.ToClient, update(i))
	}
	s.Read(s.ToClient, permissionLine("7", "x", "execute", `{"command":"ls"}`))
	s.Read(s.ToClient, updateLine(`{"sessionUpdate":"plan","entries":[]}`))
	s.Read(s.ToClient, endLine("1", "end_turn"))
}

// Many turns with many calls leave no goroutine and no memory in use.
func TestManyCalls(t *testing.T) {
	count := 500
	if given, err := strconv.Atoi(os.Getenv("CALLS")); err == nil {
		count = given // CALLS=10000 go test ./executor/acpproxy -run ManyCalls
	}
	s := newStage(t, "")
	s.opens()
	heap := func() uint64 {
		s.mu.Lock()
		s.events = nil
		s.mu.Unlock()
		return dialogue.Heap()
	}
	before := uint64(0)
	for i := 1; i <= count; i++ {
		id := fmt.Sprint(i)
		s.passes(s.Client, s.ToServer, promptLine(id, strings.Repeat("y", 1000)))
		s.passes(s.Server, s.ToClient, permissionLine(id, "c"+id, "execute", `{"command":"ls"}`))
		s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","id":`+id+`,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`)
		s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"tool_call_update","toolCallId":"c`+id+`","status":"completed","rawOutput":"`+strings.Repeat("x", 1000)+`"}`))
		s.passes(s.Server, s.ToClient, endLine(id, "end_turn"))
		if i == count/5 {
			before = heap()
		}
	}
	if after := heap(); after > before+1<<20 {
		t.Errorf("%d calls left %d bytes", count*4/5, after-before)
	}
}
