package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/dialogue"
)

// read is one of the methods that read what a server has besides tools.
type read struct {
	method, tool, member string
	list, item           string // of a result, with %s for a text
}

var reads = []read{
	{"resources/read", "read_mcp_resource", "uri", "contents", `{"uri":"u:a","mimeType":"text/plain","text":%s,"n":1.0}`},
	{"prompts/get", "get_mcp_prompt", "name", "messages", `{"role":"assistant","content":{"type":"text","text":%s,"n":1.0},"m":1e2}`},
}

const newest = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`

// eras are the members that requests have besides, and what a result that hookd makes has.
var eras = map[string]struct{ params, made string }{"older": {`"x":12345678901234567890`, ""}, "newest": {newest, `,"resultType":"complete"`}}

func (r read) line(id, what, more string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + r.method + `","params":{ ` + more + ` , "` + r.member + `" : "` + what + `"}}`
}

// answer is a result with one text, quoted.
func (r read) answer(id, text, more string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"ttlMs":1e3, "` + r.list + `" : [` + fmt.Sprintf(r.item, text) + `],"cacheScope":"public"` + more + `}}`
}

func refusedLine(id, text string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32000,"message":"hookd: ` + text + `"}}`
}

// everyRead runs a test with each method, as clients of both eras use it.
func everyRead(t *testing.T, run func(t *testing.T, r read, params, made string)) {
	for _, r := range reads {
		for era, members := range eras {
			t.Run(r.method+" "+era, func(t *testing.T) { t.Parallel(); run(t, r, members.params, members.made) })
		}
	}
}

// A read that no hook changes passes byte for byte in both directions. Hooks read it as a call
// of the tool that agents have for it.
func TestReadsPass(t *testing.T) {
	everyRead(t, func(t *testing.T, r read, params, _ string) {
		s := newStage(t)
		var events []string
		s.onOutcome = func(o *protocol.Outcome) { events = append(events, string(o.Event.Data)) }
		line := r.line(`"a-1"`, `\u0061:é`, params)
		s.Say(s.Client, line)
		s.Read(s.ToServer, line)
		between := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":9007199254740993}}`
		s.Say(s.Server, between)
		s.Read(s.ToClient, between)
		answer := r.answer(`"a-1"`, `"\u0061"`, `,"structuredContent":{"a":1},"resultType":"complete"`)
		s.Say(s.Server, answer)
		s.Read(s.ToClient, answer)
		s.Say(s.Client, strings.Replace(line, "a-1", "a-2", 1))
		s.Next(s.ToServer)
		s.Say(s.Server, `{"jsonrpc":"2.0","id":"a-2","error":{"code":-32002,"message":"no such thing","data":[1.0]}}`)
		s.Read(s.ToClient, `{"jsonrpc":"2.0","id":"a-2","error":{"code":-32002,"message":"no such thing","data":[1.0]}}`)
		call := `{"toolCallId":"a-1","name":"` + r.tool + `","kind":"mcp","args":{"server":"t","` + r.member + `":"\u0061:é"},"server":"t",`
		if len(events) != 4 || !strings.HasPrefix(events[0], call) || !strings.HasPrefix(events[1], call+`"result":{"content":[{"type":"text","text":"a"}],"isError":false}`) || !strings.Contains(events[3], `"text":"no such thing"`) {
			t.Errorf("%q", events)
		}
	})
}

// A read that hooks refuse never reaches the server, and the client reads an error: a result
// of these methods cannot be one. What hooks change is written to the place where it stood.
func TestReadsThatHooksDecide(t *testing.T) {
	everyRead(t, func(t *testing.T, r read, params, made string) {
		hook := dialogue.HookOn(protocol.ToolCallStart, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			args, err := protocol.ReadArgs[map[string]any](ev)
			result := protocol.Result{Content: protocol.Content{{Type: protocol.PartText, Text: "mine"}, {Type: protocol.PartImage, MediaType: "image/png", Data: []byte(`"AA=="`)}}}
			change := func(member string, to any) (protocol.Reply, error) {
				return protocol.ModifyArgs(ev, func(args *map[string]any) error { (*args)[member] = to; return nil })
			}
			switch what, _ := args[r.member].(string); what {
			case "block":
				return protocol.Reply{Action: protocol.Block, Reason: "not \"that\"", Context: "why"}, err
			case "stop":
				return protocol.StopReply("enough"), err
			case "ask":
				return protocol.AskReply("really?"), err
			case "fail":
				return protocol.Reply{}, errors.New("broken")
			case "replace":
				return protocol.ResultReply(result)
			case "failed":
				return protocol.ResultReply(protocol.Result{Content: protocol.TextContent("not found"), IsError: true})
			case "silent":
				return protocol.ResultReply(protocol.Result{Content: protocol.Content{}, IsError: true})
			case "elsewhere":
				return change("server", "other")
			case "nothing":
				return change(r.member, "")
			case "more":
				return change("limit", 1)
			}
			return change(r.member, "b\n")
		})
		s := newStage(t, hook)
		items := map[string]string{
			"contents": `{"uri":"replace","text":"mine"},{"uri":"replace","mimeType":"image/png","blob":"AA=="}`,
			"messages": `{"role":"user","content":{"type":"text","text":"mine"}},{"role":"user","content":{"type":"image","data":"AA==","mimeType":"image/png"}}`,
		}[r.list]
		if made != "" && r.list == "contents" {
			made = `,"ttlMs":0,"cacheScope":"private"` + made
		}
		failed := refusedLine("1", "blocked: the check h could not be made (reply)")
		for what, want := range map[string]string{
			"block": refusedLine("1", `not \"that\"\n[context from hook h]\nwhy`), "stop": refusedLine("1", "enough"),
			"ask":  refusedLine("1", "not allowed: a person has to decide this, and nobody can be asked here: really?"),
			"fail": refusedLine("1", "blocked: the check h could not be made (exit)"), "failed": refusedLine("1", "not found"), "silent": refusedLine("1", "no content"),
			"replace":   `{"jsonrpc":"2.0","id":1,"result":{"` + r.list + `":[` + items + `]` + made + `}}`,
			"elsewhere": failed, "nothing": failed, "more": failed,
		} {
			s.Say(s.Client, r.line("1", what, params))
			if got := s.Next(s.ToClient); got != want {
				t.Errorf("%s:\n got  %s\n want %s", what, got, want)
			}
		}
		s.Say(s.Client, r.line("2", "run", params))
		s.Read(s.ToServer, r.line("2", `b\n`, params))
	})
}

// The arguments of a prompt keep their bytes but for what hooks changed.
func TestArgumentsOfPrompts(t *testing.T) {
	s := newStage(t, dialogue.HookOn(protocol.ToolCallStart, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		return protocol.ModifyArgs(ev, func(args *map[string]protocol.RawMessage) error {
			switch string((*args)["name"]) {
			case `"take"`:
				delete(*args, "arguments")
			case `"give"`:
				(*args)["arguments"] = []byte(`{"a":"1"}`)
			case `"odd"`:
				(*args)["arguments"] = []byte(`["a"]`)
			case `"change"`:
				(*args)["arguments"] = relay.Replace((*args)["arguments"], "b", []byte(`"2"`))
			}
			return nil
		})
	}))
	line := func(name, rest string) string {
		return `{"jsonrpc":"2.0","id":"` + name + `","method":"prompts/get","params":{"name":"` + name + `"` + rest + `,"n":[1.0]}}`
	}
	for _, c := range [][3]string{
		{"take", `,"arguments":{"a":"x"}`, ""}, {"give", ``, ""}, {"give", `,"arguments":null`, `,"arguments":{"a":"1"}`},
		{"change", `,"arguments":{ "a":12345678901234567890 , "b" : "1"}`, `,"arguments":{ "a":12345678901234567890 , "b" : "2"}`},
		{"pass", `,"arguments":null`, `,"arguments":null`},
	} {
		s.Say(s.Client, line(c[0], c[1]))
		want := line(c[0], c[2])
		if c[0] == "give" && c[1] == "" {
			want = `{"jsonrpc":"2.0","id":"give","method":"prompts/get","params":{"name":"give","n":[1.0],"arguments":{"a":"1"}}}`
		}
		s.Read(s.ToServer, want)
		s.Say(s.Server, `{"jsonrpc":"2.0","id":"`+c[0]+`","result":{"messages":[]}}`)
		s.Next(s.ToClient)
	}
	s.Say(s.Client, line("odd", ""))
	if got := s.Next(s.ToClient); !strings.Contains(got, "the check h could not be made") {
		t.Error(got)
	}
}

// A request that hooks and the server could read in two ways is refused.
func TestAmbiguousReads(t *testing.T) {
	s := newStage(t)
	for params, want := range map[string]string{
		`"resources/read","params":{"uri":"a","uri":"b"}`:               "a read of a resource has a member twice",
		`"resources/read","params":{"uri":"a","Uri":"b"}`:               "which some programs take for uri",
		`"resources/read","params":{"uri":"a","uri\u0000":"b"}`:         "take to end at the NUL",
		`"resources/read","params":{"uri":"a\u0000b"}`:                  "the name of the resource has a NUL",
		`"resources/read","params":{"uri":["a"]}`:                       "names no resource",
		`"resources/read","params":{}`:                                  "names no resource",
		`"resources/read","params":["a"]`:                               "has no params",
		`"resources/read"`:                                              "has no params",
		`"prompts/get","params":{"name":"a","arguments":{"b":1,"b":2}}`: "a request for a prompt has a member twice",
		`"prompts/get","params":{"name":"a","ARGUMENTS":{}}`:            "which some programs take for arguments",
		`"prompts/get","params":{"name":"a","arguments":"b"}`:           "not an object",
		`"prompts/get","params":{"Name":"a"}`:                           "which some programs take for name",
		`"prompts/get","params":{"name":""}`:                            "names no prompt",
		`"ping","method":"resources/read","params":{"uri":"a"}`:         `has the member \"method\" twice`,
	} {
		s.Say(s.Client, `{"jsonrpc":"2.0","id":1,"method":`+params+`}`)
		if got := s.Next(s.ToClient); !strings.Contains(got, want) || !strings.Contains(got, `"error"`) {
			t.Errorf("%s\n got %s, not with %q", params, got, want)
		}
	}
	s.Say(s.Client, `{"jsonrpc":"2.0","method":"resources/read","params":{"uri":"a"}}`)
	s.Say(s.Client, `{"jsonrpc":"2.0","method":"prompts/get","params":{"name":"a"}}`)
	for _, passes := range []string{
		`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"a","uri":"b"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"a"}}}`,
	} {
		s.Say(s.Client, passes)
		s.Read(s.ToServer, passes)
	}
	s.notes.Await(t, "a request for a prompt without an id")
}

// Reads and calls reach the server in the order in which the client sent them. A read that
// waits can be cancelled.
func TestOrderOfReadsAmongCalls(t *testing.T) {
	first, asked := make(chan struct{}), make(chan string, 4)
	s := newStage(t, dialogue.HookOn(protocol.ToolCallStart, func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
		data, err := protocol.ReadData[protocol.ToolCallStartData](ev)
		asked <- data.ToolCallID
		if data.ToolCallID == "1" || data.ToolCallID == "3" {
			select {
			case <-first:
			case <-ctx.Done():
				return protocol.Reply{}, ctx.Err()
			}
		}
		return protocol.Reply{}, err
	}))
	s.Say(s.Client, callLine("1", "{}"))
	s.Say(s.Client, reads[0].line("2", "w", newest))
	s.Say(s.Client, reads[0].line("3", "w", newest))
	s.Say(s.Client, reads[1].line("4", "w", newest))
	for range 4 {
		<-asked
	}
	s.Say(s.Client, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	s.eventually("tool-call-error 3 ")
	close(first)
	s.Read(s.ToServer, callLine("1", "{}"))
	s.Read(s.ToServer, reads[0].line("2", "w", newest))
	s.Read(s.ToServer, reads[1].line("4", "w", newest))
	s.Exit()
	s.Server.Close() // with three that have no answer
	for range 3 {
		if got := s.Next(s.ToClient); !strings.Contains(got, "the MCP server has ended") {
			t.Error(got)
		}
	}
	s.eventually("tool-call-error 1 ", "tool-call-error 2 ", "tool-call-error 4 ")
	s.Done <- <-s.Done
}

// A person is asked about a read as about a call, by a request or by a result.
func TestPersonIsAskedAboutReads(t *testing.T) {
	for _, r := range reads {
		for answer, ran := range map[string]bool{"allow": true, "refuse": false} {
			t.Run(r.method+" "+answer, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, asksAll)
				s.initialized(`{"elicitation":{}}`)
				line := r.line("1", "w", `"x":1`)
				ends := func() {
					t.Helper()
					if ran {
						s.Read(s.ToServer, line)
						s.Say(s.Server, r.answer("1", `"a"`, ""))
						s.Read(s.ToClient, r.answer("1", `"a"`, ""))
						return
					}
					if got := s.Next(s.ToClient); !strings.Contains(got, `"error":{"code":-32000,"message":"hookd: denied by the person (really?`) {
						t.Error(got)
					}
				}
				s.Say(s.Client, line)
				question := s.Next(s.ToClient)
				message := jsonspan.Text(jsonspan.Find([]byte(question), "/params/message"))
				if !strings.Contains(message, "decide about "+methodOf(r.method).what+".\n\nTool: "+r.tool+"\nArguments: {\"server\":\"t\",\""+r.member+"\":\"w\"}\n") {
					t.Error(question)
				}
				s.Say(s.Client, `{"jsonrpc":"2.0","id":`+string(jsonspan.Get([]byte(question), "id"))+`,"result":{"action":"accept","content":{"answer":"`+answer+`"}}}`)
				ends()

				const capable = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`
				s.Say(s.Client, r.line("5", "w", capable))
				needs := []byte(s.Next(s.ToClient))
				state := jsonspan.Find(needs, "/result/requestState")
				if jsonspan.Text(jsonspan.Find(needs, "/result/inputRequests/question/method")) != "elicitation/create" || state == nil {
					t.Fatalf("%s", needs)
				}
				line = r.line("1", "w", capable)
				s.Say(s.Client, r.line("1", "w", capable+`,"inputResponses":{"question":{"action":"accept","content":{"answer":"`+answer+`"}}},"requestState":`+string(state)))
				if ran { // the server reads it as if nobody had been asked
					if got := s.Next(s.ToServer); jsonspan.Canonical([]byte(got)) != jsonspan.Canonical([]byte(line)) {
						t.Error(got)
					}
					s.Say(s.Server, r.answer("1", `"a"`, ""))
					s.Read(s.ToClient, r.answer("1", `"a"`, ""))
					return
				}
				ends()
			})
		}
	}
}

// An address in another spelling than the usual one is no way around a hook. Where none judges reads
// it passes as it is.
func TestAddressesInOtherSpellings(t *testing.T) {
	line := func(uri string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + uri + `"}}`
	}
	passes := func(s *stage, uri string) {
		t.Helper()
		s.Say(s.Client, line(uri))
		s.Read(s.ToServer, line(uri))
		s.Say(s.Server, `{"jsonrpc":"2.0","id":1,"result":{"contents":[]}}`)
		s.Next(s.ToClient)
	}
	others := []string{"FILE:///a", " file:///a", "file:///b/../a", "file:///%61", `file:\\\\\\a`}
	for judged, hook := range map[bool]*executor.Hook{
		true:  ruleOf(t, "files", protocol.Block, schema.Match{Tool: []string{"read_mcp_resource"}, When: `data.args.uri startsWith "file:///a"`}, protocol.Enforce),
		false: ruleOf(t, "files", protocol.Block, schema.Match{Tool: []string{"get_mcp_prompt"}}, protocol.Enforce),
	} {
		s := ruled(t, hook)
		passes(s, "file:///b%20c")
		for _, uri := range others {
			if !judged {
				passes(s, uri)
				continue
			}
			s.Say(s.Client, line(uri))
			if got := s.Next(s.ToClient); !strings.Contains(got, `"code":-32602`) || !strings.Contains(got, `for \"file:///a\": write it so`) {
				t.Errorf("%q: %s", uri, got)
			}
		}
	}
}
