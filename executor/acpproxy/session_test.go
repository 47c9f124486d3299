package acpproxy

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

func newLine(rest string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"session/new","params":{"cwd":"/"` + rest + `}}`
}

// Each session begins and ends for hooks exactly once, whatever ends it.
func TestLivesOfSessions(t *testing.T) {
	s := newStage(t, "")
	s.opens()
	line := func(method, id string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"sessionId":"` + id + `","cwd":"/","mcpServers":[]}}`
	}
	s.passes(s.client, s.toAgent, line("session/load", "old"))
	s.passes(s.agent, s.toClient, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"old","update":{"sessionUpdate":"tool_call","toolCallId":"h","status":"completed","kind":"execute"}}}`)
	s.passes(s.agent, s.toClient, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	s.passes(s.client, s.toAgent, line("session/resume", "old")) // it is open
	s.passes(s.agent, s.toClient, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	s.passes(s.client, s.toAgent, line("session/load", "none"))
	s.passes(s.agent, s.toClient, `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"no"}}`)
	s.passes(s.client, s.toAgent, line("session/fork", "old"))
	s.passes(s.agent, s.toClient, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"forked"}}`)
	s.passes(s.client, s.toAgent, line("session/close", "s1"))
	s.passes(s.agent, s.toClient, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	s.passes(s.client, s.toAgent, line("session/delete", "s1"))
	s.passes(s.agent, s.toClient, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	s.client.Close()
	s.done <- <-s.done
	s.eventually("session-start startup", "session-start resume", "session-start fork", "session-end closed", "session-end exit", "session-end exit")
	if all := s.decided(); len(all) != 6 {
		t.Errorf("%q", all)
	}
}

// A hook that stops a session at its start has it take no prompts.
func TestStoppedSession(t *testing.T) {
	s := newStage(t, "", says(protocol.SessionStart, protocol.StopReply("not here")))
	s.opens()
	s.says(s.client, promptLine("1", "go"))
	s.has(s.toClient, "refused this prompt: not here")
	s.reads(s.toClient, endLine("1", "refusal"))
}

// MCP servers of a session that are programs start under guard; of others the person is told.
func TestServersOfASession(t *testing.T) {
	s := newStage(t, "")
	s.says(s.client, newLine(`,"mcpServers":[{"name":"a","n":1.0,"command":"/bin/a","args":["x y"],"env":[{"name":"K","value":"v"}]},{"type":"http","name":"b","_meta":{"n":1.0},"url":"http://x","headers":[{"name":"K","value":"secret"}]},{"type":"sse","name":"c","url":"http://x","headers":[]}],"x":12345678901234567890`))
	s.reads(s.toAgent, newLine(`,"mcpServers":[{"name":"a","n":1.0,"command":"/bin/hookd","args":["mcp","--name","a","--","/bin/a","x y"],"env":[{"name":"HOOKD_SERVER_ENV_K","value":"v"}]},{"name":"b","_meta":{"n":1.0},"command":"/bin/hookd","args":["mcp","--name","b","--url","${MCP_SERVER_URL}","K: ${MCP_SERVER_HEADER_1}"],"env":[{"name":"MCP_SERVER_URL","value":"http://x"},{"name":"MCP_SERVER_HEADER_1","value":"secret"}]},{"type":"sse","name":"c","url":"http://x","headers":[]}],"x":12345678901234567890`))
	s.noted(`the MCP server "c" (sse) is not guarded`)
	for servers, want := range map[string]string{
		`[{"name":"a","command":"a","Command":"b","args":[],"env":[]}]`: "which some programs take for command",
		`[{"name":"a","command":"a","args":[1],"env":[]}]`:              "where a text is expected",
		`{}`: "not a list",
		`[{"name":"a","command":"a","args":[],"args":[],"env":[]}]`: "has a member twice",
	} {
		s.says(s.client, strings.Replace(newLine(`,"mcpServers":`+servers), `"id":0`, `"id":5`, 1))
		s.has(s.toClient, `"id":5,"error"`, want)
	}
}

// Of a version that hookd cannot guard nothing is passed on.
func TestVersions(t *testing.T) {
	line := func(version string) string {
		return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":` + version + `,"clientCapabilities":{"session":{"notices":{}}},"n":1.0}}`
	}
	answer := func(version string) string {
		return `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":` + version + `,"agentInfo":{"name":"gemini-cli"}}}`
	}
	s := newStage(t, "", says(protocol.ToolCallStart, protocol.BlockReply("no")))
	s.says(s.client, line("2"))
	s.reads(s.toAgent, line("1"))
	s.passes(s.agent, s.toClient, answer("1"))
	s.opens()
	s.says(s.agent, permissionLine("1", "c", "execute", `{"command":"ls"}`))
	s.next(s.toAgent)
	s.has(s.toClient, `"update":{"sessionUpdate":"notice","severity":"warning","title":"hookd","description":"the hook h refused the call of bash: no"}`)

	s = newStage(t, "")
	s.passes(s.client, s.toAgent, line("1"))
	s.says(s.agent, answer("2"))
	s.has(s.toClient, `"id":0,"error"`, "the agent answers with version 2 of ACP")
	s.says(s.agent, updateLine(`{"sessionUpdate":"state_update"}`))
	s.says(s.client, promptLine("1", "go"))
	s.has(s.toClient, `"id":1,"error"`)
}

// A session is kept in the mode that the person wants, or not opened.
func TestForcedMode(t *testing.T) {
	s := newStage(t, "ask")
	modes := func(current string) string {
		return `"modes":{"currentModeId":"` + current + `","availableModes":[{"id":"auto","name":"A"},{"id":"ask","name":"B"}]}`
	}
	set := func(id string) string {
		return `{"jsonrpc":"2.0","id":"hookd-` + id + `","method":"session/set_mode","params":{"sessionId":"s1","modeId":"ask"}}`
	}
	s.passes(s.client, s.toAgent, newLine(""))
	s.says(s.agent, `{"jsonrpc":"2.0","id":0,"result":{"sessionId":"s1",`+modes("auto")+`}}`)
	s.reads(s.toAgent, set("1"))
	s.says(s.agent, `{"jsonrpc":"2.0","id":"hookd-1","result":{}}`)
	s.reads(s.toClient, `{"jsonrpc":"2.0","id":0,"result":{"sessionId":"s1",`+modes("ask")+`}}`)
	s.says(s.client, `{"jsonrpc":"2.0","id":1,"method":"session/set_mode","params":{"sessionId":"s1","modeId":"auto"}}`)
	s.has(s.toClient, `"id":1,"error"`, `this session stays in the mode \"ask\"`)
	s.says(s.client, `{"jsonrpc":"2.0","id":1,"method":"session/set_config_option","params":{"sessionId":"s1","configId":"mode","value":"auto"}}`)
	s.has(s.toClient, `"id":1,"error"`)
	s.passes(s.agent, s.toClient, updateLine(`{"sessionUpdate":"current_mode_update","currentModeId":"auto"}`))
	s.reads(s.toAgent, set("2"))
	s.says(s.agent, `{"jsonrpc":"2.0","id":"hookd-2","error":{"code":-32603,"message":"no"}}`)
	s.has(s.toClient, "the session cannot be put into the mode")

	s.says(s.client, strings.Replace(promptLine("4", "go"), "s1", "other", 1))
	s.has(s.toClient, "hookd has not seen this session begin")
	s.next(s.toClient)

	s.passes(s.client, s.toAgent, newLine(""))
	s.says(s.agent, `{"jsonrpc":"2.0","id":0,"result":{"sessionId":"s2","modes":{"currentModeId":"x","availableModes":[{"id":"x"},{"id":"y"}]}}}`)
	s.has(s.toClient, `"id":0,"error"`, `has no session mode \"ask\" (--mode), it has: x, y`)

	s.passes(s.client, s.toAgent, newLine(""))
	options := func(value string) string {
		return `{"jsonrpc":"2.0","id":0,"result":{"sessionId":"s3","configOptions":[{"id":"m","category":"mode","currentValue":"` + value + `","options":[{"group":"g","options":[{"value":"auto"},{"value":"ask"}]}]}]}}`
	}
	s.says(s.agent, options("auto"))
	s.reads(s.toAgent, `{"jsonrpc":"2.0","id":"hookd-3","method":"session/set_config_option","params":{"sessionId":"s3","configId":"m","value":"ask"}}`)
	s.says(s.agent, `{"jsonrpc":"2.0","id":"hookd-3","result":{"configOptions":[]}}`)
	s.reads(s.toClient, options("ask"))
}

// When the agent ends, a client that waits for an answer gets one, and hooks learn how.
func TestAgentEnds(t *testing.T) {
	s := newStage(t, "")
	s.opens()
	s.passes(s.client, s.toAgent, promptLine("1", "go"))
	s.passes(s.agent, s.toClient, updateLine(`{"sessionUpdate":"tool_call","toolCallId":"a","kind":"execute","status":"in_progress","rawInput":{"command":"ls"}}`))
	began := time.Now()
	s.exit.Do(func() { close(s.exited) })
	s.agent.Close()
	s.reads(s.toClient, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"hookd: the agent has ended: exit code 3"}}`)
	if err := <-s.done; err != nil || time.Since(began) > 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	s.done <- nil
	s.eventually("tool-call-start bash", "tool-call-error bash", "agent-error the agent has ended", "session-end exit")
}

// An answer that is too long is an error, which no client takes for a wish to log in.
func TestAnswersTooLong(t *testing.T) {
	s := newStage(t, "")
	s.passes(s.client, s.toAgent, `{"jsonrpc":"2.0","id":4,"method":"session/list"}`)
	s.says(s.agent, `{"jsonrpc":"2.0","id":4,"result":{"x":"`+strings.Repeat("x", 1<<20)+`"}}`)
	s.has(s.toClient, `{"jsonrpc":"2.0","id":4,"error":{"code":-32603,"message":"hookd: the answer was left out: `)
}

// When the client ends, what waits for hooks is given up in time, and the agent ended.
func TestClientEnds(t *testing.T) {
	s := newStage(t, "", hookOn(protocol.ToolCallStart, func(ctx context.Context, _ *protocol.Event) (protocol.Reply, error) {
		<-ctx.Done()
		return protocol.Reply{}, ctx.Err()
	}))
	s.opens()
	s.passes(s.client, s.toAgent, promptLine("1", "go"))
	s.says(s.agent, permissionLine("1", "c", "execute", `{"command":"ls"}`))
	began := time.Now()
	s.client.Close()
	s.reads(s.toAgent, "EOF")
	go func() {
		for s.next(s.toClient) != "EOF" {
		}
	}()
	if err := <-s.done; err != nil || time.Since(began) > 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	s.done <- nil
	<-s.exited
}
