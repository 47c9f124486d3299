package builtin

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// CompactionHook is the hook of [Compact]: what it asks for is a compaction at
// the threshold, and its trigger is named so.
var CompactionHook = protocol.HookRef{Layer: protocol.Builtin, Name: "compact"}

// Compact asks for a recipe (compact by default) in the place of the
// conversation when a model call used up a share of the context window that is
// compaction.threshold of the events or more. It asks for nothing where
// compaction.auto is off, which it is in the thread of every recipe, in a run of
// the very recipe, and where the model does not tell both its context and its
// limit.
func Compact(recipe string) provider.Provider {
	if recipe == "" {
		recipe = "compact"
	}
	return provider.Provider{Name: "compact", Hooks: []protocol.GoHook{{
		Name:        CompactionHook.Name,
		Description: fmt.Sprintf("has the recipe %s compact the conversation when the context window is nearly full", recipe),
		Events:      []protocol.EventName{protocol.InferenceEnd},
		Watches:     true,
		Func: func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			if !ev.Compaction.Auto || ev.Recipe != nil && *ev.Recipe == recipe {
				return protocol.Reply{}, nil
			}
			var data struct {
				Usage protocol.CallUsage `json:"usage"`
			}
			if err := json.Unmarshal(ev.Data, &data); err != nil {
				return protocol.Reply{}, err
			}
			used, limit := data.Usage.ContextTokens, data.Usage.ContextMax
			if used == nil || limit == nil || *limit <= 0 || float64(*used) < ev.Compaction.Threshold*float64(*limit) {
				return protocol.Reply{}, nil
			}
			return protocol.Reply{Action: protocol.Callback, Callback: &protocol.CallbackCall{Name: recipe, As: protocol.AsMessages}}, nil
		},
	}}}
}
