package protocol_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
)

// A hook in Go reads a call's args into a struct of its own, refuses one command and
// changes another. The member timeout, which the struct does not have, stays.
func ExampleModifyArgs() {
	type shellArgs struct {
		Command string `json:"command"`
	}
	hook := protocol.GoHook{
		Name:   "no-force",
		Events: []protocol.EventName{protocol.ToolCallStart},
		Match:  protocol.Match{Tool: []string{"@shell"}},
		Func: func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
			args, err := protocol.ReadArgs[shellArgs](ev)
			if err != nil {
				return protocol.Reply{}, err // a failure, which never counts as observe
			}
			if strings.HasPrefix(args.Command, "rm -rf /") {
				return protocol.BlockReply("this would remove everything"), nil
			}
			return protocol.ModifyArgs(ev, func(args *shellArgs) error {
				args.Command = strings.ReplaceAll(args.Command, "push --force", "push --force-with-lease")
				return nil
			})
		},
	}

	for _, command := range []string{"rm -rf /", "git push --force", "ls"} {
		ev, err := protocol.NewEvent(protocol.ToolCallStart, protocol.ToolCallStartData{Call: protocol.Call{
			ToolCallID: "c1", Name: "bash", Kind: protocol.KindShell,
			Args: protocol.RawMessage(fmt.Sprintf(`{"command":%q,"timeout":60.0}`, command)),
		}})
		if err != nil {
			panic(err)
		}
		reply, err := hook.Func(context.Background(), &ev)
		fmt.Println(reply.Action, reply.Reason, string(reply.Patch), err)
	}
	// Output:
	// block this would remove everything  <nil>
	// modify  [{"op":"replace","path":"/args/command","value":"git push --force-with-lease"}] <nil>
	// observe   <nil>
}

// A host fires an event at its gate, obeys the outcome and reads back what hooks
// changed. The gate of this example has one decision built in; a real one is made by
// the packages hookd, executor or client.
func ExampleNewEvent() {
	gate := protocol.GateFunc(func(_ context.Context, ev protocol.Event) (protocol.Outcome, error) {
		reply, err := protocol.ModifyData(&ev, func(data *protocol.PromptSubmitData) error {
			data.Prompt += " Please be brief."
			return nil
		})
		if err != nil {
			return protocol.Outcome{}, err
		}
		hook := protocol.HookInfo{Name: "brief", Layer: protocol.User, Class: protocol.CanModify}
		fold, _ := protocol.Begin(ev, protocol.FoldOptions{}).Add(protocol.Answer{
			HookInfo: hook, ReadResult: protocol.ReadResult{Reply: &reply},
		})
		return fold.Outcome(), nil
	})

	ev, err := protocol.NewEvent(protocol.PromptSubmit, protocol.PromptSubmitData{Prompt: "Explain monads.", Source: "user"})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	outcome, err := gate.Begin(ctx, ev)()
	if err != nil {
		panic(err) // ctx ended
	}
	if outcome.Refused() {
		fmt.Println("refused:", outcome.Reason)
		return
	}
	data, err := protocol.ReadData[protocol.PromptSubmitData](&outcome.Event)
	fmt.Println(data.Prompt, err)
	// Output: Explain monads. Please be brief. <nil>
}
