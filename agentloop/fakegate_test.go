package agentloop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"go.uber.org/goleak"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hook is a hook that answers in process. Its answers go through the real fold.
type hook struct {
	on      protocol.EventName
	name    string // default h
	layer   protocol.Layer
	rule    protocol.Rule
	times   int // answers only so often; 0: always
	reply   protocol.Reply
	failure protocol.FailureKind
	byExit  bool
	dynamic func(protocol.Event) protocol.Reply
}

// fakeGate asks hooks and folds their answers as the executor does.
type fakeGate struct {
	hooks   []hook
	goHooks []protocol.GoHook // of providers; asked first

	mu     sync.Mutex
	fired  []protocol.Event
	asked  map[int]int
	states map[string]protocol.RawMessage // of Go hooks

	before func(n int, e protocol.Event) error // before the hooks; an error is what Fire returns
	after  func(n int, e protocol.Event)       // with the outcome ready
	holds  bool                                // hooks may change events
	only   protocol.EventName                  // of this name; "": of all
}

func (g *fakeGate) MayChange(e protocol.Event) bool {
	return g.holds && (g.only == "" || g.only == e.Event)
}

func (g *fakeGate) Begin(ctx context.Context, e protocol.Event) func() (protocol.Outcome, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fired = append(g.fired, e)
	n := len(g.fired)
	return func() (protocol.Outcome, error) { return g.decide(ctx, n, e) }
}

func (g *fakeGate) decide(ctx context.Context, n int, e protocol.Event) (protocol.Outcome, error) {
	if g.before != nil {
		if err := g.before(n, e); err != nil {
			return protocol.Outcome{}, err
		}
	}
	if ctx.Err() != nil {
		return protocol.Outcome{}, ctx.Err()
	}
	fold := protocol.Begin(e, protocol.FoldOptions{Generation: 1})
	for i := range g.goHooks {
		if h := &g.goHooks[i]; slices.Contains(h.Events, e.Event) && !fold.Closed() {
			fold, _ = fold.Add(g.askGo(ctx, h, fold.Event()))
		}
	}
	for i, h := range g.hooks {
		if h.on == e.Event && g.take(i, h) && !fold.Closed() {
			fold, _ = fold.Add(h.answer(e))
		}
	}
	if g.after != nil {
		g.after(n, e)
	}
	return fold.Outcome(), nil
}

// Extend lets providers' hooks join. A fake gate has one loop, so the gate itself
// takes them.
func (g *fakeGate) Extend(hooks ...protocol.GoHook) (protocol.EventGate, error) {
	g.goHooks = append(g.goHooks, hooks...)
	return g, nil
}

func (g *fakeGate) CallbackResult(string, string, protocol.HookRef) func(string) { return nil }

func (g *fakeGate) askGo(ctx context.Context, h *protocol.GoHook, e protocol.Event) protocol.Answer {
	g.mu.Lock()
	e.State = g.states[h.Name]
	g.mu.Unlock()
	a := protocol.Answer{HookInfo: protocol.HookInfo{
		Name: h.Name, Layer: cmp.Or(h.Layer, protocol.Builtin), Class: cmp.Or(h.Can, protocol.CanModify), Rule: h.OnFailure,
	}}
	reply, err := h.Func(ctx, &e)
	if err != nil {
		a.Failure = &protocol.Failure{Kind: protocol.FailExit, Detail: err.Error()}
		return a
	}
	if reply.State != nil {
		g.mu.Lock()
		if g.states == nil {
			g.states = map[string]protocol.RawMessage{}
		}
		g.states[h.Name] = reply.State
		g.mu.Unlock()
	}
	a.Reply = &reply
	return a
}

func (g *fakeGate) take(i int, h hook) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.asked == nil {
		g.asked = map[int]int{}
	}
	g.asked[i]++
	return h.times == 0 || g.asked[i] <= h.times
}

func (h hook) answer(e protocol.Event) protocol.Answer {
	if h.name == "" {
		h.name = "h"
	}
	a := protocol.Answer{HookInfo: protocol.HookInfo{Name: h.name, Layer: h.layer, Class: protocol.CanModify, Rule: h.rule}}
	if a.Layer == "" {
		a.Layer = protocol.Project
	}
	if h.failure != "" {
		a.Failure = &protocol.Failure{Kind: h.failure, Detail: "SECRET-DETAIL"}
		return a
	}
	if h.dynamic != nil {
		h.reply = h.dynamic(e)
	}
	a.Reply, a.ByExit = &h.reply, h.byExit
	return a
}

// names are the names of the events that were fired, in order.
func (g *fakeGate) names() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []string
	for _, e := range g.fired {
		list = append(list, string(e.Event))
	}
	return list
}

func (g *fakeGate) count(names ...protocol.EventName) int {
	n := 0
	for _, fired := range g.names() {
		for _, name := range names {
			if fired == string(name) {
				n++
			}
		}
	}
	return n
}

// data decodes the data of the nth event of a name, counted from 0.
func fired[T any](t *testing.T, g *fakeGate, name protocol.EventName, n int) T {
	t.Helper()
	var data T
	for _, e := range g.fired {
		if e.Event != name {
			continue
		}
		if n == 0 {
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatal(err)
			}
			return data
		}
		n--
	}
	t.Fatalf("%s was not fired often enough in %v", name, g.names())
	return data
}

// recordingModel is a model that keeps what it was sent.
type recordingModel struct {
	model.Model
	mu       sync.Mutex
	requests []model.Request
}

func (s *recordingModel) Generate(ctx context.Context, r model.Request) iter.Seq2[model.Chunk, error] {
	s.mu.Lock()
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	return s.Model.Generate(ctx, r)
}

// sent is what the model was sent in call n, as text.
func (s *recordingModel) sent(n int) string {
	if n >= len(s.requests) {
		return ""
	}
	return render(s.requests[n].System, s.requests[n].Messages)
}

// render is a conversation as text, one message a line.
func render(system string, messages []protocol.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "system: %s\n", system)
	for _, m := range messages {
		fmt.Fprintf(&b, "%s:", m.Role)
		for _, p := range m.Content {
			switch p.Type {
			case protocol.PartToolCall:
				fmt.Fprintf(&b, " call %s %s %s", p.ToolCallID, p.Name, p.Args)
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

// fakeTool says what it was given. It can take time and fail.
type fakeTool struct {
	name string
	kind protocol.ToolKind
	run  func(ctx context.Context, args string) (protocol.Result, error)

	mu   sync.Mutex
	runs []string
}

func (f *fakeTool) Describe() tool.Description {
	return tool.Description{Kind: f.kind, Name: f.name, Description: "says what it was given",
		Schema: protocol.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`)}
}

func (f *fakeTool) Run(ctx context.Context, args protocol.RawMessage) (protocol.Result, error) {
	var decoded struct{ Text string }
	if err := json.Unmarshal(args, &decoded, json.MatchCaseInsensitiveNames(true)); err != nil {
		return protocol.Result{}, err
	}
	f.mu.Lock()
	f.runs = append(f.runs, decoded.Text)
	f.mu.Unlock()
	if f.run != nil {
		return f.run(ctx, decoded.Text)
	}
	return protocol.Result{Content: protocol.TextContent("echo " + decoded.Text)}, nil
}

func (f *fakeTool) ran() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string{}, f.runs...)
}

// twoSteps is a model that calls one tool and is done.
const twoSteps = `
turns:
- thinking: hm
  text: first answer
  toolCalls: [{id: c1, name: echo, args: {text: hi}}]
  usage: {inputTokens: 10, outputTokens: 2}
- text: final answer
  usage: {inputTokens: 20, outputTokens: 3}
- text: forced answer 1
- text: forced answer 2
- text: forced answer 3
`

// fakeLoop is a loop with everything around it faked.
type fakeLoop struct {
	gate  *fakeGate
	model *recordingModel
	tool  *fakeTool
	loop  *Loop

	updates []Update
	before  int // events fired before the prompt
	run     *Run
	err     error
}

func newFakeLoop(t *testing.T, script string, hooks []hook, options ...func(*Options)) *fakeLoop {
	t.Helper()
	scripted, err := model.Parse("script.yaml", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	s := &fakeLoop{
		gate:  &fakeGate{hooks: hooks, holds: true},
		model: &recordingModel{Model: scripted},
		tool:  &fakeTool{name: "echo", kind: protocol.KindOther},
	}
	o := Options{Gate: s.gate, Model: s.model, Tools: []tool.Tool{s.tool}, System: "be good", Project: "/project"}
	for _, option := range options {
		option(&o)
	}
	if s.loop, err = New(o); err != nil {
		t.Fatal(err)
	}
	return s
}

// prompt runs one prompt to its end.
func (s *fakeLoop) prompt(t *testing.T, ctx context.Context, text string) *fakeLoop {
	t.Helper()
	before := len(s.gate.names())
	run, err := s.loop.Run(ctx, text)
	if err != nil {
		t.Fatal(err)
	}
	s.run = run
	s.before = before
	for u := range run.Events() {
		s.updates = append(s.updates, u)
	}
	s.err = run.Wait()
	s.check(t)
	return s
}

// check asserts what holds on every route.
func (s *fakeLoop) check(t *testing.T) {
	t.Helper()
	for n, e := range s.gate.fired { // also what runs side by side, and without a gap
		if e.Seq == nil || *e.Seq != *s.gate.fired[0].Seq+int64(n) {
			t.Fatalf("%s, the event %d, is out of order", e.Event, n+1)
		}
		if err := protocol.CheckEvent(&e); err != nil {
			t.Errorf("%s: %v", e.Event, err)
		}
	}
	shown := map[string]int{}
	for _, u := range s.updates {
		if u.Kind == UpdateEvent {
			shown[u.Event.ID]++
		}
	}
	// What was cut while its hooks were asked was not decided, and is not shown.
	whole := s.err == nil && s.run.Result().StopReason != "time"
	for _, e := range s.gate.fired[s.before:] {
		if whole && shown[e.ID] != 1 && e.Event != protocol.SessionEnd {
			t.Errorf("%s (%d) was shown %d times", e.Event, *e.Seq, shown[e.ID])
		}
	}
	if before, after := s.gate.count(protocol.ToolCallStart), s.gate.count(protocol.ToolCallEnd, protocol.ToolCallError); before != after {
		t.Errorf("%d events before tool calls, %d after: %v", before, after, s.gate.names())
	}
	CheckPaired(t, s.loop.Messages())
}

// CheckPaired asserts that each tool call has exactly one result after it. The tests with
// the real executor use it, too.
func CheckPaired(t *testing.T, messages []protocol.Message) {
	t.Helper()
	open := map[string]int{}
	for _, m := range messages {
		if len(m.Content) == 0 {
			t.Errorf("message %s is empty", m.ID)
		}
		for _, p := range m.Content {
			switch p.Type {
			case protocol.PartToolCall:
				open[p.ToolCallID]++
			case protocol.PartToolResult:
				open[p.ToolCallID]--
				if open[p.ToolCallID] != 0 {
					t.Errorf("the result of %s has no call before it", p.ToolCallID)
				}
			}
		}
	}
	for id, n := range open {
		if n != 0 {
			t.Errorf("call %s has %d results too few:\n%s", id, n, render("", messages))
		}
	}
}

// ending is the run's last word: its event, reason or cause, and hook.
func (s *fakeLoop) ending() string {
	for i := len(s.gate.fired) - 1; i >= 0; i-- {
		switch e := s.gate.fired[i]; e.Event {
		case protocol.AgentEnd:
			var d protocol.AgentEndData
			json.Unmarshal(e.Data, &d)
			return "agent-end " + d.StopReason
		case protocol.AgentError:
			var d protocol.AgentErrorData
			json.Unmarshal(e.Data, &d)
			return "agent-error " + d.Cause
		}
	}
	return "none"
}

// shown is all text that was shown on the channel.
func (s *fakeLoop) shown() string {
	var b strings.Builder
	for _, u := range s.updates {
		fmt.Fprintf(&b, "%s %s %s\n", u.Event.Event, u.Delta.Text, u.Event.Data)
	}
	return b.String()
}

func raw(format string, args ...any) protocol.RawMessage {
	return protocol.RawMessage(fmt.Sprintf(format, args...))
}

// fakePerson answers each question the same.
type fakePerson struct {
	option string
	wait   time.Duration
	asked  []Question
}

func (p *fakePerson) Approve(ctx context.Context, q Question) (Answer, error) {
	p.asked = append(p.asked, q)
	if p.wait > 0 {
		select {
		case <-time.After(p.wait):
		case <-ctx.Done():
			return Answer{}, ctx.Err()
		}
	}
	if p.option == "" {
		return Answer{}, errors.New("no terminal")
	}
	return Answer{OptionID: p.option}, nil
}
