package mcp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// TestCalls: every way in which a tool can answer is something that a model can
// read.
func TestCalls(t *testing.T) {
	t.Parallel()
	s := newSetUp(t)
	s.Text = 1000
	servers := s.connect(t, itself(t, "good"))
	tests := map[string]struct{ args, want string }{
		"echo":       {`{"text":"<b>&","count":12345678901234567890}`, `{"text":"<b>&","count":12345678901234567890}`},
		"where":      {`{}`, s.dir + " good"},
		"fails":      {`{}`, "error: no such branch"},
		"refuses":    {`{}`, "badArgs: the MCP server t refused the args: count must be odd"},
		"breaks":     {`{}`, "failed: the MCP server t refused the call: disk on fire (code 0)"},
		"huge":       {`{}`, strings.Repeat("ü", 500) + "|[8387608 bytes of the result's text left out]"},
		"structured": {`{}`, `{"z":12345678901234567890,"a":[]}`},
		"asks":       {`{}`, "failed: the MCP server t answered what cannot be used: it asks for input from a person or a model, which hookd does not offer to servers"},
	}
	for name, test := range tests {
		if got := text(t, find(t, servers, "mcp__t__"+name), t.Context(), test.args); got != test.want {
			t.Errorf("%s: %.300q, want %.300q", name, got, test.want)
		}
	}
	if told := s.told.all(); len(told) > 0 {
		t.Errorf("told: %q", told)
	}
}

// TestDescriptions: the schema is what the server wrote, the kind and the server
// are what hooks match, and what a server says of its harmlessness is nowhere.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	s := newSetUp(t)
	server := itself(t, "good")
	server.Name = "My.Server__x"
	servers := s.connect(t, server)
	want := tool.Description{
		Name: "mcp__My_Server_x__echo", Description: "says it again", Schema: []byte(
			`{"type":"object","properties":{"text":{"type":"string"},"count":{"type":"integer","maximum":12345678901234567890}},"required":["text"]}`),
		Kind: protocol.KindMCP, Server: "My.Server__x",
	}
	if diff := cmp.Diff(want, find(t, servers, want.Name).Describe()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestStarts: how servers begin, and what is told of those that do not.
func TestStarts(t *testing.T) {
	tests := map[string]struct {
		tool    string // joins
		answers string
		told    string // one notice holds it
	}{
		"good":         {tool: "echo"},
		"banner":       {tool: "where"},
		"silent":       {tool: "old", answers: "from old"},
		"fragile":      {tool: "old", answers: "from old", told: "t runs again"},
		"batch":        {tool: "old", answers: "from old"},
		"many":         {tool: "tool0229", answers: "ok"},
		"never":        {told: "t does not start: it was not ready in time (400ms)"},
		"dies at once": {told: "t does not start: exit code 3; its last words: the variable KEY is not set; it is started again in 50ms"},
		"garbage":      {told: `t does not start: it wrote a line that is no message of MCP (`},
		"chatter":      {told: `writes other text than messages of MCP to its stdout: Loading module`},
		"endless":      {told: "t does not start: it wrote a line of more than 1000000 bytes: xxx"},
		"old":          {told: `it speaks another revision of MCP than hookd`},
		"too many":     {told: "t does not start: it lists more than 1000 tools"},
		"pages":        {told: "t does not start: its list of tools has more than 100 pages"},
	}
	for kind, test := range tests {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newSetUp(t)
			s.ProbeLimit, s.Message = 100*time.Millisecond, 1_000_000
			if s.StartLimit = 10 * time.Second; kind == "never" {
				s.StartLimit = 400 * time.Millisecond
			}
			began := time.Now()
			servers := s.connect(t, itself(t, kind))
			if took := time.Since(began); took > 100*time.Millisecond {
				t.Errorf("Connect took %s", took)
			}
			if test.told != "" {
				s.told.await(t, test.told)
			}
			if test.tool == "" {
				if list := servers.Tools(); len(list) > 0 {
					t.Errorf("%d tools", len(list))
				}
				return
			}
			joined := find(t, servers, "mcp__t__"+test.tool)
			if test.answers != "" {
				if got := text(t, joined, t.Context(), `{}`); got != test.answers {
					t.Errorf("%q, want %q", got, test.answers)
				}
			}
			if kind == "many" && len(servers.Tools()) != 230 {
				t.Errorf("%d tools", len(servers.Tools()))
			}
		})
	}
}

// TestGivenUp: a server that never works is told of when it begins to fail and
// when it is given up, and at no other time.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	s := newSetUp(t)
	s.Pause = 10 * time.Millisecond
	s.connect(t, itself(t, "dies at once"))
	s.told.await(t, "t is given up after 5 attempts: exit code 3")
	if told := s.told.all(); len(told) != 2 {
		t.Errorf("told: %q", told)
	}
}

// TestNoProgram: what cannot be started at all is told in the system's words.
func TestNoProgram(t *testing.T) {
	t.Parallel()
	s := newSetUp(t)
	s.connect(t, Server{Name: "t", Command: "/nowhere/server"})
	s.told.await(t, "no such file: /nowhere/server")
	none := Connect(t.Context(), []Server{{Name: "t", Command: "x"}}, Options{Notify: s.told.add})
	s.told.await(t, "programs cannot be started here")
	none.Close()
}

// TestOddTools: names become what models take, and what cannot be offered is
// told of and left out.
func TestOddTools(t *testing.T) {
	t.Parallel()
	s := newSetUp(t)
	servers := s.connect(t, itself(t, "odd tools"))
	if got := text(t, find(t, servers, "mcp__t__a_b"), t.Context(), `{}`); got != `[content of type "hologram", which is not shown]|seen` {
		t.Errorf("%q", got)
	}
	s.told.await(t, `left out: "a b" (another one is mcp__t__a_b already), number 3 of its list (it has no name), "bad" (tool mcp__t__bad: schema: `)
	var names []string
	for _, each := range servers.Tools() {
		names = append(names, each.Describe().Name)
	}
	want := []string{"mcp__t__a_b", "mcp__t__longlonglonglonglonglonglonglonglonglonglonglon_cc8458d7", "mcp__t_____"}
	if diff := cmp.Diff(want, names); diff != "" || len(names[1]) != 64 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const checkable = `{"patternProperties":{},"properties":{"a":{"type":"string"},"b":{"pattern":"^y"}},"type":"object"}`
	if d := servers.Tools()[2].Describe(); string(d.Schema) != checkable {
		t.Errorf("%s", d.Schema)
	}
	if d := servers.Tools()[1].Describe(); d.Description != "only a title" {
		t.Errorf("%+v", d)
	}
}

// TestUnusableNames: a tool whose name cannot be used is left out, with its server, its
// place and what to do; it keeps no other tool away, whatever stands in its place.
func TestUnusableNames(t *testing.T) {
	for written, want := range map[string]string{
		`{"name":5}`:                       `number 2 of its list (its name is 5, which is no text)`,
		`{"name":null}`:                    `number 2 of its list (it has no name)`,
		`{}`:                               `number 2 of its list (it has no name)`,
		`{"name":""}`:                      `number 2 of its list (it has no name)`,
		`{"name":["a"]}`:                   `number 2 of its list (its name is ["a"], which is no text)`,
		`{"name":{"a":1}}`:                 `number 2 of its list (its name is {"a":1}, which is no text)`,
		`{"name":true}`:                    `number 2 of its list (its name is true, which is no text)`,
		`5`:                                `number 2 of its list (it is no object but 5)`,
		`null`:                             `number 2 of its list (it is no object but null)`,
		`"close"`:                          `number 2 of its list (it is no object but "close")`,
		`{"name":"a\u001b[2Jb"}`:           `"a\x1b[2Jb" (its name holds characters that cannot be seen)`,
		`{"name":"a\u202eb"}`:              `"a\u202eb" (its name holds characters that cannot be seen)`,
		`{"name":"a\nb"}`:                  `"a\nb" (its name holds characters that cannot be seen)`,
		`{"name":"NAME"}`:                  `(its name has 129 characters, the most is 128)`,
		`{"name":"first"}`:                 `"first" (another one is mcp__t__first already)`,
		`{"name":"x","inputSchema":7}`:     `"x" (`,
		`{"name":"x","inputSchema":"any"}`: `"x" (`,
	} {
		t.Run(written, func(t *testing.T) {
			t.Parallel()
			s := newSetUp(t)
			written := strings.ReplaceAll(written, "NAME", strings.Repeat("n", 129))
			servers := s.connect(t, itself(t, "listing:"+written))
			s.told.await(t, "t has tools that are left out: ")
			var names []string
			for _, each := range servers.Tools() {
				names = append(names, each.Describe().Name)
			}
			if diff := cmp.Diff([]string{"mcp__t__first", "mcp__t__last"}, names); diff != "" {
				t.Errorf("(-want +got):\n%s\n%q", diff, s.told.all())
			}
			if told := s.told.all(); len(told) != 1 || !strings.Contains(told[0], want) {
				t.Errorf("told %q, want %q", told, want)
			}
			if got := text(t, find(t, servers, "mcp__t__last"), t.Context(), `{}`); got != "from old" {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestOddDescriptions: what only describes a tool and is no text does not keep it away.
func TestOddDescriptions(t *testing.T) {
	t.Parallel()
	s := newSetUp(t)
	servers := s.connect(t, itself(t, `listing:{"name":"odd","description":5,"title":["x"],"annotations":"none","icons":7,"inputSchema":{"type":"object"}}`))
	if got := text(t, find(t, servers, "mcp__t__odd"), t.Context(), `{}`); got != "from old" {
		t.Errorf("%q, told %q", got, s.told.all())
	}
}

// TestKeysAreNotSaid: a server that dies with its settings on its lips, or says them in an
// error, does not bring its keys onto the screen, into the record and to the model.
func TestKeysAreNotSaid(t *testing.T) {
	t.Parallel()
	s := newSetUp(t)
	server := itself(t, "tells its key")
	server.Env["API_KEY"], server.Env["REGION"] = "sk-CANARY-1", "europe-west-9"
	s.connect(t, server)
	s.told.await(t, "its last words: ")
	for _, told := range s.told.all() {
		if strings.Contains(told, "CANARY") || !strings.Contains(told, "(hidden)") || !strings.Contains(told, "europe-west-9") {
			t.Errorf("%s", told)
		}
	}
	web := Server{URL: "https://h/sse?key=canary-in-url", Headers: map[string]string{"Authorization": "Bearer canary-of-header"}}
	if got := web.withoutSecrets("401 of https://h/sse?key=canary-in-url: Bearer canary-of-header"); got != "401 of https://h/sse?key=(hidden): Bearer (hidden)" {
		t.Error(got)
	}
}

// TestSharedName: of two servers whose tools would have the same names only one
// is started.
func TestSharedName(t *testing.T) {
	t.Parallel()
	s := newSetUp(t)
	one, two := itself(t, "good"), itself(t, "good")
	one.Name, two.Name = "a.b", "a_b"
	s.connect(t, two, one)
	s.told.await(t, "a_b is not started: its tools would have the names of those of a.b")
}

// TestCancelled: a call ends at once with its context, and the server is told.
func TestCancelled(t *testing.T) {
	t.Parallel()
	s := newSetUp(t)
	call := find(t, s.connect(t, itself(t, "good")), "mcp__t__slow")
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	var stopped time.Time
	go func() {
		eventually(t, "call", func() bool { return exists(s.dir, "slow-began") })
		stopped = time.Now()
		cancel(enough)
	}()
	_, err := call.Run(ctx, []byte(`{}`))
	if took := time.Since(stopped); !errors.Is(err, enough) || took > 200*time.Millisecond {
		t.Errorf("%v after %s", err, took)
	}
	eventually(t, "word to the server", func() bool { return exists(s.dir, "slow-cancelled") })
	if got := text(t, call.(*remoteTool).sibling(t, "echo"), t.Context(), `{"text":"on"}`); got != `{"text":"on"}` {
		t.Errorf("the connection goes on: %q", got)
	}
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// sibling is another tool of the same server.
func (t *remoteTool) sibling(tb *testing.T, name string) tool.Tool {
	for _, other := range t.supervisor.toolList() {
		if other.(*remoteTool).name == name {
			return other
		}
	}
	tb.Fatal("no tool " + name)
	return nil
}

// TestProgress: what a server says of a call's progress is shown while it runs.
func TestProgress(t *testing.T) {
	t.Parallel()
	s := newSetUp(t)
	call := find(t, s.connect(t, itself(t, "good")), "mcp__t__progress")
	var mu sync.Mutex
	var shown []string
	ctx := tool.WithOutput(t.Context(), func(text string) {
		mu.Lock()
		defer mu.Unlock()
		shown = append(shown, text)
	})
	if got := text(t, call, ctx, `{}`); got != "read" {
		t.Errorf("%q", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff([]string{"[1/3] reading\n", "[2/3] reading\n", "[3/3] reading\n"}, shown); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDeath: calls of a server that dies end at once and say how it ended; it is
// told of once, comes back, and the same tool works again.
func TestDeath(t *testing.T) {
	t.Parallel()
	s := newSetUp(t)
	s.Pause = 300 * time.Millisecond
	servers := s.connect(t, itself(t, "good"))
	dies, slow := find(t, servers, "mcp__t__dies"), find(t, servers, "mcp__t__slow")
	pending := make(chan string, 1)
	go func() { pending <- text(t, slow, t.Context(), `{}`) }()
	eventually(t, "call", func() bool { return exists(s.dir, "slow-began") })
	began := time.Now()
	const want = "failed: the MCP server t gave no result: exit code 7; its last words: out of memory"
	if got := text(t, dies, t.Context(), `{}`); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := <-pending; got != want {
		t.Errorf("pending: %q", got)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("took %s", took)
	}
	s.told.await(t, "t has ended: exit code 7; its last words: out of memory; it is started again in 300ms")
	if got := text(t, dies, t.Context(), `{}`); got != "failed: the MCP server t does not run: exit code 7; its last words: out of memory; it is started again" {
		t.Errorf("meanwhile: %q", got)
	}
	s.told.await(t, "t runs again")
	if got := text(t, find(t, servers, "mcp__t__fails"), t.Context(), `{}`); got != "error: no such branch" {
		t.Errorf("after: %q", got)
	}
	if told := s.told.all(); len(told) != 2 {
		t.Errorf("told: %q", told)
	}
}

// TestListChanges: a tool that joins later is offered.
func TestListChanges(t *testing.T) {
	t.Parallel()
	s := newSetUp(t)
	servers := s.connect(t, itself(t, "good"))
	text(t, find(t, servers, "mcp__t__grows"), t.Context(), `{}`)
	if got := text(t, find(t, servers, "mcp__t__grown"), t.Context(), `{}`); got != "new" {
		t.Errorf("%q", got)
	}
}

// TestClose: a server that clings to life ends all the same, with everything it
// started, and a call in flight ends with it.
func TestClose(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux is a process that leaves its session held, and found in /proc")
	}
	s := newSetUp(t)
	servers := s.connect(t, itself(t, "clings"))
	slow := find(t, servers, "mcp__t__slow")
	pending := make(chan string, 1)
	go func() { pending <- text(t, slow, t.Context(), `{}`) }()
	eventually(t, "call", func() bool { return exists(s.dir, "slow-began") })
	if n := len(s.survivors()); n != 3 {
		t.Errorf("%d processes: %v", n, s.survivors())
	}
	began := time.Now()
	servers.Close()
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %s", took)
	}
	if got := <-pending; got != "failed: the MCP server t gave no result: the run is over" {
		t.Errorf("pending: %q", got)
	}
	if left := s.survivors(); len(left) > 0 {
		t.Errorf("survivors: %v", left)
	}
}

// TestStuck: a server that does not read blocks neither a call beyond its
// context nor the end.
func TestStuck(t *testing.T) {
	t.Parallel()
	s := newSetUp(t)
	servers := s.connect(t, itself(t, "stuck"))
	call := find(t, servers, "mcp__t__old")
	args := `{"text":"` + strings.Repeat("x", 10_000) + `"}`
	var calls sync.WaitGroup
	for range 40 {
		calls.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			began := time.Now()
			if got := text(t, call, ctx, args); got != "ended: context deadline exceeded" || time.Since(began) > time.Second {
				t.Errorf("%q after %s", got, time.Since(began))
			}
		})
	}
	calls.Wait()
}

// TestSettle: waiting for servers ends with the slowest, or at the limit.
func TestSettle(t *testing.T) {
	t.Parallel()
	s := newSetUp(t)
	servers := s.connect(t, itself(t, "good"))
	if late := servers.WaitStarted(t.Context(), 10*time.Second); len(servers.Tools()) == 0 || len(late) > 0 {
		t.Errorf("%d tools, late: %q", len(servers.Tools()), late)
	}
	never := itself(t, "never")
	slower := s.connect(t, never)
	began := time.Now()
	if late := slower.WaitStarted(t.Context(), 300*time.Millisecond); !slices.Equal(late, []string{"t"}) {
		t.Errorf("late: %q", late)
	}
	if took := time.Since(began); took > 500*time.Millisecond || took < 250*time.Millisecond {
		t.Errorf("took %s", took)
	}
}
