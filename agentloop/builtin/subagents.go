package builtin

import (
	"context"
	"errors"
	"slices"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// SpawnSubagent is the name of the tool that starts a sub-agent.
const SpawnSubagent = "spawn_subagent"

// spawnArgs are the args of spawn_subagent.
type spawnArgs struct {
	Prompt string   `json:"prompt" jsonschema:"all the sub-agent needs to know: it sees nothing of this conversation"`
	Name   string   `json:"name,omitempty" jsonschema:"a short name for the person who watches"`
	Tools  []string `json:"tools,omitzero" jsonschema:"names of the tools it may use; default: all of yours"`
}

// SubAgents gives the model a tool that has another agent do a part of the work.
// How deep sub-agents may start sub-agents is the loop's Limits.Depth; the
// deepest are not offered the tool.
func SubAgents() provider.Provider {
	description := tool.Description{Kind: protocol.KindAgent, Name: SpawnSubagent,
		Description: "Has a sub-agent do a piece of work that stands on its own, and returns its last answer. " +
			"It begins with an empty conversation and knows only what the prompt says. Several calls in one step run side by side."}
	return provider.Provider{Name: "subagents", Tools: []tool.Tool{tool.New(description, spawn)}}
}

func spawn(ctx context.Context, args spawnArgs) (protocol.Result, error) {
	run := provider.RunContextOf(ctx)
	switch {
	case run == nil:
		return protocol.Result{}, errors.New("no agent is at work that a sub-agent could work for")
	case args.Prompt == "":
		return protocol.Result{}, &tool.Error{Kind: protocol.CallBadArgs, Text: "the prompt is empty"}
	}
	sub, err := run.Spawn(ctx, provider.SubAgent{
		Name: args.Name, Prompt: args.Prompt, Tools: args.Tools, ToolCallID: tool.CallID(ctx),
	})
	if err != nil {
		return protocol.Result{}, err
	}
	return subResult(sub), nil
}

// subResult is what the parent's model reads. An end before the work was done is
// said, and is an error.
func subResult(sub provider.SubResult) protocol.Result {
	text, failed := sub.Response, sub.StopReason != "done"
	switch {
	case sub.StopReason == "error":
		text = "the sub-agent failed: " + text
	case failed:
		text = "[the sub-agent ended early (" + sub.StopReason + "); its last words:]\n" + text
	case text == "":
		text = "[the sub-agent ended without an answer]"
	}
	return protocol.Result{Content: slices.Concat(protocol.TextContent(text), sub.Context), IsError: failed}
}
