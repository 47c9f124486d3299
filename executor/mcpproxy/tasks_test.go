package mcpproxy

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
	"github.com/hookd-dev/hookd/test/dialogue"
)

// judgesTasks withholds what is secret, changes what is private, and counts what it reads.
func judgesTasks(read func(string)) []protocol.GoHook {
	return []protocol.GoHook{
		dialogue.HookOn(protocol.ToolCallEnd, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			data, err := protocol.ReadData[protocol.ToolCallEndData](ev)
			text := data.Result.Content.Text()
			read(data.ToolCallID + " " + text)
			if strings.Contains(text, "secret") {
				return protocol.BlockReply("that is a secret"), err
			}
			if strings.Contains(text, "private") {
				return protocol.ModifyData(ev, func(d *protocol.ToolCallEndData) error {
					d.Result.Content = protocol.TextContent("***")
					return nil
				})
			}
			return protocol.Reply{}, err
		}),
		dialogue.HookOn(protocol.ToolCallError, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			data, err := protocol.ReadData[protocol.ToolCallErrorData](ev)
			read(data.ToolCallID + " " + string(data.Error.Kind) + " " + data.Error.Text)
			return protocol.Reply{}, err
		}),
	}
}

func content(text string) string { return `{"content":[{"type":"text","text":"` + text + `"}]}` }

const secret = `{"content":[{"type":"text","text":"that is a secret"}],"isError":true}`

// The result of a task is judged when it comes, once, whatever brings it.
func TestResultsOfTasks(t *testing.T) {
	const meta = `{"content":[{"type":"text","text":"a secret"}],"_meta":{"x":1,"io.modelcontextprotocol/related-task":{"taskId":"t"}}}`
	for name, test := range map[string]struct {
		created        string   // result of the call
		method         string   // of the poll, "" for a notification
		answers, reads []string // members of the messages, and what the client reads of them
		events         []string
	}{
		"older, passes": {
			`{"task":{"taskId":"t","status":"working"}}`, "tasks/result", []string{`"result":` + content("open"), `"result":` + content("open")}, nil, []string{"1 open"},
		},
		"older, withheld": {
			`{"task":{"taskId":"t","status":"working"}}`, "tasks/result", []string{`"result":` + meta},
			[]string{`"result":` + strings.TrimSuffix(secret, "}") + `,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}`}, []string{"1 a secret"},
		},
		"older, an error": {
			`{"task":{"taskId":"t","status":"working"}}`, "tasks/result", []string{`"error":{"code":-32000,"message":"no"}`}, nil, []string{"1 failed no"},
		},
		"older, its status says nothing": {
			`{"task":{"taskId":"t","status":"working"}}`, "tasks/get", []string{`"result":{"taskId":"t","status":"completed"}`}, nil, []string{"1 aborted "},
		},
		"newer, withheld each time": {
			`{"resultType":"task","taskId":"t","status":"working"}`, "tasks/get",
			[]string{`"result":{"taskId":"t","status":"working"}`, `"result":{"status":"completed","result":` + content("a secret") + `,"n":1.0}`, `"result":{"status":"completed","result":` + content("a secret") + `,"n":1.0}`},
			[]string{"", `"result":{"status":"completed","result":` + secret + `,"n":1.0}`, `"result":{"status":"completed","result":` + secret + `,"n":1.0}`}, []string{"1 a secret"},
		},
		"newer, changed, and another one then": {
			`{"resultType":"task","taskId":"t","status":"working"}`, "tasks/get",
			[]string{`"result":{"result":` + content("private") + `}`, `"result":{"result":` + content("open") + `}`},
			[]string{`"result":{"result":` + content("***") + `}`, ""}, []string{"1 private", "1 open"},
		},
		"newer, failed": {
			`{"resultType":"task","taskId":"t"}`, "tasks/get", []string{`"result":{"status":"failed","error":{"code":1,"message":"no"}}`}, nil, []string{"1 failed no"},
		},
		"newer, cancelled": {
			`{"resultType":"task","taskId":"t"}`, "tasks/get", []string{`"result":{"status":"cancelled"}`, `"result":{"status":"cancelled"}`}, nil, []string{"1 aborted aborted: the client cancelled the call"},
		},
		"told": {
			`{"resultType":"task","taskId":"t"}`, "", []string{`"params":{"taskId":"t","status":"completed","result":` + content("a secret") + `}`},
			[]string{`"params":{"taskId":"t","status":"completed","result":` + secret + `}`}, []string{"1 a secret"},
		},
		"of nobody knows which call": {
			`{"resultType":"task","taskId":"u"}`, "tasks/get", []string{`"result":{"result":` + content("open") + `}`},
			[]string{`"error":{"code":-32000,"message":"hookd: the result of the task was withheld: hooks judge results, and hookd does not know which call this task belongs to"}`}, []string{"1 aborted "},
		},
		"to be read in two ways": {
			`{"resultType":"task","taskId":"t"}`, "tasks/get", []string{`"result":{"result":` + content("open") + `,"result":` + content("a secret") + `}`},
			[]string{`"error":{"code":-32000,"message":"hookd: the result of the task was withheld: hooks judge results, and it could be read in two ways"}`}, []string{"1 aborted "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			events := make(chan string, 10)
			s := newStage(t, judgesTasks(func(event string) { events <- event })...)
			line := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","task":{"ttl":1}}}`
			s.Say(s.Client, line)
			s.Read(s.ToServer, line)
			s.Say(s.Server, `{"jsonrpc":"2.0","id":1,"result":`+test.created+`}`)
			s.Read(s.ToClient, `{"jsonrpc":"2.0","id":1,"result":`+test.created+`}`)
			for i, answer := range test.answers {
				head := `{"jsonrpc":"2.0","id":2,`
				if test.method == "" {
					head = `{"jsonrpc":"2.0","method":"notifications/tasks",`
				} else {
					s.Say(s.Client, head+`"method":"`+test.method+`","params":{"taskId":"t"}}`)
					s.Next(s.ToServer)
				}
				want := answer
				if test.reads != nil && test.reads[i] != "" {
					want = test.reads[i]
				}
				s.Say(s.Server, head+answer+"}")
				s.Read(s.ToClient, head+want+"}")
			}
			s.End(errCancelled)
			s.Done <- <-s.Done
			for _, want := range test.events {
				select {
				case got := <-events:
					if !strings.HasPrefix(got, want) {
						t.Errorf("%q, want %q", got, want)
					}
				case <-time.After(5 * time.Second):
					t.Errorf("no event %q", want)
				}
			}
			if len(events) > 0 {
				t.Errorf("one event more: %q", <-events)
			}
		})
	}
}

// Where no hook judges results, those of tasks pass, known or not. A request that names two
// tasks does not.
func TestTasksThatNobodyJudges(t *testing.T) {
	s := newStage(t)
	s.Say(s.Client, `{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"t"}}`)
	s.Next(s.ToServer)
	s.Say(s.Server, `{"jsonrpc":"2.0","id":2,"result":{"result":1,"result":2}}`)
	s.Read(s.ToClient, `{"jsonrpc":"2.0","id":2,"result":{"result":1,"result":2}}`)
	for _, params := range []string{`{"taskId":"t","taskId":"u"}`, `{"taskId":"t","TaskId":"u"}`} {
		s.Say(s.Client, `{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":`+params+`}`)
		if got := s.Next(s.ToClient); !strings.Contains(got, `"code":-32602`) {
			t.Error(got)
		}
	}
	tasks := newTasks()
	for i := range 2 * mostTasks {
		tasks.add(strings.Repeat("x", i), &call{})
	}
	if len(tasks.list) != mostTasks || len(tasks.order) != mostTasks {
		t.Errorf("%d tasks are kept", len(tasks.list))
	}
	large := &call{Call: protocol.Call{Args: make([]byte, mostTaskBytes/4)}}
	for i := range 8 {
		tasks.add(strings.Repeat("y", i), large)
	}
	if len(tasks.list) != 3 || len(tasks.order) != 3 || tasks.bytes > mostTaskBytes || tasks.get("yyyyyyy") == nil {
		t.Errorf("%d tasks are kept, of %d bytes", len(tasks.list), tasks.bytes)
	}
	if forgotten := tasks.add("z", &call{Call: protocol.Call{Args: make([]byte, 2*mostTaskBytes)}}); len(forgotten) != 3 || len(tasks.list) != 1 {
		t.Errorf("%d tasks are kept, %d forgotten", len(tasks.list), len(forgotten))
	}
	if forgotten := tasks.add("z", large); len(forgotten) != 1 || tasks.bytes != 1+mostTaskBytes/4 {
		t.Errorf("%d bytes", tasks.bytes)
	}
}

// What says how a task stands can hold the end of the call in other ways than the protocol has. None
// passes unjudged.
func TestTasksThatHideAResult(t *testing.T) {
	const hidden = `{"content":[{"type":"text","text":"SECRET"}]}`
	s := newStage(t, withholds(protocol.ToolCallEnd))
	s.run("1", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t"}}`)
	s.Next(s.ToClient)
	for _, state := range []string{
		`{"status":"completed","result":` + hidden + `}`,
		`{"status":"completed","Result":` + hidden + `}`,
		`{"status":"completed","result\u0000":` + hidden + `}`,
		`{"status":"completed","result":` + hidden + `,"result":{"content":[]}}`,
		`{"status":"completed","result":{"content":[]},"error":{"code":1,"message":"SECRET"}}`,
		`{"status":"completed","error":null,"result":` + hidden + `}`,
		hidden, `{"structuredContent":{"a":"SECRET"}}`,
	} {
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			s.Say(s.Client, `{"jsonrpc":"2.0","id":2,"method":"`+method+`","params":{"taskId":"t"}}`)
			s.Next(s.ToServer)
			s.Say(s.Server, `{"jsonrpc":"2.0","id":2,"result":`+state+`}`)
			if got := s.Next(s.ToClient); strings.Contains(got, "SECRET") || !strings.Contains(got, "that is a secret") && !strings.Contains(got, "withheld") {
				t.Errorf("%s %s: %s", method, state, got)
			}
		}
	}
	for _, state := range []string{`{"taskId":"t","status":"working","statusMessage":"a \ud800","result":null,"error":null}`, `{"tasks":[]}`, `{}`} {
		s.Say(s.Client, `{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"t"}}`)
		s.Next(s.ToServer)
		s.Say(s.Server, `{"jsonrpc":"2.0","id":2,"result":`+state+`}`)
		s.Read(s.ToClient, `{"jsonrpc":"2.0","id":2,"result":`+state+`}`)
	}
}

// What a server says by itself in other letters passes no hook by.
func TestNewsOfTasksInOtherLetters(t *testing.T) {
	s := newStage(t, withholds(protocol.ToolCallEnd))
	s.run("1", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t"}}`)
	s.Next(s.ToClient)
	const params = `"params":{"taskId":"t","status":"completed","result":{"content":[{"type":"text","text":"SECRET"}]}}}`
	for _, method := range []string{"Notifications/Tasks", `notifications/tasks\t`, "notifications/TASKS/status"} {
		s.Say(s.Server, `{"jsonrpc":"2.0","method":"`+method+`",`+params)
		s.Say(s.Server, `{"jsonrpc":"2.0","id":7,"method":"`+method+`",`+params)
		if got := s.Next(s.ToServer); !strings.Contains(got, `"id":7,"error":{"code":-32601`) {
			t.Error(got)
		}
	}
	s.notes.Await(t, "a message of the server was not passed on")
	s.Say(s.Server, `{"jsonrpc":"2.0","method":"notifications/x"}`)
	s.Read(s.ToClient, `{"jsonrpc":"2.0","method":"notifications/x"}`)
}

// All that is kept of a request counts against what may be kept.
func TestRequestsThatWaitCount(t *testing.T) {
	e, err := executor.Static()
	if err != nil {
		t.Fatal(err)
	}
	g := newGuard(t.Context(), &Options{Hooks: dialogue.Gate{Executor: e}, Server: "t", Session: "s", Cwd: "/"})
	long := strings.Repeat("x", 1000)
	for id, line := range map[string]string{
		`"` + long + `"`: `{"jsonrpc":"2.0","id":"` + long + `","method":"ping"}`,
		"1":              `{"jsonrpc":"2.0","id":1,"method":"` + long + `"}`,
		"2":              `{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"` + long + `"}}`,
		"3":              `{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"` + long + `"}}`,
	} {
		m, fault := relay.Read([]byte(line))
		if fault != nil {
			t.Fatal(fault)
		}
		g.fromClient(m)
		if r := g.pending.Get([]byte(id)); r == nil || r.Size < len(long) {
			t.Errorf("%s counts as %+v", line, r)
		}
	}
}

// A task that another one takes the place of has an end, too: hooks are told.
func TestTasksThatAreForgotten(t *testing.T) {
	events := make(chan string, 10)
	s := newStage(t, judgesTasks(func(event string) { events <- event })...)
	for _, id := range []string{"1", "2"} {
		s.run(id, `{"jsonrpc":"2.0","id":`+id+`,"result":{"task":{"taskId":"t"}}}`)
		s.Next(s.ToClient)
	}
	select {
	case got := <-events:
		if !strings.HasPrefix(got, "1 aborted aborted: the server has begun other tasks since") {
			t.Error(got)
		}
	case <-time.After(10 * time.Second):
		t.Error("the first call has no end")
	}
}

// While hooks judge the result of a task, what else the server says of it passes.
func TestTasksWhileTheyAreJudged(t *testing.T) {
	judges, goOn := make(chan struct{}), make(chan struct{})
	s := newStage(t, dialogue.HookOn(protocol.ToolCallEnd, func(context.Context, *protocol.Event) (protocol.Reply, error) {
		close(judges)
		<-goOn
		return protocol.Reply{}, nil
	}))
	s.run("1", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t"}}`)
	s.Next(s.ToClient)
	s.Say(s.Client, `{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"t"}}`)
	s.Next(s.ToServer)
	s.Say(s.Server, `{"jsonrpc":"2.0","id":2,"result":{"result":`+content("open")+`}}`)
	<-judges
	const told = `{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t","status":"cancelled"}}`
	s.Say(s.Server, told)
	s.Read(s.ToClient, told)
	close(goOn)
	s.Read(s.ToClient, `{"jsonrpc":"2.0","id":2,"result":{"result":`+content("open")+`}}`)
}

// The end of a task is withheld also where the results of its method cannot be errors: the client reads
// an error of JSON-RPC, or asks for it once more.
func TestTasksWhoseResultsAreNoErrors(t *testing.T) {
	e, err := executor.Static(withholds(protocol.ToolCallEnd))
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	g := newGuard(t.Context(), &Options{Hooks: dialogue.Gate{Executor: e}, Server: "t", Session: "s", Cwd: "/", Note: func(text string) { told = append(told, text) }})
	read := func(line string) *relay.Message {
		m, fault := relay.Read([]byte(line))
		if fault != nil {
			t.Fatal(fault)
		}
		return m
	}
	asked := read(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"u:a"}}`)
	c, err := g.newCall(asked, &proxied.Request[kept]{ID: asked.ID}, methodOf(asked.Method))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.told.Start(t.Context())(); err != nil {
		t.Fatal(err)
	}
	g.tasks.add("t", c.later())
	const state = `{"taskId":"t","status":"completed","result":{"contents":[{"uri":"u:a","text":"SECRET"}]}}`
	const answer, refused = `{"jsonrpc":"2.0","id":2,"result":` + state + `}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"hookd: that is a secret"}}`
	var heard bytes.Buffer
	r := relay.New(relay.Options{
		Client:     relay.Stream{In: strings.NewReader(""), Out: &heard},
		Server:     relay.Stream{In: strings.NewReader(answer + "\n" + answer + "\n" + `{"jsonrpc":"2.0","method":"notifications/tasks","params":` + state + `}` + "\n"), Out: io.Discard},
		FromClient: func(*relay.Message) relay.Decision { return relay.Drop() },
		FromServer: func(m *relay.Message) relay.Decision {
			if m.Kind == relay.Response {
				return g.polled(m, "tasks/get", "t")
			}
			return g.told(m)
		},
	})
	r.Run()
	if heard.String() != refused+"\n"+refused+"\n" || len(told) != 1 || told[0] != "that is a secret" {
		t.Errorf("%s %q", &heard, told)
	}
}
