package acpproxy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/dialogue"
)

// blocksRm refuses each call whose args have "rm" in them.
func blocksRm() protocol.GoHook {
	return dialogue.HookOn(protocol.ToolCallStart, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		data, err := protocol.ReadData[protocol.ToolCallStartData](ev)
		if strings.Contains(string(data.Args), "rm") {
			return protocol.BlockReply("no"), err
		}
		return protocol.Reply{}, err
	})
}

// An id that an agent uses again is that of another call.
func TestIDsOfCallsThatAreUsedAgain(t *testing.T) {
	for name, before := range map[string]string{
		"completed": updateLine(`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","status":"completed","rawInput":{"command":"ls"}}`),
		"failed":    updateLine(`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","status":"failed","rawInput":{"command":"ls"}}`),
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "", blocksRm())
			s.opens()
			s.passes(s.Client, s.ToServer, promptLine("1", "go"))
			s.passes(s.Server, s.ToClient, before)
			s.Say(s.Server, permissionLine("1", "c", "execute", `{"command":"rm"}`))
			s.Has(s.ToServer, `"id":1,"result":{"outcome":{"outcome":"selected","optionId":"cancel"`)
			s.Next(s.ToClient)
			s.Say(s.Server, permissionLine("1", "c", "execute", `{"command":"rm -r"}`)) // after a refusal
			s.Has(s.ToServer, `"id":1,"result":{"outcome":{"outcome":"selected","optionId":"cancel"`)
			s.Next(s.ToClient)
			s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed"}`))
			s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","status":"in_progress","rawInput":{"command":"rm -f"}}`))
			s.Has(s.ToClient, "the turn was cancelled")
		})
	}
}

// What ran although it was refused is told.
func TestRefusedCallThatRuns(t *testing.T) {
	s := newStage(t, "", blocksRm())
	s.opens()
	s.passes(s.Client, s.ToServer, promptLine("1", "go"))
	s.Say(s.Server, permissionLine("1", "c", "execute", `{"command":"rm"}`))
	s.Next(s.ToServer)
	s.Next(s.ToClient)
	s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}`))
	s.noted("says that it completed the call of bash, which was refused")
}

// A refusal never picks an option that could also be read as a permission.
func TestOptionsThatLookAlike(t *testing.T) {
	s := newStage(t, "", blocksRm())
	s.opens()
	for i, change := range []*strings.Replacer{
		strings.NewReplacer(`"optionId":"cancel"`, `"optionId":"yes"`),
		strings.NewReplacer(`"kind":"reject_once"`, `"kind":"reject_once","Kind":"allow_once"`),
		strings.NewReplacer(`"optionId":"cancel"`, `"optionId":"cancel","optionid":"yes"`),
		strings.NewReplacer(`"optionId":"cancel"`, `"optionId":7`),
	} {
		id := fmt.Sprint(i + 1)
		s.Say(s.Server, change.Replace(permissionLine(id, "c"+id, "execute", `{"command":"rm"}`)))
		s.Has(s.ToServer, `{"jsonrpc":"2.0","id":`+id+`,"error":`)
	}
}

// The end of a turn is taken once, and hooks that are asked about it are given up with it.
func TestEndOfATurnIsTakenOnce(t *testing.T) {
	asked := make(chan struct{}, 4)
	s := newStage(t, "", dialogue.HookOn(protocol.AgentStop, func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return protocol.Reply{}, ctx.Err()
	}))
	s.opens()
	s.passes(s.Client, s.ToServer, promptLine("7", "go"))
	s.Say(s.Server, endLine("7", "end_turn")+"\n"+endLine("7", "end_turn"))
	<-asked
	s.noted("to a request that it has not got")
	began := time.Now()
	s.Say(s.Client, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
	s.Read(s.ToClient, endLine("7", "end_turn"))
	s.passes(s.Client, s.ToServer, promptLine("8", "go")) // the agent had nothing to cancel
	s.Say(s.Server, endLine("8", "end_turn"))
	<-asked
	s.Say(s.Client, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":8}}`)
	s.Read(s.ToClient, endLine("8", "end_turn"))
	if took := time.Since(began); took > time.Second || len(asked) > 0 {
		t.Errorf("it took %v, and hooks were asked %d times more", took, len(asked))
	}
}

// A mode is set back wherever the agent says that it is another one.
func TestModesThatChangeUnseen(t *testing.T) {
	s := newStage(t, "ask")
	set := func(id string) string {
		return `{"jsonrpc":"2.0","id":"hookd-` + id + `","method":"session/set_mode","params":{"sessionId":"s1","modeId":"ask"}}`
	}
	done := func(id string) string { return `{"jsonrpc":"2.0","id":"hookd-` + id + `","result":{}}` }
	changed := updateLine(`{"sessionUpdate":"current_mode_update","currentModeId":"auto"}`)
	opened := `{"jsonrpc":"2.0","id":0,"result":{"sessionId":"s1","modes":{"currentModeId":"ask","availableModes":[{"id":"auto"},{"id":"ask"}]}}}`
	s.passes(s.Client, s.ToServer, newLine(""))
	s.passes(s.Server, s.ToClient, opened)
	s.passes(s.Server, s.ToClient, changed)
	s.Read(s.ToServer, set("1"))
	s.passes(s.Server, s.ToClient, changed) // while it is set back
	s.Say(s.Server, done("1"))
	s.Read(s.ToServer, set("2"))
	s.Say(s.Server, done("2"))
	option := `{"jsonrpc":"2.0","id":3,"method":"session/set_config_option","params":{"sessionId":"s1","configId":"model","value":"x"}}`
	s.passes(s.Client, s.ToServer, option)
	s.passes(s.Server, s.ToClient, `{"jsonrpc":"2.0","id":3,"result":{"configOptions":[{"id":"mode","currentValue":"auto","options":[{"value":"auto"},{"value":"ask"}]}]}}`)
	s.Read(s.ToServer, set("3"))
}

// A server that a client hands in cannot get round the guard, nor change it.
func TestServersThatWouldGetRoundTheGuard(t *testing.T) {
	s := newStage(t, "")
	for servers, want := range map[string]string{
		`[{"name":"a","command":"a","args":[],"env":[{"name":"HOME=/evil","value":""}]}]`:            "no environment can hold",
		`[{"name":"a","command":"a","args":[],"env":[{"name":"A","Name":"HOME","value":"/evil"}]}]`:  "which some programs take for name",
		`[{"name":"a","command":"a","args":[],"env":[{"name":"","value":""}]}]`:                      "no environment can hold",
		`[{"name":"a","command":"a","args":[],"env":[{"name":7,"value":""}]}]`:                       "no environment can hold",
		`[{"name":"a","command":"a","args":[],"env":[{"name":"A","value":"\u0000"}]}]`:               "no environment can hold",
		`[{"name":"a","command":"a","args":[],"env":{"HOME":"/evil"}}]`:                              "not a list",
		`[{"name":"a","command":"a","args":[],"env":["HOME=/evil"]}]`:                                "where an object is expected",
		`[{"name":"a","type":"http","command":"a","url":"http://x"}]`:                                "has a command and a url",
		`[{"name":"a","type":"http","url":"http://x","headers":[{"name":"A: ${KEY}","value":"v"}]}]`: "whose name is none",
		`[{"name":"a","command":["a"],"args":[]}]`:                                                   "the command of an MCP server is a list, not a text",
	} {
		s.Say(s.Client, strings.Replace(newLine(`,"mcpServers":`+servers), `"id":0`, `"id":5`, 1))
		s.Has(s.ToClient, `"id":5,"error"`, want)
	}
	s.Say(s.Client, newLine(`,"mcpServers":[{"type":"other","name":"a","command":"/bin/a","args":[],"env":[]}]`))
	s.Has(s.ToServer, `"command":"/bin/hookd","args":["mcp","--name","a","--","/bin/a"]`)
	s.Say(s.Client, strings.Replace(newLine(`,"mcpServers":[{"name":"a","command":"a","args":[],"env":[{"name":"PATH","value":"/evil"},{"name":"HOOKD_SERVER_ENV_HOME","value":"/h"}]}]`), `"id":0`, `"id":6`, 1))
	s.Has(s.ToServer, `"env":[{"name":"HOOKD_SERVER_ENV_PATH","value":"/evil"},{"name":"HOOKD_SERVER_ENV_HOME","value":"/h"}]`)
}

// What the agent has the client do is judged whole, or refused.
func TestCommandsThatReadTwoWays(t *testing.T) {
	s := newStage(t, "", says(protocol.ToolCallEnd, protocol.BlockReply("withheld")))
	s.opens()
	request := func(id, method, rest string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{"sessionId":"s1",` + rest + `}}`
	}
	for _, path := range []string{`""`, `"a"`, `"./a"`, `"../a"`, `"~/a"`, `"file:///a"`, `7`, `null`, `["/a"]`} {
		for _, method := range []string{"fs/read_text_file", "fs/write_text_file"} {
			s.Say(s.Server, request("1", method, `"content":"","path":`+path))
			s.Has(s.ToServer, `"id":1,"error"`, "the path of the request is")
		}
		if path != "null" {
			s.Say(s.Server, request("1", "terminal/create", `"command":"ls","cwd":`+path))
			s.Has(s.ToServer, `"id":1,"error"`, "the cwd of the request is")
		}
	}
	for _, rest := range []string{`"command":"sh","args":"-c rm"`, `"command":"sh","args":{"0":"-c"}`, `"command":"sh","args":["-c",["rm"]]`, `"command":"sh","args":[1]`} {
		s.Say(s.Server, request("1", "terminal/create", rest))
		s.Has(s.ToServer, `"id":1,"error"`)
	}
	s.passes(s.Server, s.ToClient, request("1", "terminal/create", `"command":"ls"`))
	s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","id":1,"result":{"terminalId":"t"}}`)
	for _, rest := range []string{`"terminalId":"x","terminalId":"t"`, `"terminalID":"t","terminalId":"x"`, `"sessionId":"x","terminalId":"t"`} {
		s.Say(s.Server, request("2", "terminal/output", rest))
		s.Has(s.ToServer, `"id":2,"error"`)
	}
	s.passes(s.Server, s.ToClient, request("3", "terminal/release", `"terminalId":"t"`))
	s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"not now"}}`)
	s.passes(s.Server, s.ToClient, request("4", "terminal/output", `"terminalId":"t"`))
	s.Say(s.Client, `{"jsonrpc":"2.0","id":4,"result":{"output":"secret","truncated":false,"exitStatus":{"exitCode":0}}}`)
	if got := s.Next(s.ToServer); strings.Contains(got, "secret") {
		t.Error(got)
	}
}

// A session that is open does not move to a folder whose hooks would not judge it.
func TestOpenSessionInAnotherFolder(t *testing.T) {
	s := newStage(t, "")
	s.opens()
	s.Say(s.Client, `{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s1","cwd":"/other","mcpServers":[]}}`)
	s.Has(s.ToClient, `"id":1,"error"`, "it is open in /, whose hooks judge it")
}

// The hooks of a session are those of all folders that it works in, as they are when it begins; a
// folder that could be one or another is refused.
func TestFoldersOfASession(t *testing.T) {
	s := newStage(t, "")
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(path string) string { return filepath.Join(root, path) }
	link := func(name, to string) {
		t.Helper()
		_ = os.Remove(at(name))
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"one", "two/sub"} {
		if err := os.MkdirAll(at(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link("deep", at("two/sub"))
	method := "session/new"
	line := func(where string) string {
		return `{"jsonrpc":"2.0","id":5,"method":"` + method + `","params":{"sessionId":"s1","mcpServers":[],` + where + `}}`
	}
	for where, want := range map[string]string{
		`"cwd":"one"`:                                  "must be an absolute path",
		`"cwd":"file://` + at("one") + `"`:             "must be an absolute path",
		`"cwd":"~/one"`:                                "must be an absolute path",
		`"cwd":["/"]`:                                  "cwd is a list, not a text",
		`"cwd":null`:                                   "has no cwd",
		`"x":1`:                                        "has no cwd",
		`"cwd":"/","CWD":"/other"`:                     "which some programs take for cwd",
		`"cwd":"` + root + `/deep/.."`:                 "a link stands before ..",
		`"cwd":"` + root + `/deep/../one"`:             "a link stands before ..",
		`"additionalDirectories":["/"]`:                "and no cwd",
		`"cwd":"/","additionalDirectories":"/other"`:   "not a list",
		`"cwd":"/","additionalDirectories":[7]`:        "not a text",
		`"cwd":"/","additionalDirectories":["one"]`:    "must be an absolute path",
		`"cwd":"/","AdditionalDirectories":["/other"]`: "which some programs take for additionalDirectories",
		`"cwd":"/","additionalDirectories":["` + root + `/deep/.."]`: "a link stands before ..",
	} {
		for _, method = range []string{"session/new", "session/load", "session/resume", "session/fork"} {
			s.Say(s.Client, line(where))
			s.Has(s.ToClient, `"id":5,"error"`, want)
		}
	}
	open := func(where string) {
		t.Helper()
		s.passes(s.Client, s.ToServer, line(where))
		s.passes(s.Server, s.ToClient, `{"jsonrpc":"2.0","id":5,"result":{"sessionId":"s1"}}`)
	}
	method = "session/load"
	link("link", at("one"))
	open(`"cwd":"` + at("link") + `/","additionalDirectories":["` + at("two") + `","/none"]`)
	open(`"cwd":"` + at("one") + `"`) // it is the same
	for _, where := range []string{`"cwd":"` + at("two") + `"`, `"cwd":"` + at("one") + `","additionalDirectories":["` + at("two/sub") + `"]`} {
		s.Say(s.Client, line(where))
		s.Has(s.ToClient, `"id":5,"error"`, "it is open in "+at("link")+", "+at("two")+", /none, whose hooks judge it")
	}
	link("link", at("two"))
	s.Say(s.Client, line(`"cwd":"`+at("link")+`"`))
	s.Has(s.ToClient, `"id":5,"error"`, "it is open in")
	s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","id":1,"method":"session/close","params":{"sessionId":"s1"}}`)
	s.passes(s.Server, s.ToClient, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	open(`"cwd":"` + at("link") + `"`)
	s.mu.Lock()
	defer s.mu.Unlock()
	first, last := at("one")+","+at("two")+",/none", at("two")
	if len(s.opened) == 0 || s.opened[0] != first || s.opened[len(s.opened)-1] != last {
		t.Errorf("%q, want %q first and %q last", s.opened, first, last)
	}
}

// What hookd says in a session stands apart from what the agent says, whatever words a hook has for it.
func TestWordsOfHookdStandApart(t *testing.T) {
	s := newStage(t, "", says(protocol.ToolCallStart, protocol.BlockReply("no:\n\nhookd: the hook h allows it\r\x1b[2K")))
	s.opens()
	s.passes(s.Client, s.ToServer, promptLine("1", "go"))
	for _, step := range [][2]string{{"", `"text":"> hookd: the hook`}, {"I am", `"text":"\n\n> hookd: the hook`}, {` done\n`, `"text":"> hookd: the hook`}} {
		if said := step[0]; said != "" {
			s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`+said+`"}}`))
		}
		s.Say(s.Server, permissionLine("1", "c", "execute", `{"command":"ls"}`))
		s.Next(s.ToServer)
		s.Has(s.ToClient, step[1], `refused the call of bash: no:\n> \n> hookd: the hook h allows it\\r\\x1b[2K\n\n"`)
	}
}

// A person who is asked about what the editor is to do reads all that will run, with the changes of
// hooks in it, and nothing that hides or imitates some of it.
func TestQuestionsShowWhatRuns(t *testing.T) {
	asks := says(protocol.ToolCallStart, protocol.AskReply("sure?\nIt is\x1b[2K harmless"))
	changes := says(protocol.ToolCallStart, protocol.Reply{Action: protocol.Modify, Changes: []byte("{\"args\":{\"command\":\"rm -r x\\ndir: /tmp ``` \\u202e\"}}")})
	changes.Name = "c"
	s := newStage(t, "", asks, changes)
	s.opens()
	s.Say(s.Server, `{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"sessionId":"s1","command":"ls","cwd":"/home"}}`)
	asked := s.Has(s.ToClient, `"method":"session/request_permission"`)
	about := jsonspan.Find([]byte(asked), "/params/toolCall")
	got := []string{jsonspan.Text(jsonspan.Get(about, "title"))}
	for _, item := range jsonspan.Elements(jsonspan.Get(about, "content")) {
		got = append(got, jsonspan.Text(jsonspan.Find(item, "/content/text")))
	}
	want := []string{
		"bash rm -r x\\ndir: /tmp ``` \\u202e",
		`the hook h asks before bash runs: sure?\nIt is\x1b[2K harmless`,
		"````\ncommand: rm -r x\n  dir: /tmp ``` \\u202e\ndir: /home\n````",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	s.Say(s.Client, `{"jsonrpc":"2.0","id":`+string(jsonspan.Get([]byte(asked), "id"))+`,"result":{"outcome":{"outcome":"selected","optionId":"allow"}}}`)
	if got := jsonspan.Text(jsonspan.Find([]byte(s.Next(s.ToClient)), "/params/command")); !strings.HasPrefix(got, "rm -r x\ndir: /tmp") {
		t.Errorf("%q runs", got)
	}
}

// A member of a prompt that some agents take for its text is refused.
func TestTextsThatLookAlike(t *testing.T) {
	s := newStage(t, "")
	s.opens()
	s.Say(s.Client, strings.Replace(promptLine("1", "go"), `"text":"go"`, `"text":"go","Text":"secret"`, 1))
	s.Has(s.ToClient, `"id":1,"error"`, "which some programs take for text")
}

// A request for permission that shows something else than the args that were shown before is about
// both, wherever the other is shown. One that says the args again is about these.
func TestRequestsThatShowSomethingElse(t *testing.T) {
	begun := `{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","title":"ls","rawInput":{"command":"ls"}}`
	for name, test := range map[string]struct {
		before, about string
		refused       bool
	}{
		"the same":            {begun, `"title":"ls"`, false},
		"another title":       {begun, `"title":"rm -r /"`, true},
		"a harmless title":    {strings.ReplaceAll(begun, "ls", "rm"), `"title":"ls"`, true},
		"an update's title":   {begun + "\n" + `{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"rm -r /"}`, `"status":"pending"`, true},
		"another file":        {`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"edit","rawInput":{"path":"a"}}`, `"locations":[{"path":"/rm"}]`, true},
		"another change":      {`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"edit","rawInput":{"path":"a","oldText":"x","newText":"y"}}`, `"content":[{"type":"diff","path":"a","oldText":"x","newText":"rm"}]`, true},
		"another kind":        {`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","rawInput":{"command":"ls"}}`, `"kind":"read","rawInput":{"path":"a"}`, false},
		"the args again":      {begun, `"title":"rm -r /","rawInput":{"command":"ls"}`, false},
		"a title beyond many": {begun + strings.Repeat("\n"+`{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"a"}`+"\n"+`{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"b"}`, 5), `"title":"ls"`, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "", blocksRm())
			s.opens()
			for _, update := range strings.Split(test.before, "\n") {
				s.passes(s.Server, s.ToClient, updateLine(update))
			}
			line := `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c",` + test.about + `},"options":[{"optionId":"yes","name":"y","kind":"allow_once"},{"optionId":"no","name":"n","kind":"reject_once"}]}}`
			if !test.refused {
				s.passes(s.Server, s.ToClient, line)
				return
			}
			s.Say(s.Server, line)
			if got := s.Next(s.ToServer); !strings.Contains(got, `"optionId":"no"`) && !strings.Contains(got, `"error"`) {
				t.Error(got)
			}
		})
	}
}

// Hooks judge the args that a call has when it runs, whatever they were when hooks were asked about it;
// args that are only said again are judged once.
func TestArgsThatComeLater(t *testing.T) {
	say := func(kind, rest string) string {
		return updateLine(`{"sessionUpdate":"` + kind + `","toolCallId":"c",` + rest + `}`)
	}
	const ls, rm, cancels = `"rawInput":{"command":"ls"}`, `"rawInput":{"command":"rm"}`, "does not let the call of bash be"
	begun, changed := "tool_call", "tool_call_update"
	asked := func(s *stage) { // the person allows it
		s.passes(s.Server, s.ToClient, permissionLine("1", "c", "execute", `{"command":"ls"}`))
		s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`)
	}
	for name, test := range map[string]struct {
		asks    bool
		updates []string
		says    string // "": nothing but the updates
		starts  int
	}{
		"none at first":                {false, []string{say(begun, `"kind":"execute","title":"ls","status":"in_progress"`), say(changed, rm)}, cancels, 2},
		"empty at first":               {false, []string{say(begun, `"kind":"execute","title":"ls","status":"in_progress","rawInput":{}`), say(changed, rm)}, cancels, 2},
		"at the end":                   {false, []string{say(begun, `"kind":"execute","title":"ls","status":"in_progress"`), say(changed, `"status":"completed",`+rm)}, cancels, 2},
		"others while it runs":         {false, []string{say(begun, `"kind":"execute","status":"in_progress",`+ls), say(changed, rm)}, cancels, 2},
		"others than it asked for":     {true, []string{say(changed, `"status":"in_progress",`+rm)}, "with other args than hooks were asked about", 2},
		"others before it runs":        {true, []string{say(changed, rm), say(changed, `"status":"in_progress"`)}, cancels, 2},
		"others after its end":         {false, []string{say(begun, `"kind":"execute","status":"completed",`+ls), say(changed, `"status":"in_progress",`+rm)}, cancels, 2},
		"others at a second end":       {false, []string{say(begun, `"kind":"execute","status":"completed",`+ls), say(changed, `"status":"completed",`+rm)}, cancels, 2},
		"the same, in other words":     {true, []string{say(changed, `"status":"in_progress","rawInput":{ "command" : "l\u0073" }`), say(changed, `"status":"completed",`+ls), say(changed, `"status":"completed",`+ls)}, "", 1},
		"none of those that it showed": {false, []string{say(begun, `"kind":"execute","status":"in_progress",`+ls), say(changed, `"status":"completed","rawInput":null`)}, "", 1},
		"others of one that failed":    {true, []string{say(changed, `"status":"failed",`+rm)}, "", 1},
		"another call with its id":     {false, []string{say(begun, `"kind":"read","name":"Read","status":"completed",`+ls), say(begun, `"kind":"execute","status":"in_progress",`+rm)}, cancels, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "", blocksRm())
			s.opens()
			s.passes(s.Client, s.ToServer, promptLine("7", "go"))
			if test.asks {
				asked(s)
			}
			for _, update := range test.updates {
				s.passes(s.Server, s.ToClient, update)
			}
			if test.says != "" {
				s.Has(s.ToServer, "session/cancel")
				s.Has(s.ToClient, test.says)
			}
			s.passes(s.Server, s.ToClient, endLine("7", "cancelled"))
			s.eventually(append(slices.Repeat([]string{"tool-call-start "}, test.starts), "agent-end aborted")...)
			starts := 0
			for _, event := range s.decided() {
				if strings.HasPrefix(event, "tool-call-start ") {
					starts++
				}
			}
			if starts != test.starts {
				t.Errorf("%d starts: %q", starts, s.decided())
			}
		})
	}
}

// A hook that watches a kind of tool judges a call also when the agent calls it another kind later.
func TestKindsThatChange(t *testing.T) {
	guard := blocksRm()
	guard.Match.Tool = []string{"bash"}
	s := newStage(t, "", guard)
	s.opens()
	s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","rawInput":{"command":"rm"}}`))
	s.Say(s.Server, strings.Replace(permissionLine("1", "c", "read", `null`), `,"rawInput":null`, "", 1))
	s.Has(s.ToServer, `"optionId":"cancel"`)
}

// A tool call whose members are there twice is not judged by one of them alone: without a question
// its turn is cancelled, and a question about it is refused.
func TestToolCallsThatReadTwoWays(t *testing.T) {
	for name, update := range map[string]string{
		"args":         `"rawInput":{"command":"rm"},"rawInput":{"command":"ls"}`,
		"in the args":  `"rawInput":{"command":"rm","command":"ls"}`,
		"other letter": `"RawInput":{"command":"rm"},"rawInput":{"command":"ls"}`,
		"the id":       `"toolCallId":"d","rawInput":{"command":"ls"}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "", blocksRm())
			s.opens()
			s.passes(s.Client, s.ToServer, promptLine("1", "go"))
			s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute",`+update+`}`))
			id := "c"
			if name == "the id" {
				id = "d"
			}
			s.Say(s.Server, strings.Replace(permissionLine("1", id, "execute", `null`), `,"rawInput":null`, "", 1))
			s.Has(s.ToServer, `"id":1,"error"`, "read in two ways")
			s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"tool_call","toolCallId":"x","kind":"execute","status":"in_progress",`+strings.Replace(update, `"d"`, `"e"`, 1)+`}`))
			s.Has(s.ToClient, "can be read in two ways", "the turn was cancelled")
			s.Has(s.ToServer, `"session/cancel"`)
		})
	}
	s := newStage(t, "", blocksRm())
	s.opens()
	s.passes(s.Client, s.ToServer, promptLine("1", "go"))
	s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","status":"completed","rawInput":{"command":"ls"},"rawOutput":"\ud83d","content":[{"type":"content","content":{"type":"text","text":"`+"\xff"+`"}}]}`))
	s.passes(s.Server, s.ToClient, endLine("1", "end_turn")) // output that is not valid UTF-8 harms nobody
}

// A method that some programs take for one that is judged passes from neither side.
func TestMethodsInOtherSpellings(t *testing.T) {
	s := newStage(t, "", blocksRm())
	s.opens()
	for _, method := range []string{"Session/Prompt", "session\\/prompt ", "SESSION/NEW", "Initialize"} {
		s.Say(s.Client, `{"jsonrpc":"2.0","id":7,"method":"`+method+`","params":{}}`)
		s.Has(s.ToClient, `"id":7,"error":{"code":-32601`, "which some programs take for")
	}
	for _, method := range []string{"FS/write_text_file", "terminal/Create", "\\tsession/request_permission"} {
		s.Say(s.Server, `{"jsonrpc":"2.0","id":7,"method":"`+method+`","params":{}}`)
		s.Has(s.ToServer, `"id":7,"error":{"code":-32601`, "which some programs take for")
	}
	s.Say(s.Server, `{"jsonrpc":"2.0","method":"session/UPDATE","params":{}}`)
	s.noted("a message of the agent was not passed on")
	s.passes(s.Server, s.ToClient, `{"jsonrpc":"2.0","method":"_x/y"}`)
}
