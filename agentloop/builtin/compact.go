package builtin

import (
	"context"
	"fmt"
	"sync"

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
//
// When that comes to nothing or does not help, the person is told once, and the
// next compaction is asked for when a quarter of the room that was left is used up
// (2 % of the window at least).
func Compact(recipe string) provider.Provider {
	if recipe == "" {
		recipe = "compact"
	}
	c := &compactions{recipe: recipe, asked: map[string]*asked{}}
	return provider.Provider{Name: "compact", Hooks: []protocol.GoHook{{
		Name:        CompactionHook.Name,
		Description: fmt.Sprintf("has the recipe %s compact the conversation when the context window is nearly full", recipe),
		Events:      []protocol.EventName{protocol.InferenceEnd},
		Watches:     true,
		Func:        c.answer,
	}}}
}

// compactions remembers the compaction of each agent whose context is nearly full.
type compactions struct {
	recipe string

	mu    sync.Mutex
	asked map[string]*asked // by agent
}

// asked is a compaction that was asked for.
type asked struct {
	next int64 // tokens from which on the next one is asked for
	told bool  // that it did not help
}

func (c *compactions) answer(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
	if !ev.Compaction.Auto || ev.Recipe != nil && *ev.Recipe == c.recipe {
		return protocol.Reply{}, nil
	}
	var data struct {
		Usage protocol.CallUsage `json:"usage"`
	}
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return protocol.Reply{}, err
	}
	used, limit := data.Usage.ContextTokens, data.Usage.ContextMax
	if used == nil || limit == nil || *limit <= 0 {
		return protocol.Reply{}, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.asked[agentKey(ev)]
	switch {
	case float64(*used) < ev.Compaction.Threshold*float64(*limit):
		delete(c.asked, agentKey(ev))
		return protocol.Reply{}, nil
	case before == nil || *used >= before.next:
		c.asked[agentKey(ev)] = &asked{next: *used + max(1, *limit/50, (*limit-*used)/4)}
		return protocol.Reply{Action: protocol.Callback, Callback: &protocol.CallbackCall{Name: c.recipe, As: protocol.AsMessages}}, nil
	case before.told:
		return protocol.Reply{}, nil
	}
	before.told = true
	return protocol.Reply{Notice: fmt.Sprintf("the conversation is still at %d of %d tokens, although a compaction was asked for; the next one is asked for at %d",
		*used, *limit, before.next)}, nil
}
