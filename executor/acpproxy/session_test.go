package acpproxy

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/dialogue"
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
	s.passes(s.Client, s.ToServer, line("session/load", "old"))
	s.passes(s.Server, s.ToClient, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"old","update":{"sessionUpdate":"tool_call","toolCallId":"h","status":"completed","kind":"execute"}}}`)
	s.passes(s.Server, s.ToClient, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	s.passes(s.Client, s.ToServer, line("session/resume", "old")) // it is open
	s.passes(s.Server, s.ToClient, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	s.passes(s.Client, s.ToServer, line("session/load", "none"))
	s.passes(s.Server, s.ToClient, `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"no"}}`)
	s.passes(s.Client, s.ToServer, line("session/fork", "old"))
	s.passes(s.Server, s.ToClient, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"forked"}}`)
	s.passes(s.Client, s.ToServer, line("session/close", "s1"))
	s.passes(s.Server, s.ToClient, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	s.passes(s.Client, s.ToServer, line("session/delete", "s1"))
	s.passes(s.Server, s.ToClient, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	s.Client.Close()
	s.Done <- <-s.Done
	s.eventually("session-start startup", "session-start resume", "session-start fork", "session-end closed", "session-end exit", "session-end exit")
	if all := s.decided(); len(all) != 6 {
		t.Errorf("%q", all)
	}
}

// A hook that stops a session at its start has it take no prompts.
func TestStoppedSession(t *testing.T) {
	s := newStage(t, "", says(protocol.SessionStart, protocol.StopReply("not here")))
	s.opens()
	s.Say(s.Client, promptLine("1", "go"))
	s.Has(s.ToClient, "refused this prompt: not here")
	s.Read(s.ToClient, endLine("1", "refusal"))
}

// MCP servers of a session that are programs start under guard; of others the person is told.
func TestServersOfASession(t *testing.T) {
	s := newStage(t, "")
	s.Say(s.Client, newLine(`,"mcpServers":[{"name":"a","n":1.0,"command":"/bin/a","args":["x y"],"env":[{"name":"K","value":"v"}]},{"type":"http","name":"b","_meta":{"n":1.0},"url":"http://x","headers":[{"name":"K","value":"secret"}]},{"type":"sse","name":"c","url":"http://x","headers":[]},{"type":"ws","name":"d","url":"ws://x"}],"x":12345678901234567890`))
	s.Read(s.ToServer, newLine(`,"mcpServers":[{"name":"a","n":1.0,"command":"/bin/hookd","args":["mcp","--name","a","--","/bin/a","x y"],"env":[{"name":"HOOKD_SERVER_ENV_K","value":"v"}]},{"name":"b","_meta":{"n":1.0},"command":"/bin/hookd","args":["mcp","--name","b","--url","${MCP_SERVER_URL}","K: ${MCP_SERVER_HEADER_1}"],"env":[{"name":"HOOKD_SERVER_ENV_MCP_SERVER_URL","value":"http://x"},{"name":"HOOKD_SERVER_ENV_MCP_SERVER_HEADER_1","value":"secret"}]},{"name":"c","command":"/bin/hookd","args":["mcp","--name","c","--url","${MCP_SERVER_URL}"],"env":[{"name":"HOOKD_SERVER_ENV_MCP_SERVER_URL","value":"http://x"}]},{"type":"ws","name":"d","url":"ws://x"}],"x":12345678901234567890`))
	s.noted(`the MCP server "d" (ws) is not guarded`)
	for servers, want := range map[string]string{
		`[{"name":"a","command":"a","Command":"b","args":[],"env":[]}]`: "which some programs take for command",
		`[{"name":"a","command":"a","args":[1],"env":[]}]`:              "where a text is expected",
		`{}`: "not a list",
		`[{"name":"a","command":"a","args":[],"args":[],"env":[]}]`: "has a member twice",
	} {
		s.Say(s.Client, strings.Replace(newLine(`,"mcpServers":`+servers), `"id":0`, `"id":5`, 1))
		s.Has(s.ToClient, `"id":5,"error"`, want)
	}
}

// MCP servers that agents take from _meta are guarded as those of the session, in the form that they
// have there. Of what else may undo the guard the person is told.
func TestServersInMeta(t *testing.T) {
	for name, test := range map[string]struct{ meta, want, note string }{
		"of Claude's agent": {
			`{"n":1.0,"claudeCode":{"options":{"model":"m","mcpServers":{"a":{"type":"stdio","command":"a","args":["x"],"env":{"K":"v"}},"b":{"type":"http","url":"http://x","headers":{"H":"secret"}}}}}}`,
			`{"n":1.0,"claudeCode":{"options":{"model":"m","mcpServers":{"a":{"type":"stdio","command":"/bin/hookd","args":["mcp","--name","a","--","a","x"],"env":{"HOOKD_SERVER_ENV_K":"v"}},"b":{"command":"/bin/hookd","args":["mcp","--name","b","--url","${MCP_SERVER_URL}","H: ${MCP_SERVER_HEADER_1}"],"env":{"HOOKD_SERVER_ENV_MCP_SERVER_URL":"http://x","HOOKD_SERVER_ENV_MCP_SERVER_HEADER_1":"secret"}}}}}}`, "",
		},
		"of its sub-agents": {
			`{"claudeCode":{"options":{"agents":{"r":{"prompt":"p","mcpServers":[ "a",{"c":{"command":"c"}}]}}}}}`,
			`{"claudeCode":{"options":{"agents":{"r":{"prompt":"p","mcpServers":["a",{"c":{"command":"/bin/hookd","args":["mcp","--name","c","--","c"]}}]}}}}}`, "",
		},
		"of another agent": {
			`{"x":[{"mcp_servers":[{"name":"a","command":"a","args":[],"env":[{"name":"K","value":"v"}]}]}]}`,
			`{"x":[{"mcp_servers":[{"name":"a","command":"/bin/hookd","args":["mcp","--name","a","--","a"],"env":[{"name":"HOOKD_SERVER_ENV_K","value":"v"}]}]}]}`, "",
		},
		"none":           {`{"claudeCode":{ "options":{"mcpServers":null , "agents":{"r":{"mcpServers":[ "a" ]}}}}}`, `{"claudeCode":{ "options":{"mcpServers":null , "agents":{"r":{"mcpServers":[ "a" ]}}}}}`, ""},
		"other ways":     {`{"claudeCode":{"options":{"plugins":[],"allowedTools":["Bash"],"model":"m"}}}`, `{"claudeCode":{"options":{"plugins":[],"allowedTools":["Bash"],"model":"m"}}}`, "plugins, allowedTools in _meta.claudeCode.options"},
		"not a server":   {`{"claudeCode":{"options":{"mcpServers":{"a":"b"}}}}`, "", `in _meta: the MCP server "a" is a string`},
		"a path":         {`{"claudeCode":{"options":{"mcpServers":"servers.json"}}}`, "", "in _meta: mcpServers is a string"},
		"two in one":     {`{"mcpServers":{"a":{"command":"a","url":"http://x"}}}`, "", "has a command and a url"},
		"in two ways":    {`{"mcpServers":{"a":{"command":"a","Command":"b"}}}`, "", "which some programs take for command"},
		"in other words": {`{"MCPservers":{"a":{"command":"a","env":{"a=b":"v"}}}}`, "", "which no environment can hold"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "")
			s.Say(s.Client, newLine(`,"mcpServers":[],"_meta":`+test.meta))
			if test.want == "" {
				s.Has(s.ToClient, `"id":0,"error"`)
			} else {
				s.Read(s.ToServer, newLine(`,"mcpServers":[],"_meta":`+test.want))
			}
			if test.note != "" {
				s.noted(test.note)
			}
		})
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
	s.Say(s.Client, line("2"))
	s.Read(s.ToServer, line("1"))
	s.passes(s.Server, s.ToClient, answer("1"))
	s.opens()
	s.Say(s.Server, permissionLine("1", "c", "execute", `{"command":"ls"}`))
	s.Next(s.ToServer)
	s.Has(s.ToClient, `"update":{"sessionUpdate":"notice","severity":"warning","title":"hookd","description":"the hook h refused the call of bash: no"}`)

	s = newStage(t, "")
	s.passes(s.Client, s.ToServer, line("1"))
	s.Say(s.Server, answer("2"))
	s.Has(s.ToClient, `"id":0,"error"`, "the agent answers with version 2 of ACP")
	s.Say(s.Server, updateLine(`{"sessionUpdate":"state_update"}`))
	s.Say(s.Client, promptLine("1", "go"))
	s.Has(s.ToClient, `"id":1,"error"`)
}

// An agent that does not answer initialize is told of, and not before it has had its time.
func TestSilentAgent(t *testing.T) {
	const line = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`
	for silence, told := range map[time.Duration]bool{time.Millisecond: true, time.Hour: false} {
		s := newStageWith(t, func(o *Options) { o.Silence = silence })
		s.passes(s.Client, s.ToServer, line)
		if told {
			s.notes.Await(t, "the agent has not answered for 1ms")
		}
		s.passes(s.Server, s.ToClient, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`)
		s.passes(s.Client, s.ToServer, line)
		s.passes(s.Server, s.ToClient, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`)
		if n := len(s.notes.All()); n != map[bool]int{true: 1}[told] {
			t.Errorf("%v: %d notes: %q", silence, n, s.notes.All())
		}
	}
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
	s.passes(s.Client, s.ToServer, newLine(""))
	s.Say(s.Server, `{"jsonrpc":"2.0","id":0,"result":{"sessionId":"s1",`+modes("auto")+`}}`)
	s.Read(s.ToServer, set("1"))
	s.Say(s.Server, `{"jsonrpc":"2.0","id":"hookd-1","result":{}}`)
	s.Read(s.ToClient, `{"jsonrpc":"2.0","id":0,"result":{"sessionId":"s1",`+modes("ask")+`}}`)
	s.Say(s.Client, `{"jsonrpc":"2.0","id":1,"method":"session/set_mode","params":{"sessionId":"s1","modeId":"auto"}}`)
	s.Has(s.ToClient, `"id":1,"error"`, `this session stays in the mode \"ask\"`)
	s.Say(s.Client, `{"jsonrpc":"2.0","id":1,"method":"session/set_config_option","params":{"sessionId":"s1","configId":"mode","value":"auto"}}`)
	s.Has(s.ToClient, `"id":1,"error"`)
	s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"current_mode_update","currentModeId":"auto"}`))
	s.Read(s.ToServer, set("2"))
	s.Say(s.Server, `{"jsonrpc":"2.0","id":"hookd-2","error":{"code":-32603,"message":"no"}}`)
	s.Has(s.ToClient, "the session cannot be put into the mode")

	s.Say(s.Client, strings.Replace(promptLine("4", "go"), "s1", "other", 1))
	s.Has(s.ToClient, "hookd has not seen this session begin")
	s.Next(s.ToClient)

	s.passes(s.Client, s.ToServer, newLine(""))
	s.Say(s.Server, `{"jsonrpc":"2.0","id":0,"result":{"sessionId":"s2","modes":{"currentModeId":"x","availableModes":[{"id":"x"},{"id":"y"}]}}}`)
	s.Has(s.ToClient, `"id":0,"error"`, `has no session mode \"ask\" (--mode), it has: x, y`)

	s.passes(s.Client, s.ToServer, newLine(""))
	options := func(value string) string {
		return `{"jsonrpc":"2.0","id":0,"result":{"sessionId":"s3","configOptions":[{"id":"m","category":"mode","currentValue":"` + value + `","options":[{"group":"g","options":[{"value":"auto"},{"value":"ask"}]}]}]}}`
	}
	s.Say(s.Server, options("auto"))
	s.Read(s.ToServer, `{"jsonrpc":"2.0","id":"hookd-3","method":"session/set_config_option","params":{"sessionId":"s3","configId":"m","value":"ask"}}`)
	s.Say(s.Server, `{"jsonrpc":"2.0","id":"hookd-3","result":{"configOptions":[]}}`)
	s.Read(s.ToClient, options("ask"))
}

// When the agent ends, a client that waits for an answer gets one, and hooks learn how.
func TestAgentEnds(t *testing.T) {
	s := newStage(t, "")
	s.opens()
	s.passes(s.Client, s.ToServer, promptLine("1", "go"))
	s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"tool_call","toolCallId":"a","kind":"execute","status":"in_progress","rawInput":{"command":"ls"}}`))
	began := time.Now()
	s.Exit()
	s.Server.Close()
	s.Read(s.ToClient, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"hookd: the agent has ended: exit code 3"}}`)
	if err := <-s.Done; err != nil || time.Since(began) > 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	s.Done <- nil
	s.eventually("tool-call-start bash", "tool-call-error bash", "agent-error the agent has ended", "session-end exit")
}

// An answer that is too long is an error, which no client takes for a wish to log in.
func TestAnswersTooLong(t *testing.T) {
	s := newStage(t, "")
	s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","id":4,"method":"session/list"}`)
	s.Say(s.Server, `{"jsonrpc":"2.0","id":4,"result":{"x":"`+strings.Repeat("x", 1<<20)+`"}}`)
	s.Has(s.ToClient, `{"jsonrpc":"2.0","id":4,"error":{"code":-32603,"message":"hookd: the answer was left out: `)
}

// When the client ends, what waits for hooks is given up in time, and the agent ended.
func TestClientEnds(t *testing.T) {
	s := newStage(t, "", dialogue.HookOn(protocol.ToolCallStart, func(ctx context.Context, _ *protocol.Event) (protocol.Reply, error) {
		<-ctx.Done()
		return protocol.Reply{}, ctx.Err()
	}))
	s.opens()
	s.passes(s.Client, s.ToServer, promptLine("1", "go"))
	s.Say(s.Server, permissionLine("1", "c", "execute", `{"command":"ls"}`))
	began := time.Now()
	s.Client.Close()
	s.Read(s.ToServer, "EOF")
	go func() {
		for s.Next(s.ToClient) != "EOF" {
		}
	}()
	if err := <-s.Done; err != nil || time.Since(began) > 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	s.Done <- nil
	<-s.Exited
}

// A person reads what became of a hook that could not be asked, and what to do about it. The agent
// does not: it reads the reason alone.
func TestAFailedHookIsExplainedToThePerson(t *testing.T) {
	failing := dialogue.HookOn(protocol.ToolCallStart, func(context.Context, *protocol.Event) (protocol.Reply, error) {
		return protocol.Reply{}, &protocol.Failure{Kind: protocol.FailUntrusted, Detail: "nobody allowed it yet", Remedy: "allow it with: hookd trust"}
	})
	s := newStage(t, "", failing)
	s.opens()
	s.passes(s.Client, s.ToServer, promptLine("1", "go"))
	s.Say(s.Server, permissionLine("100", "c", "execute", `{"command":"ls"}`))
	if got := s.Next(s.ToServer); strings.Contains(got, "hookd trust") || !strings.Contains(got, "(untrusted)") {
		t.Error(got)
	}
	s.Has(s.ToClient, "the check h could not be made (untrusted): nobody allowed it yet (allow it with: hookd trust)")
}
