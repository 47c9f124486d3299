package builtin

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// CompactionHook is the hook of [Compact]: what it asks for is a compaction at
// the threshold, and its trigger is named so.
var CompactionHook = protocol.HookRef{Layer: protocol.Builtin, Name: "compact"}

// Compact has a recipe (compact by default) replace the conversation when a model call
// used compaction.threshold of the context window or more. It does nothing if
// compaction.auto is off, as it is in a nested run of every recipe, in a run of that
// recipe, and if the model does not report both its context and its limit.
//
// If the compaction fails or does not help, the person is told once, and the next one is
// asked for when a quarter of the room that was left is used (2 % of the window at
// least).
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
		Func:        c.onEvent,
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
	next     int64 // tokens from which on the next one is asked for
	reported bool  // that it did not help
}

func (c *compactions) onEvent(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
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
	case before.reported:
		return protocol.Reply{}, nil
	}
	before.reported = true
	return protocol.Reply{Notice: fmt.Sprintf("the conversation is still at %d of %d tokens, although a compaction was asked for; the next one is asked for at %d",
		*used, *limit, before.next)}, nil
}

const summarizeName = "summarize" // of the provider, its hook and its recipe

// Summarize replaces, before a step, the middle of a conversation of more than limit
// tokens by a summary that the recipe summarize writes. What the compaction settings keep at the beginning and at the end
// (agent.compaction.keepFirst and keepLast) stays. 0 switches it off.
//
// The size is what the last model call reported (usage.contextTokens). If that is
// unknown, or older than the last time the conversation became shorter, it is the text
// of the messages at 4 bytes a token.
//
// Unlike [Compact] it needs no size of the model's window, measures an absolute number
// before the next call instead of a share of the window after the last one, and ignores
// compaction.auto. Its recipe retells what happened, while compact writes five sections
// for going on.
//
// If a summary does not help, because what is kept is too large itself, the next one
// waits until the conversation has grown by half. Runs of recipes are left alone;
// sub-agents have conversations of their own.
func Summarize(limit int64) provider.Provider {
	if limit <= 0 {
		return provider.Provider{Name: summarizeName}
	}
	s := &summaries{limit: limit, agents: map[string]*summary{}}
	return provider.Provider{Name: summarizeName, Hooks: []protocol.GoHook{{
		Name:        summarizeName,
		Description: fmt.Sprintf("summarizes a conversation of more than %d tokens", limit),
		Events:      []protocol.EventName{protocol.StepStart},
		Func:        s.onEvent,
	}}}
}

type summaries struct {
	limit int64

	mu     sync.Mutex
	agents map[string]*summary
}

// summary says what came of an agent's last summary.
type summary struct {
	asked    bool  // at the last step-start
	above    int64 // tokens above which the next one is asked for
	estimate int64 // tokens at the last step-start
}

func (s *summaries) onEvent(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
	if ev.Recipe != nil {
		return protocol.Reply{}, nil
	}
	var data protocol.StepStartData
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return protocol.Reply{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.agents[agentKey(ev)]
	if now == nil {
		now = &summary{above: s.limit}
		s.agents[agentKey(ev)] = now
	}
	estimate := tokensOf(data.Messages)
	size := estimate
	if known := ev.Usage.ContextTokens; known != nil && estimate >= now.estimate {
		size = *known
	}
	now.estimate = estimate
	var reply protocol.Reply
	switch {
	case size <= s.limit:
		now.above = s.limit
	case now.asked:
		now.above = size + size/2
		reply.Notice = fmt.Sprintf("the conversation is still at about %d tokens after a summary, more than the limit of %d; the next summary is made above %d", size, s.limit, now.above)
	}
	// Before the model has said anything, there is nothing to retell.
	begun := slices.ContainsFunc(data.Messages, func(m protocol.Message) bool { return m.Role == protocol.RoleAssistant })
	if now.asked = begun && size > now.above; now.asked {
		reply.Action = protocol.Callback
		reply.Callback = &protocol.CallbackCall{Name: summarizeName, As: protocol.AsMessages}
	}
	return reply, nil
}

// bytesPerToken is what a token of English text and code is on average. A
// language with longer encodings counts as more tokens than it has.
const bytesPerToken = 4

// tokensOf estimates the size of a conversation in tokens. Pictures and what a
// provider keeps for itself count by their bytes.
func tokensOf(messages []protocol.Message) int64 {
	var bytes int64
	for _, m := range messages {
		bytes += contentBytes(m.Content)
	}
	return bytes / bytesPerToken
}

func contentBytes(content protocol.Content) int64 {
	var n int64
	for _, p := range content {
		n += int64(len(p.Text)+len(p.Name)+len(p.Args)+len(p.Data)) + contentBytes(p.Content)
	}
	return n
}
