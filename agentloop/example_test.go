package agentloop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// script is what the model of the example answers.
const script = `
turns:
- text: I look it up.
  toolCalls: [{id: c1, name: population, args: {city: Oslo}}, {id: c2, name: population, args: {city: Atlantis}}]
- text: Oslo has 717,000 inhabitants.
`

// An agent with a tool and a hook of its own. Without a gate the hooks of the providers are
// asked: the default ones, which limit the run, and those given here.
func Example() {
	population := tool.New(tool.Description{
		Name:        "population",
		Description: "Says how many people live in a city.",
		Kind:        protocol.KindRead,
	}, func(_ context.Context, a struct {
		City string `json:"city"`
	}) (protocol.Result, error) {
		return tool.OK("717,000 people live in " + a.City), nil
	})
	noMyths := protocol.GoHook{
		Name:   "no-myths",
		Events: []protocol.EventName{protocol.ToolCallStart},
		Can:    protocol.CanBlock,
		Func: func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			var call struct{ Args struct{ City string } }
			if err := json.Unmarshal(ev.Data, &call); err != nil {
				return protocol.Reply{}, err
			}
			if call.Args.City == "Atlantis" {
				return protocol.Reply{Action: protocol.Block, Reason: "there is no such city"}, nil
			}
			return protocol.Reply{}, nil
		},
	}
	scripted, err := model.Parse("script.yaml", []byte(script))
	if err != nil {
		fmt.Println(err)
		return
	}
	loop, err := agentloop.New(agentloop.Options{
		Model: scripted,
		Tools: []tool.Tool{population},
		Providers: []agentloop.Provider{
			{Name: "no-myths", Hooks: []protocol.GoHook{noMyths}},
			builtin.Time(time.Minute), // in place of the default time limit; the other limits stand
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := loop.Run(context.Background(), "How many people live in Oslo and in Atlantis?")
	if err != nil {
		fmt.Println(err)
		return
	}
	for u := range run.Events() {
		switch {
		case u.Kind == agentloop.UpdateDelta:
			fmt.Println("model:", u.Delta.Text)
		case u.Kind == agentloop.UpdateEvent && u.Event.Event == protocol.ToolCallStart && u.Outcome.Refused():
			fmt.Printf("refused by %s: %s\n", *u.Outcome.By, u.Outcome.Reason)
		}
	}
	fmt.Println(run.Wait(), run.Result().StopReason)
	// Output:
	// model: I look it up.
	// refused by no-myths: there is no such city
	// model: Oslo has 717,000 inhabitants.
	// <nil> done
}

// The loop decides nothing itself: whatever decides events can be its gate. This one, which
// takes no Go hooks, leaves the limits of the run to the ceilings.
func ExampleOptions_gate() {
	scripted, _ := model.Parse("script.yaml", []byte(script))
	gate := protocol.GateFunc(func(_ context.Context, event protocol.Event) (protocol.Outcome, error) {
		outcome := protocol.Outcome{Action: protocol.Observe, Event: event}
		if event.Event == protocol.StepStart && event.Step == 1 {
			by := "patience"
			outcome.Action, outcome.By, outcome.Reason = protocol.Stop, &by, "one step is enough"
		}
		return outcome, nil
	})
	loop, err := agentloop.New(agentloop.Options{Model: scripted, Gate: gate, NoDefaults: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := loop.Run(context.Background(), "How many people live in Oslo?")
	if err != nil {
		fmt.Println(err)
		return
	}
	for range run.Events() {
	}
	fmt.Println(run.Wait(), run.Result().StopReason, run.Result().Response)
	// Output: <nil> hook I look it up.
}
