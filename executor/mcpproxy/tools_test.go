package mcpproxy

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/rule"
	"github.com/hookd-dev/hookd/protocol"
	ruletext "github.com/hookd-dev/hookd/protocol/rule"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/dialogue"
)

// ruleOf is a rule as the loader makes it.
func ruleOf(t *testing.T, name string, action protocol.Action, match schema.Match, mode protocol.Mode) *executor.Hook {
	t.Helper()
	reply := ruletext.Reply{Action: action, Reason: "no"}
	compiled, problems := ruletext.Compile(&reply, []protocol.EventName{protocol.ToolCallStart})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return &executor.Hook{
		Hook: schema.Hook{
			Name: name, Layer: protocol.User, Events: []protocol.EventName{protocol.ToolCallStart}, Match: match, Reply: &reply, Can: protocol.CanBlock,
			Mode: mode, OnFailure: protocol.RuleBlock, Timeout: time.Second, Enabled: true, Run: schema.Once,
		},
		Status: executor.Ready, Asker: rule.New(compiled),
	}
}

func ruled(t *testing.T, hooks ...*executor.Hook) *stage {
	t.Helper()
	set, errs := executor.NewSet(executor.Set{Hooks: hooks})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return stageOf(t, executor.New(set, executor.Options{}))
}

const listRequest = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// lists has the server list tools, and returns what the client reads.
func (s *stage) lists(tools string) string {
	s.T.Helper()
	s.Say(s.Client, listRequest)
	s.Read(s.ToServer, listRequest)
	s.Say(s.Server, `{"jsonrpc":"2.0","id":1,"result":{"n":1.0,"tools":[`+tools+`],"nextCursor":"c"}}`)
	return s.Next(s.ToClient)
}

// A tool of which a rule refuses every call is left out of each page. One that may be called
// with some args, or whose rule only watches or asks, stays.
func TestRefusedToolsAreNotListed(t *testing.T) {
	on := func(names ...string) schema.Match { return schema.Match{Tool: names} }
	s := ruled(t,
		ruleOf(t, "never", protocol.Block, on("mcp__t__drop_*"), protocol.Enforce),
		ruleOf(t, "sometimes", protocol.Block, schema.Match{Tool: []string{"mcp__t__write"}, When: `data.args.x == 1`}, protocol.Enforce),
		ruleOf(t, "some-files", protocol.Block, schema.Match{Tool: []string{"mcp__t__write"}, Path: []string{".env"}}, protocol.Enforce),
		ruleOf(t, "watches", protocol.Block, on("mcp__t__read"), protocol.Audit),
		ruleOf(t, "asks", protocol.Ask, on("mcp__t__read"), protocol.Enforce),
		ruleOf(t, "others", protocol.Block, on("mcp__u__read"), protocol.Enforce),
	)
	const read, write = `{"name":"read" , "x":1.0}`, `{"name":"write","\u0061":2}`
	page := func(tools string) string {
		return `{"jsonrpc":"2.0","id":1,"result":{"n":1.0,"tools":[` + tools + `],"nextCursor":"c"}}`
	}
	for range 2 {
		if got := s.lists(read + `, {"name":"drop_all"},{"name":"drop_one"}, ` + write); got != page(read+","+write) {
			t.Error(got)
		}
	}
	for _, whole := range []string{read + " ,  " + write, "", `{"name":"drop_all","name":"x"}`, `{"name":7},[],{}`} {
		if got := s.lists(whole); got != page(whole) {
			t.Error(got)
		}
	}
	s.Say(s.Client, callLine("1", "{}"))
	s.Next(s.ToServer)
	if notes := strings.Join(s.notes.All(), "\n"); len(s.notes.All()) != 2 || !strings.Contains(notes, "mcp__t__drop_all is left out of the list of tools: the rule never refuses every call of it") {
		t.Error(notes)
	}
}

// Args that a hook changed fit the schema that the server listed, or the call is refused.
// What no hook changed is the server's to judge.
func TestChangedArgsFitTheSchema(t *testing.T) {
	s := newStage(t, dialogue.HookOn(protocol.ToolCallStart, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		return protocol.ModifyArgs(ev, func(args *map[string]any) error {
			if to := (*args)["to"]; to != nil {
				(*args)["n"] = to
			}
			return nil
		})
	}))
	call := func(args string) string {
		s.Say(s.Client, callLine("1", args))
		ran := make(chan struct{})
		go func() {
			defer close(ran)
			if line, err := s.ToServer.ReadString('\n'); err == nil && !strings.Contains(line, "list") {
				fmt.Fprintln(s.Server, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"ran"}]}}`)
			}
		}()
		got := s.Next(s.ToClient)
		if strings.Contains(got, `"isError"`) { // so that nobody reads
			s.Say(s.Client, `{"jsonrpc":"2.0","method":"list"}`)
		}
		<-ran
		return got
	}
	const integer = `{"name":"x","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}`
	for _, step := range []struct {
		lists, args string
		runs        bool
	}{
		{"", `{"to":"text"}`, true}, // nobody has listed it
		{integer, `{"to":2}`, true},
		{"", `{"to":"text"}`, false},
		{"", `{"m":"text"}`, true}, // no hook changed it
		{`{"name":"x","inputSchema":{"type":"object"}}`, `{"to":"text"}`, true},
		{integer, `{"to":"text"}`, false},
		{"changed", `{"to":"text"}`, true},
		{`{"name":"x","inputSchema":{"allOf":[{"$ref":"#"}]}}`, `{"to":"text"}`, true},
		{`{"name":"x","inputSchema":{"properties":{"n":{"type":"string","pattern":"(?=a)"}}}}`, `{"to":1}`, false},
		{`{"name":"x","inputSchema":7}`, `{"to":1}`, true},
	} {
		switch step.lists {
		case "":
		case "changed":
			s.Say(s.Server, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			s.Next(s.ToClient)
		default:
			s.lists(step.lists)
		}
		got := call(step.args)
		if runs := strings.Contains(got, `"ran"`); runs != step.runs || !runs && !strings.Contains(got, "the check h could not be made (reply)") {
			t.Errorf("%s %s: %s", step.lists, step.args, got)
		}
	}
	if len(s.notes.All()) != 1 || !strings.Contains(s.notes.All()[0], "args of x that hooks change are not checked") {
		t.Error(s.notes.All())
	}
}

// A program without what reads schemas leaves args to the server, and says so once.
func TestArgsAreLeftToTheServerWithoutSchemas(t *testing.T) {
	var notes []string
	tools := newTools(&Options{Note: func(text string) { notes = append(notes, text) }})
	tools.learn("x", []byte(`{"required":["n"]}`))
	for _, name := range []string{"x", "x", "y"} {
		if err := tools.check(name, []byte(`{}`)); err != nil {
			t.Error(err)
		}
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "not checked") {
		t.Error(notes)
	}
}

// What is kept of endless lists is bounded.
func TestEndlessLists(t *testing.T) {
	tools := newTools(&Options{})
	schema := []byte(`{"x":"` + strings.Repeat("x", 10_000) + `"}`)
	for i := range 3 * mostSchemas {
		tools.learn(fmt.Sprint(i%(2*mostSchemas)), schema)
		tools.tell(fmt.Sprint(i), "")
	}
	sum := 0
	for _, s := range tools.schemas {
		sum += len(s.written)
	}
	if len(tools.schemas) > mostSchemas || sum != tools.bytes || sum > mostSchemaBytes || len(tools.told) > mostTold {
		t.Errorf("%d schemas of %d bytes (%d), %d told", len(tools.schemas), sum, tools.bytes, len(tools.told))
	}
}

// A name in another spelling than the server lists is refused where hooks judge the calls of the tool:
// the server may take the one for the other. Any name passes that the server lists, and one that is
// like none of them.
func TestNamesInOtherSpellings(t *testing.T) {
	s := ruled(t,
		ruleOf(t, "never", protocol.Block, schema.Match{Tool: []string{"mcp__t__write_file"}}, protocol.Enforce),
		ruleOf(t, "sometimes", protocol.Block, schema.Match{Tool: []string{"mcp__t__find"}, When: `data.args.x == 1`}, protocol.Enforce),
	)
	call := func(name string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":{"x":2}}}`
	}
	passes := func(names ...string) {
		t.Helper()
		for _, name := range names {
			s.Say(s.Client, call(name))
			s.Read(s.ToServer, call(name))
			s.Say(s.Server, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
			s.Next(s.ToClient)
		}
	}
	passes("Write_File", "FIND") // nothing is known of the server yet
	s.lists(`{"name":"write_file"},{"name":"find"},{"name":"Find"},{"name":"read"}`)
	for _, name := range []string{"Write_File", "write_file ", "\\twrite_file", "write-file", "writefile", "write\u200b_file", "\uff57rite_file", "FIND", "find\u00a0"} {
		s.Say(s.Client, call(name))
		if got := s.Next(s.ToClient); !strings.Contains(got, `"code":-32602,"message":"hookd: the server lists no tool`) {
			t.Errorf("%q: %s", name, got)
		}
	}
	passes("find", "Find", "read", "READ", "write_files", "lost")
	s.Say(s.Client, call("write_file"))
	if got := s.Next(s.ToClient); !strings.Contains(got, `"isError":true`) {
		t.Error(got)
	}
}

// Of a tool whose name is too long nothing is kept.
func TestLongNamesOfTools(t *testing.T) {
	tools := newTools(&Options{})
	long := strings.Repeat("x", mostName+1)
	tools.learn(long, []byte("{}"))
	tools.list(long)
	if len(tools.schemas)+len(tools.listed)+len(tools.spelled)+tools.bytes != 0 {
		t.Error("it is kept")
	}
}
