package agentloop_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/recipe"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
)

// executorLoop is a loop with the real executor as its gate.
type executorLoop struct {
	gate    *recorder
	model   *actingModel
	loop    *agentloop.Loop
	updates []agentloop.Update
	result  agentloop.Result
	err     error
	checked int // events that check has compared with their table
}

// recorder keeps what was fired through a gate.
type recorder struct {
	gate   protocol.EventGate
	before func(n int, e protocol.Event)
	after  func(n int, e protocol.Event)

	mu    sync.Mutex
	fired []protocol.Event
}

func (r *recorder) Begin(ctx context.Context, e protocol.Event) func() (protocol.Outcome, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fired = append(r.fired, e)
	n := len(r.fired)
	decide := r.gate.Begin(ctx, e)
	return func() (protocol.Outcome, error) {
		if r.before != nil {
			r.before(n, e)
		}
		outcome, err := decide()
		if r.after != nil {
			r.after(n, e)
		}
		return outcome, err
	}
}

// MayChange returns true, so that whatever hooks may change is held back.
func (r *recorder) MayChange(protocol.Event) bool { return true }

func (r *recorder) Extend(hooks ...protocol.GoHook) (protocol.EventGate, error) {
	extended, err := r.gate.Extend(hooks...)
	r.gate = extended
	return r, err
}

func (r *recorder) CallbackResult(session, agent string, hook protocol.HookRef) func(text string) {
	return r.gate.CallbackResult(session, agent, hook)
}

// of are the events of a name, all agents' if agent is "".
func (r *recorder) of(name protocol.EventName, agent string) []protocol.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []protocol.Event
	for _, e := range r.fired {
		if e.Event == name && (agent == "" || e.Agent.ID == agent) {
			list = append(list, e)
		}
	}
	return list
}

// names are the events in order, those of other agents than main indented by
// their depth; notices of streaming are left out.
func (r *recorder) names() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, e := range r.fired {
		switch e.Event {
		case protocol.MessageStart, protocol.MessageEnd, protocol.ThinkingStart, protocol.ThinkingEnd:
		default:
			list = append(list, strings.Repeat(">", e.Agent.Depth)+string(e.Event))
		}
	}
	return strings.Join(list, " ")
}

func unmarshal(data protocol.RawMessage, into any) error {
	return json.Unmarshal(data, into, json.MatchCaseInsensitiveNames(true))
}

func dataOf[T any](t *testing.T, e protocol.Event) T {
	t.Helper()
	var data T
	if err := json.Unmarshal(e.Data, &data); err != nil {
		t.Fatal(err)
	}
	return data
}

// turn is what an actor answers.
type turn struct {
	text    string
	calls   []protocol.Part
	context int64 // tokens of 1,000; 0: not told
	finish  string
	fail    error
	hang    bool
}

// actingModel is a model that answers by what it is asked, so that agents side by side
// each get theirs.
type actingModel struct {
	act func(n int, r model.Request) turn

	mu       sync.Mutex
	requests []model.Request
}

func (a *actingModel) Name() string { return "actor" }

func (a *actingModel) Generate(ctx context.Context, r model.Request) iter.Seq2[model.Chunk, error] {
	a.mu.Lock()
	a.requests = append(a.requests, r)
	n := len(a.requests)
	a.mu.Unlock()
	return func(yield func(model.Chunk, error) bool) {
		t := a.act(n, r)
		if t.hang {
			<-ctx.Done()
		}
		if ctx.Err() != nil {
			yield(model.Chunk{}, context.Cause(ctx))
			return
		}
		if t.text != "" && !yield(model.Chunk{Type: model.Text, Text: t.text}, nil) {
			return
		}
		for _, call := range t.calls {
			if !yield(model.Chunk{Type: model.PartDone, Part: call}, nil) {
				return
			}
		}
		if t.fail != nil {
			yield(model.Chunk{}, t.fail)
			return
		}
		input, output, limit, cost := int64(10), int64(2), int64(1000), 0.5
		usage := &protocol.CallUsage{InputTokens: &input, OutputTokens: &output, CostUSD: &cost}
		if t.context > 0 {
			usage.ContextTokens, usage.ContextMax = &t.context, &limit
		}
		if t.finish == "" {
			t.finish = "stop"
			if len(t.calls) > 0 {
				t.finish = "tools"
			}
		}
		if yield(model.Chunk{Type: model.Usage, Usage: usage}, nil) {
			yield(model.Chunk{Type: model.Finish, Reason: t.finish}, nil)
		}
	}
}

// sent is all that the model was sent, one call a paragraph.
func (a *actingModel) sent() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var b strings.Builder
	for i, r := range a.requests {
		fmt.Fprintf(&b, "call %d\n%s\n", i+1, rendered(r.Messages))
	}
	return b.String()
}

// rendered is a conversation as text, one message a line.
func rendered(messages []protocol.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%s:", m.Role)
		for _, p := range m.Content {
			switch p.Type {
			case protocol.PartToolCall:
				fmt.Fprintf(&b, " call %s", p.ToolCallID)
			case protocol.PartToolResult:
				fmt.Fprintf(&b, " result %s error=%v %q", p.ToolCallID, p.IsError, p.Content.Text())
			default:
				fmt.Fprintf(&b, " %q", p.Text)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// last is the text of the last message that a request holds.
func last(r model.Request) string {
	m := r.Messages[len(r.Messages)-1]
	if m.Role == protocol.RoleTool {
		return "tool result"
	}
	return m.Content.Text()
}

// inTurn is an acting model's part of fixed turns; after them it is done.
func inTurn(turns ...turn) func(int, model.Request) turn {
	return func(n int, _ model.Request) turn {
		if n > len(turns) {
			return turn{text: fmt.Sprintf("answer %d", n)}
		}
		return turns[n-1]
	}
}

func calling(id, name, args string) protocol.Part {
	return protocol.Part{Type: protocol.PartToolCall, ToolCallID: id, Name: name, Args: protocol.RawMessage(args)}
}

// echo is a tool that says what it was given.
type echoArgs struct {
	Text string `json:"text"`
}

func echo(name string) tool.Tool {
	return tool.New(tool.Description{Name: name, Description: "says it again", Kind: protocol.KindRead},
		func(_ context.Context, a echoArgs) (protocol.Result, error) {
			return protocol.Result{Content: protocol.TextContent("echo " + a.Text)}, nil
		})
}

// asHook is a Go hook of the project that answers n times, ever if n is 0.
func asHook(name string, n int, on protocol.EventName, answer func(ev *protocol.Event) (protocol.Reply, error)) protocol.GoHook {
	var mu sync.Mutex
	asked := 0
	return protocol.GoHook{Name: name, Layer: protocol.Project, Events: []protocol.EventName{on}, Can: protocol.CanModify,
		Func: func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			mu.Lock()
			asked++
			over := n > 0 && asked > n
			mu.Unlock()
			if over {
				return protocol.Reply{}, nil
			}
			return answer(ev)
		}}
}

func replies(name string, n int, on protocol.EventName, reply protocol.Reply) protocol.GoHook {
	return asHook(name, n, on, func(*protocol.Event) (protocol.Reply, error) { return reply, nil })
}

// wants is a hook that asks for a recipe once.
func wants(name string, on protocol.EventName, recipe string, as protocol.CallbackAs) protocol.GoHook {
	return replies(name, 1, on, protocol.Reply{Action: protocol.Callback, Callback: &protocol.CallbackCall{Name: recipe, As: as}})
}

// recipes are those of the tests besides compact.
func recipes(t *testing.T) *recipe.Library {
	t.Helper()
	library, findings := recipe.New(
		recipe.File{Name: "judge", Path: "/r/judge.md", Layer: protocol.Project, Text: []byte("JUDGE this")},
		recipe.File{Name: "look", Path: "/r/look.md", Layer: protocol.Project,
			Text: []byte("---\nallowed_tools: [echo]\narguments:\n- name: what\n  required: true\n---\nLOOK at {{what}}")},
	)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	return library
}

func newExecutorLoop(t *testing.T, act func(int, model.Request) turn, hooks []protocol.GoHook, options ...func(*agentloop.Options)) *executorLoop {
	t.Helper()
	gate, err := executor.Static(hooks...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { gate.Close(context.WithoutCancel(t.Context())) })
	s := &executorLoop{gate: &recorder{gate: gate}, model: &actingModel{act: act}}
	o := agentloop.Options{
		Gate: s.gate, Model: s.model, System: "be good", Project: "/project", Tools: []tool.Tool{echo("echo"), echo("other")},
		Providers:  append(builtin.Defaults(), builtin.Compact(""), builtin.SubAgents()),
		Recipes:    recipes(t),
		Compaction: agentloop.Compaction{Compaction: protocol.Compaction{Auto: true, Threshold: 0.8}, KeepFirst: 1},
	}
	for _, option := range options {
		option(&o)
	}
	if s.loop, err = agentloop.New(o); err != nil {
		t.Fatal(err)
	}
	return s
}

// follow reads a run to its end and checks what holds on every route.
func (s *executorLoop) follow(t *testing.T, run *agentloop.Run, err error) *executorLoop {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for u := range run.Events() {
		s.updates = append(s.updates, u)
	}
	s.err, s.result = run.Wait(), run.Result()
	s.check(t)
	return s
}

func (s *executorLoop) prompt(t *testing.T, ctx context.Context, text string) *executorLoop {
	t.Helper()
	run, err := s.loop.Run(ctx, text)
	return s.follow(t, run, err)
}

func (s *executorLoop) check(t *testing.T) {
	t.Helper()
	seqs := map[int64]bool{}
	open := map[string]int{}
	for i, e := range s.gate.fired {
		if e.Seq == nil || seqs[*e.Seq] {
			t.Fatalf("%s has no number of its own", e.Event)
		}
		seqs[*e.Seq] = true
		if i >= s.checked { // the others were checked after an earlier run
			if err := protocol.CheckEvent(&e); err != nil {
				t.Errorf("%s: %v", e.Event, err)
			}
		}
		if e.Session.ID != s.loop.Session().ID {
			t.Errorf("%s is of session %s", e.Event, e.Session.ID)
		}
		switch e.Event {
		case protocol.AgentStart, protocol.SubagentStart, protocol.ToolCallStart:
			open[string(e.Event)+e.Agent.ID]++
		case protocol.AgentEnd, protocol.AgentError:
			open[string(protocol.AgentStart)+e.Agent.ID]--
		case protocol.SubagentStop:
			open[string(protocol.SubagentStart)+e.Agent.ID]--
		case protocol.ToolCallEnd, protocol.ToolCallError:
			open[string(protocol.ToolCallStart)+e.Agent.ID]--
		}
	}
	s.checked = len(s.gate.fired)
	for what, n := range open {
		if strings.HasPrefix(what, string(protocol.ToolCallStart)) && n != 0 {
			t.Errorf("%s: %d too few ends: %s", what, n, s.gate.names())
		}
	}
	agentloop.CheckPaired(t, s.loop.Messages())
}

// told are the texts of the notifications.
func (s *executorLoop) told(t *testing.T) string {
	t.Helper()
	var list []string
	for _, e := range s.gate.of(protocol.Notification, "") {
		list = append(list, dataOf[protocol.NotificationData](t, e).Text)
	}
	return strings.Join(list, "\n")
}

// ending is the last word of the top agent.
func (s *executorLoop) ending(t *testing.T) string {
	t.Helper()
	ends := append(s.gate.of(protocol.AgentEnd, "main"), s.gate.of(protocol.AgentError, "main")...)
	if len(ends) == 0 {
		return "none"
	}
	e := ends[len(ends)-1]
	if e.Event == protocol.AgentEnd {
		return "agent-end " + dataOf[protocol.AgentEndData](t, e).StopReason
	}
	return "agent-error " + dataOf[protocol.AgentErrorData](t, e).Cause
}

// noProviders leaves the loop without its limits.
func noProviders(o *agentloop.Options) { o.NoDefaults, o.Providers = true, nil }
