package acpproxy

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/dialogue"
)

func permissionLine(id, call, kind, input string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"session/request_permission","params":{"sessionId":"s1","options":[{"optionId":"always","name":"A","kind":"allow_always"},{"optionId":"yes","name":"Y","kind":"allow_once"},{"optionId":"cancel","name":"N","kind":"reject_once"}],"toolCall":{"toolCallId":"` + call + `","kind":"` + kind + `","title":"t","rawInput":` + input + `}}}`
}

// A refused prompt never reaches the agent, and the client shows who refused it and why.
func TestRefusedPrompt(t *testing.T) {
	for name, reply := range map[string]protocol.Reply{
		"block": protocol.BlockReply("not that"), "stop": protocol.StopReply("not that"), "ask": protocol.AskReply("not that"),
	} {
		s := newStage(t, "", says(protocol.PromptSubmit, reply))
		s.opens()
		s.Say(s.Client, promptLine("1", "go"))
		s.Has(s.ToClient, `"sessionUpdate":"agent_message_chunk"`, "hookd: the hook h refused this prompt: ", "not that")
		s.Read(s.ToClient, endLine("1", "refusal"))
		s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","id":1,"method":"session/list"}`) // the first that the agent reads
		s.eventually("prompt-submit go "+name, "agent-error ")
	}
}

// A prompt that hooks and the agent could read in two ways is refused.
func TestPromptsThatReadTwoWays(t *testing.T) {
	s := newStage(t, "")
	s.opens()
	for _, params := range []string{
		`{"sessionId":"s1","prompt":[{"type":"text","text":"a","Text":"b"}]}`,
		`{"sessionId":"s1","prompt":[{"type":"text","text":"a","text":"b"}]}`,
		`{"sessionId":"s1","prompt":[{"type":"text","text":["a"]}]}`,
		`{"sessionId":"s1","prompt":[],"Prompt":[{"type":"text","text":"b"}]}`,
		`{"sessionId":"s1","prompt":"b"}`,
		`{"sessionId":7,"prompt":[]}`,
	} {
		s.Say(s.Client, `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":`+params+`}`)
		s.Has(s.ToClient, `"id":1,"error":{"code":-32602`)
	}
	s.Say(s.Client, `{"jsonrpc":"2.0","method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}`) // nobody would read its answer
	s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","id":1,"method":"session/list"}`)
}

// A changed prompt has the new text in place of the old ones; what is no text keeps its bytes.
// Text of hooks for the model is added, that from the start of the session once.
func TestChangedPrompt(t *testing.T) {
	change := dialogue.HookOn(protocol.PromptSubmit, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		reply, err := protocol.ModifyData(ev, func(data *protocol.PromptSubmitData) error {
			if data.Prompt != "one\n\ntwo" || len(data.Attachments) != 2 || data.Attachments[1].Text != "file" {
				return fmt.Errorf("%+v", data)
			}
			data.Prompt = "new"
			return nil
		})
		reply.Context = "more"
		return reply, err
	})
	start := says(protocol.SessionStart, protocol.Reply{Context: "start"})
	start.Name = "s"
	s := newStage(t, "", change, start)
	s.opens()
	blocks := func(a, b, c string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[` + a + `{"type":"resource_link","uri":"file:///x" , "n":1.0}` + b + `,{"type":"resource","resource":{"text":"file","uri":"u"}}` + c + `]}}`
	}
	for _, began := range []string{`,{"type":"text","text":"[context from hook s]\nstart"}`, ""} {
		s.Say(s.Client, blocks(`{"type":"text","n":1.0,"text":"one"},`, `,{"type":"text","text":"two"}`, ""))
		s.Read(s.ToServer, blocks(`{"type":"text","n":1.0,"text":"new"},`, "", began+`,{"type":"text","text":"[context from hook h]\nmore"}`))
		s.passes(s.Server, s.ToClient, endLine("1", "end_turn"))
	}
}

// A permission that hooks refuse is answered with an option of a kind that rejects, whatever
// its id is; one that they leave open is put to the person.
func TestPermissions(t *testing.T) {
	start := dialogue.HookOn(protocol.ToolCallStart, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		args, err := protocol.ReadArgs[struct {
			Command string `json:"command"`
		}](ev)
		switch args.Command {
		case "block":
			return protocol.BlockReply("no"), err
		case "fail":
			return protocol.Reply{}, context.DeadlineExceeded
		case "replace":
			return protocol.ResultReply(protocol.Result{Content: protocol.TextContent("mine")})
		case "change":
			return protocol.ModifyArgs(ev, func(args *struct {
				Command string `json:"command"`
			}) error {
				args.Command = "ls"
				return nil
			})
		case "ask":
			return protocol.AskReply("really?"), err
		}
		return protocol.Reply{}, err
	})
	ask := dialogue.HookOn(protocol.PermissionRequest, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		data, err := protocol.ReadData[protocol.PermissionRequestData](ev)
		if jsonspan.Text(jsonspan.Get(data.Args, "command")) == "deny" {
			return protocol.BlockReply("never"), err
		}
		return protocol.Reply{}, err
	})
	ask.Name = "p"
	s := newStage(t, "", start, ask)
	s.opens()
	s.passes(s.Client, s.ToServer, promptLine("1", "go"))
	for i, command := range []string{"block", "fail", "replace", "change", "deny"} {
		id := fmt.Sprint(100 + i)
		s.Say(s.Server, permissionLine(id, "c"+id, "execute", `{"command":"`+command+`"}`))
		s.Has(s.ToServer, `{"jsonrpc":"2.0","id":`+id+`,"result":{"outcome":{"outcome":"selected","optionId":"cancel","_meta":{"hookd":{"by":"`)
		s.Has(s.ToClient, `"sessionUpdate":"agent_message_chunk"`, "refused the call of bash")
		s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"tool_call_update","toolCallId":"c`+id+`","status":"failed"}`))
	}
	for _, command := range []string{"ls", "ask"} {
		s.passes(s.Server, s.ToClient, permissionLine("1", "c1", "execute", `{"command":"`+command+`"}`))
		s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`)
	}
	s.Say(s.Server, strings.NewReplacer(`"kind":"reject_once"`, `"kind":"other"`).Replace(permissionLine("2", "c2", "execute", `{"command":"block"}`)))
	s.Read(s.ToServer, `{"jsonrpc":"2.0","id":2,"result":{"outcome":{"outcome":"cancelled"}}}`)
	s.Next(s.ToClient)
	s.noted("offers no option to reject it")
	s.Say(s.Server, strings.Replace(permissionLine("3", "c3", "execute", `{"command":"x"}`), `"toolCall"`, `"ToolCall":{},"toolCall"`, 1))
	s.Has(s.ToServer, `"id":3,"error"`, "which some programs take for toolCall")
	// nobody answers for the person before the person was asked
	s.Say(s.Client, `{"jsonrpc":"2.0","id":9,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`)
	s.noted("an answer of the editor to a request that it has not got")
	s.eventually("tool-call-start bash block", "tool-call-error bash", "permission-request bash block")
}

// Hooks of the user may grant a permission, once; those of a project speak for nobody.
func TestGrantedPermissions(t *testing.T) {
	for layer, grants := range map[protocol.Layer]bool{protocol.User: true, protocol.Project: false} {
		hook := says(protocol.PermissionRequest, protocol.Reply{Action: protocol.Allow})
		hook.Layer = layer
		s := newStage(t, "", hook)
		s.opens()
		line := permissionLine("1", "c", "execute", `{"command":"ls"}`)
		s.Say(s.Server, line)
		if grants {
			s.Read(s.ToServer, `{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`)
			continue
		}
		s.Read(s.ToClient, line)
	}
}

// A call that the agent runs without asking is seen, and if hooks refuse it its turn ends.
func TestCallsWithoutAsking(t *testing.T) {
	s := newStage(t, "", dialogue.HookOn(protocol.ToolCallStart, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		if strings.Contains(string(ev.Data), "rm") {
			return protocol.BlockReply("no"), nil
		}
		return protocol.Reply{}, nil
	}))
	s.opens()
	s.passes(s.Client, s.ToServer, promptLine("1", "go"))
	s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"tool_call","toolCallId":"a","kind":"execute","status":"pending","rawInput":{"command":"ls"}}`))
	s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed","rawOutput":"out"}`))
	s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"tool_call","toolCallId":"f","kind":"execute","status":"failed","rawInput":{"command":"rm"}}`))
	s.eventually("tool-call-start bash observe", "tool-call-end bash observe", "tool-call-start bash block", "tool-call-error bash observe")
	s.noted("lost: the hook h refuses a call that the agent began without asking and that has failed") // nothing is cancelled
	s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"tool_call","toolCallId":"b","kind":"execute","status":"in_progress","rawInput":{"command":"rm"}}`))
	s.Has(s.ToClient, "does not let the call of bash be", "the turn was cancelled")
	s.Read(s.ToServer, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
	s.passes(s.Server, s.ToClient, endLine("1", "cancelled"))
	s.noted("lost: the hook h refuses a call that the agent began without asking: it may have been done; the turn is cancelled")
	s.eventually("agent-end aborted")
}

// What hooks read of a call has our names, whatever the agent calls it.
func TestNamesOfCalls(t *testing.T) {
	for name, test := range map[string]struct{ agent, update, want string }{
		"claude":          {"@zed-industries/claude-code-acp", `"_meta":{"claudeCode":{"toolName":"Write"}},"kind":"edit","rawInput":{"file_path":"/a","content":"x"}`, `write_file write {"path":"/a","content":"x"} Write`},
		"an id of gemini": {"gemini-cli", `"toolCallId":"run_shell_command__1","kind":"execute","title":"rm -f x","content":[]`, `bash shell {"command":"rm -f x"} `},
		"a new file":      {"gemini-cli", `"toolCallId":"write_file__1","kind":"edit","content":[{"type":"diff","path":"/a","oldText":"","newText":"x"}],"locations":[{"path":"/a"}]`, `write_file write {"path":"/a","content":"x"} `},
		"a change":        {"x", `"kind":"edit","content":[{"type":"diff","path":"/a","oldText":"o","newText":"n"}]`, `edit_file write {"path":"/a","oldText":"o","newText":"n"} `},
		"a whole file":    {"x", `"kind":"edit","rawInput":{"path":"/a","content":"x"}`, `write_file write {"path":"/a","content":"x"} `},
		"words":           {"codex-acp", `"kind":"execute","rawInput":{"command":["bash","-lc","ls -l"]}`, `bash shell {"command":"ls -l"} `},
		"a named tool":    {"x", `"name":"deploy","kind":"other","rawInput":{"to":"prod"}`, `deploy other {"to":"prod"} `},
		"of a server":     {"claude", `"_meta":{"claudeCode":{"toolName":"mcp__files__read"}},"kind":"other","rawInput":{}`, `mcp__files__read mcp {} `},
		"a server's name": {"gemini-cli", `"toolCallId":"read_file__drop-1","kind":"other","title":"drop","content":[]`, `tool other {"title":"drop"} `},
		"another kind":    {"gemini-cli", `"toolCallId":"read_file__rm-1","kind":"execute","title":"rm","content":[]`, `bash shell {"command":"rm"} `},
		"only a title":    {"x", `"kind":"fetch","title":"Fetch http://x"`, `web_fetch net {"title":"Fetch http://x"} `},
		"several files":   {"x", `"kind":"read","locations":[{"path":"/a"},{"path":"/b"}]`, `read_file read {"paths":["/a","/b"]} `},
		"no name at all":  {"x", `"title":"hm","rawInput":"text"`, `tool other {"input":"text"} `},
	} {
		c := &shown{}
		vocabulary := ""
		for _, agent := range agents {
			if strings.Contains(test.agent, agent) {
				vocabulary = agent
			}
		}
		update := []byte("{" + test.update + "}")
		c.merge(update, vocabulary)
		call, err := c.call(jsonspan.Text(jsonspan.Get(update, "toolCallId")))
		if got := fmt.Sprintf("%s %s %s %s", call.Name, call.Kind, call.Args, call.HostTool); err != nil || got != test.want {
			t.Errorf("%s: %v\n got  %s\n want %s", name, err, got, test.want)
		}
	}
}

// What the agent has the client do is judged as calls of our tools, with their results.
func TestFilesAndCommandsOfTheClient(t *testing.T) {
	start := dialogue.HookOn(protocol.ToolCallStart, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		data, err := protocol.ReadData[protocol.ToolCallStartData](ev)
		args := string(data.Args)
		switch {
		case strings.Contains(args, "secret"):
			return protocol.BlockReply("no " + data.Name), err
		case strings.Contains(args, "why"):
			return protocol.AskReply("sure?"), err
		case strings.Contains(args, "/old"):
			return protocol.Reply{Action: protocol.Modify, Changes: []byte(`{"args":{"path":"/new"}}`)}, err
		case strings.Contains(args, "npm i"):
			return protocol.Reply{Action: protocol.Modify, Changes: []byte(`{"args":{"command":"npm ci --x 'a b'"}}`)}, err
		}
		return protocol.Reply{}, err
	})
	end := dialogue.HookOn(protocol.ToolCallEnd, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		switch result := string(ev.Data); {
		case strings.Contains(result, "password"):
			return protocol.BlockReply("it has a password"), nil
		case strings.Contains(result, "token"):
			return protocol.Reply{Action: protocol.Modify, Changes: []byte(`{"result":{"content":[{"type":"text","text":"***"}]}}`)}, nil
		}
		return protocol.Reply{}, nil
	})
	end.Name = "e"
	s := newStage(t, "", start, end)
	s.opens()
	request := func(id, method, rest string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{"sessionId":"s1",` + rest + `}}`
	}
	for method, rest := range map[string]string{"fs/read_text_file": `"path":"/secret"`, "fs/write_text_file": `"path":"/x","content":"secret"`, "terminal/create": `"command":"cat","args":["secret"]`} {
		s.Say(s.Server, request("1", method, rest))
		s.Has(s.ToServer, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"hookd: no `)
		s.Has(s.ToClient, "the hook h refused the call of")
	}
	s.Say(s.Server, request("1", "fs/read_text_file", `"path":"/old" , "line":2`))
	s.Read(s.ToClient, request("1", "fs/read_text_file", `"path":"/new" , "line":2`))
	s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","id":1,"result":{"content":"plain","n":1.0}}`)
	for text, want := range map[string]string{"a token": `"result":{"content":"***"}`, "a password": `"error":{"code":-32603,"message":"hookd: it has a password"}`} {
		s.passes(s.Server, s.ToClient, request("1", "fs/read_text_file", `"path":"/x"`))
		s.Say(s.Client, `{"jsonrpc":"2.0","id":1,"result":{"content":"`+text+`"}}`)
		s.Read(s.ToServer, `{"jsonrpc":"2.0","id":1,`+want+`}`)
	}
	s.Say(s.Server, request("1", "terminal/create", `"command":"npm","args":["i"]`))
	s.Read(s.ToClient, request("1", "terminal/create", `"command":"bash","args":["-lc","npm ci --x 'a b'"]`))
	s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","id":1,"result":{"terminalId":"t"}}`)
	output := `"terminalId":"t"`
	s.passes(s.Server, s.ToClient, request("2", "terminal/output", output))
	s.Say(s.Client, `{"jsonrpc":"2.0","id":2,"result":{"output":"a token","truncated":false}}`) // it may not be read yet
	s.Read(s.ToServer, `{"jsonrpc":"2.0","id":2,"result":{"output":"","truncated":false}}`)
	for range 2 {
		s.passes(s.Server, s.ToClient, request("2", "terminal/output", output))
		s.Say(s.Client, `{"jsonrpc":"2.0","id":2,"result":{"output":"a token","truncated":false,"exitStatus":{"exitCode":0}}}`)
		s.Read(s.ToServer, `{"jsonrpc":"2.0","id":2,"result":{"output":"***","truncated":false,"exitStatus":{"exitCode":0}}}`)
	}
	s.passes(s.Server, s.ToClient, request("2", "terminal/release", output))
	// the person is asked about what a hook wants a person to decide
	for answer, passes := range map[string]bool{"allow": true, "reject": false} {
		s.Say(s.Server, request("3", "fs/write_text_file", `"path":"/why","content":""`))
		asked := s.Has(s.ToClient, `"id":"hookd-`, `"method":"session/request_permission"`, `"title":"write_file /why","kind":"edit"`, `the hook h asks before write_file runs: sure?`)
		id := string(jsonspan.Get([]byte(asked), "id"))
		s.Say(s.Client, `{"jsonrpc":"2.0","id":`+id+`,"result":{"outcome":{"outcome":"selected","optionId":"`+answer+`"}}}`)
		if passes {
			s.Read(s.ToClient, request("3", "fs/write_text_file", `"path":"/why","content":""`))
			s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","id":3,"result":{}}`)
			continue
		}
		s.Has(s.ToServer, `"id":3,"error"`, "the person did not allow it")
		s.Next(s.ToClient)
	}
}

// Hooks may have a turn go on: the agent gets another prompt, and the client one answer.
func TestTurnsThatGoOn(t *testing.T) {
	s := newStage(t, "", dialogue.HookOn(protocol.AgentStop, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		data, err := protocol.ReadData[protocol.AgentStopData](ev)
		if data.Continued < 1 {
			return protocol.BlockReply("run the tests after " + data.Response), err
		}
		return protocol.Reply{}, err
	}))
	s.opens()
	s.passes(s.Client, s.ToServer, promptLine("7", "go"))
	s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"words"}}`))
	s.Say(s.Server, endLine("7", "end_turn"))
	s.Has(s.ToClient, "the hook h has the agent go on: run the tests after words")
	s.Has(s.ToServer, `"id":"hookd-1","method":"session/prompt"`, `"text":"run the tests after words"`)
	s.Say(s.Server, endLine("7", "end_turn")) // once more, and nobody waits for it
	s.noted("to a request that it has not got")
	s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","method":"session/set_title","params":{"sessionId":"s1"}}`)
	s.Say(s.Client, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}`)
	s.Read(s.ToServer, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"hookd-1"}}`)
	s.Say(s.Server, `{"jsonrpc":"2.0","id":"hookd-1","result":{"stopReason":"end_turn","usage":{"n":1.0}}}`)
	s.Read(s.ToClient, `{"jsonrpc":"2.0","id":7,"result":{"stopReason":"end_turn","usage":{"n":1.0}}}`)
	s.eventually("agent-stop done continue", "agent-end done")
}

// A cancel right after a prompt is never lost, and never comes before it.
func TestCancelledPrompts(t *testing.T) {
	asked := make(chan struct{}, 8)
	s := newStage(t, "", dialogue.HookOn(protocol.PromptSubmit, func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
		select {
		case asked <- struct{}{}:
		default:
		}
		if strings.Contains(string(ev.Data), "slow") {
			<-ctx.Done()
			return protocol.Reply{}, ctx.Err()
		}
		return protocol.Reply{}, nil
	}))
	s.opens()
	cancel := `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`
	began := time.Now()
	s.Say(s.Client, promptLine("1", "slow"))
	<-asked
	s.Say(s.Client, cancel)
	s.Read(s.ToClient, endLine("1", "cancelled"))
	s.Say(s.Client, promptLine("2", "slow"))
	<-asked
	s.Say(s.Client, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}`)
	s.Read(s.ToClient, endLine("2", "cancelled"))
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v", took)
	}
	for id := 3; id < 30; id++ { // at whatever moment it comes, it ends the turn
		text := fmt.Sprint(id)
		s.Say(s.Client, promptLine(text, "fast")+"\n"+cancel+"\n"+`{"jsonrpc":"2.0","id":"after`+text+`","method":"session/list","params":{"sessionId":"s1"}}`)
		switch got := s.Next(s.ToServer); got {
		case promptLine(text, "fast"):
			s.Read(s.ToServer, cancel)
			s.Has(s.ToServer, `"after`)
			s.Say(s.Server, endLine(text, "cancelled"))
		default:
			if !strings.Contains(got, `"after`) {
				t.Fatal(got)
			}
		}
		s.Read(s.ToClient, endLine(text, "cancelled"))
	}
}
