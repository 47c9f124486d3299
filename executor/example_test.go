package executor_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
)

// An agent loop asks its hooks before it runs a tool, and obeys the outcome.
func Example() {
	ctx := context.Background()
	hooks, err := executor.Static(executor.GoHook{
		Name:   "no-force-push",
		Events: []protocol.EventName{protocol.ToolCallStart},
		Match:  protocol.Match{Tool: []string{"bash"}},
		Can:    protocol.CanBlock,
		Func: func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			if strings.Contains(string(ev.Data), "push --force") {
				return protocol.Reply{Action: protocol.Block, Reason: "push without --force"}, nil
			}
			return protocol.Reply{}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer hooks.Close(ctx)

	for _, command := range []string{"git status", "git push --force"} {
		outcome, err := hooks.Fire(ctx, protocol.Event{
			Event:   protocol.ToolCallStart,
			Session: protocol.Session{ID: "s1"},
			Data:    fmt.Appendf(nil, `{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":%q}}`, command),
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s %q\n", command, outcome.Action, outcome.Reason)
	}
	// Output:
	// git status: observe ""
	// git push --force: block "push without --force"
}

// A Progress shows a person which hooks are asked, and how long they take.
func ExampleExecutor_WithProgress() {
	ctx := context.Background()
	hooks, err := executor.Static(executor.GoHook{
		Name: "greet", Events: []protocol.EventName{protocol.SessionStart},
		Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
			return protocol.Reply{Context: "Answer in English."}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer hooks.Close(ctx)

	gate := hooks.WithProgress(executor.Progress{
		Finished: func(ev *protocol.Event, h *executor.Hook, run protocol.Run) {
			fmt.Println(ev.Event, h.Name, run.Action)
		},
	})
	if _, err := gate.Fire(ctx, protocol.Event{Event: protocol.SessionStart, Data: protocol.RawMessage(`{"source":"startup"}`)}); err != nil {
		fmt.Println(err)
	}
	// Output: session-start greet observe
}
