package builtin_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
)

// conversation is a loop with the real executor, a scripted model, and what came of it.
type conversation struct {
	t        *testing.T
	options  agentloop.Options
	loop     *agentloop.Loop
	executor *executor.Executor
	model    *listener

	yields []agentloop.Update
}

// listener is a model that keeps what it was sent.
type listener struct {
	*model.Scripted
	requests []model.Request
}

func (l *listener) Generate(ctx context.Context, r model.Request) iter.Seq2[model.Chunk, error] {
	l.requests = append(l.requests, r)
	return l.Scripted.Generate(ctx, r)
}

// newConversation makes a loop of the script and the providers.
func newConversation(t *testing.T, script string, providers []provider.Provider, change ...func(*agentloop.Options)) *conversation {
	t.Helper()
	scripted, err := model.Parse("script.yaml", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	set, err := executor.StaticSet()
	if err != nil {
		t.Fatal(err)
	}
	tk := &conversation{t: t, executor: executor.New(set, executor.Options{}), model: &listener{Scripted: scripted}}
	tk.options = agentloop.Options{Gate: tk.executor, Model: tk.model, Providers: providers, NoDefaults: true}
	for _, c := range change {
		c(&tk.options)
	}
	if tk.loop, err = agentloop.New(tk.options); err != nil {
		t.Fatal(err)
	}
	return tk
}

// say runs a prompt to its end, which must be a regular one.
func (tk *conversation) say(prompt string) {
	tk.t.Helper()
	run, err := tk.loop.Run(tk.t.Context(), prompt)
	if err != nil {
		tk.t.Fatal(err)
	}
	for y := range run.Events() {
		tk.yields = append(tk.yields, y)
	}
	if err := run.Wait(); err != nil {
		tk.t.Fatal(err)
	}
}

// notices are what the person read of a hook, in order.
func (tk *conversation) notices(hook string) []string {
	list := []string{}
	for _, y := range tk.yields {
		for _, n := range y.Outcome.Notices {
			if n.Hook == hook {
				list = append(list, n.Text)
			}
		}
	}
	return list
}

// fired is how often an event was fired.
func (tk *conversation) fired(name protocol.EventName) (n int) {
	for _, y := range tk.yields {
		if y.Kind == agentloop.UpdateEvent && y.Event.Event == name {
			n++
		}
	}
	return n
}

// sent is what the model was sent in call n, counted from 0, as text.
func (tk *conversation) sent(n int) string {
	tk.t.Helper()
	if n >= len(tk.model.requests) {
		tk.t.Fatalf("the model was called %d times", len(tk.model.requests))
	}
	return render(tk.model.requests[n].Messages)
}

// render is a conversation as text.
func render(messages []protocol.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%s:\n", m.Role)
		for _, p := range m.Content {
			switch p.Type {
			case protocol.PartToolCall:
				fmt.Fprintf(&b, "call %s %s\n", p.Name, p.Args)
			case protocol.PartToolResult:
				fmt.Fprintf(&b, "result error=%v %s\n", p.IsError, p.Content.Text())
			default:
				b.WriteString(p.Text + "\n")
			}
		}
	}
	return b.String()
}

// counts says how often each text stands in another.
func counts(text string, parts ...string) map[string]int {
	n := map[string]int{}
	for _, part := range parts {
		n[part] = strings.Count(text, part)
	}
	return n
}
