package daemon

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
)

// fake is an engine whose one hook, guard.sh, does what the event tells it to:
// a tool call's args.command, an agent's response, a notification's text.
type fake struct {
	project    string
	generation atomic.Int64
	changed    chan struct{}
	begin      func(event protocol.Event) (end func()) // called as each event begins; may be nil

	mu     sync.Mutex
	fired  []protocol.Event
	closed int
}

func newFake(project string) *fake {
	f := &fake{project: project, changed: make(chan struct{}, 1)}
	f.generation.Store(1)
	return f
}

// opener opens an engine for each project, and keeps it.
type opener struct {
	mu      sync.Mutex
	engines map[string][]*fake
	slow    time.Duration
	begin   func(event protocol.Event) (end func())
}

func (o *opener) open(ctx context.Context, project, _ string) (Engine, error) {
	if err := sleep(ctx, o.slow); err != nil {
		return nil, err
	}
	if strings.Contains(project, "missing") {
		return nil, errors.New("no such folder")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.engines == nil {
		o.engines = map[string][]*fake{}
	}
	f := newFake(project)
	f.begin = o.begin
	o.engines[project] = append(o.engines[project], f)
	return f, nil
}

func (o *opener) of(project string) []*fake {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.engines[project]
}

var guard = "guard.sh"

func (f *fake) Fire(ctx context.Context, event protocol.Event, progress Progress) (protocol.Outcome, error) {
	f.mu.Lock()
	f.fired = append(f.fired, event)
	f.mu.Unlock()
	if f.begin != nil {
		defer f.begin(event)()
	}
	progress.Started(guard, protocol.Project)
	out := protocol.Outcome{Action: protocol.Observe, Event: event, Generation: f.generation.Load()}
	word, rest, _ := strings.Cut(commandOf(event.Data), " ")
	out.Reason = rest
	switch word {
	case "block", "ask", "continue", "stop":
		out.Action, out.By = protocol.Action(word), &guard
		if word == "continue" {
			out.Messages = []protocol.Message{{Role: protocol.RoleUser, Content: protocol.TextContent("more")}}
		}
	case "callback":
		out.Action, out.By = protocol.Callback, &guard
		out.Callback = &protocol.CallbackCall{Name: "compact", By: guard}
	case "modify":
		out.Action, out.By = protocol.Modify, &guard
		out.Event.Data = protocol.RawMessage(strings.Replace(string(event.Data), `"command":"modify `, `"command":"`, 1))
	case "sleep":
		d, err := time.ParseDuration(rest)
		if err != nil {
			panic(err)
		}
		if err := sleep(ctx, d); err != nil {
			return protocol.Outcome{}, err
		}
	case "wait":
		<-ctx.Done()
		return protocol.Outcome{}, context.Cause(ctx)
	case "panic":
		panic("the engine is broken")
	}
	progress.Finished(protocol.Run{Hook: guard, Source: protocol.Project, Class: protocol.CanModify, Mode: protocol.Enforce, Action: out.Action, Rule: protocol.RuleContinue})
	return out, ctx.Err()
}

func commandOf(data protocol.RawMessage) string {
	var d struct {
		Text     string `json:"text"`
		Response string `json:"response"`
		Args     struct {
			Command string `json:"command"`
		} `json:"args"`
	}
	_ = json.Unmarshal(data, &d)
	return d.Args.Command + d.Response + d.Text
}

func (f *fake) List() Listing {
	l := Describe(&executor.Set{Generation: f.generation.Load(), Project: f.project}, nil)
	l.Hooks = []Listed{{Name: guard, Source: protocol.Project, Status: executor.Ready, Order: 1}}
	return l
}

func (f *fake) Reload(ctx context.Context) error {
	f.generation.Add(1)
	select {
	case f.changed <- struct{}{}:
	default:
	}
	return nil
}

func (f *fake) Changed() <-chan struct{} { return f.changed }

func (f *fake) Close(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
	return nil
}

func (f *fake) events() []protocol.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]protocol.Event(nil), f.fired...)
}
