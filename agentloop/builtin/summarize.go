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

const summarizeName = "summarize" // of the provider, its hook and its recipe

// Summarize is the provider summarize: before a step, a conversation of more than
// limit tokens has its middle replaced by a summary that the recipe summarize
// writes. What the compaction settings keep at the beginning and at the end
// (agent.compaction.keepFirst and keepLast) stays. 0 switches it off.
//
// The size is what the last model call said (usage.contextTokens) or, where that
// is unknown or from before the conversation became shorter, the text of its
// messages at 4 bytes a token.
//
// It differs from the provider compact in that it needs no size of the model's
// window, measures an absolute number before the next call rather than a share
// of the window behind the last one, and does not mind compaction.auto; and its
// recipe retells what happened where compact writes five sections for going on.
//
// When a summary does not help, because what is kept is too large itself, the
// next one waits until the conversation has grown by half. Recipes are left
// alone; sub-agents have conversations of their own, which count by themselves.
func Summarize(limit int64) provider.Provider {
	if limit <= 0 {
		return provider.Provider{Name: summarizeName}
	}
	s := &summaries{limit: limit, agents: map[string]*summary{}}
	return provider.Provider{Name: summarizeName, Hooks: []protocol.GoHook{{
		Name:        summarizeName,
		Description: fmt.Sprintf("summarizes a conversation of more than %d tokens", limit),
		Events:      []protocol.EventName{protocol.StepStart},
		Func:        s.answer,
	}}}
}

type summaries struct {
	limit int64

	mu     sync.Mutex
	agents map[string]*summary
}

// summary is what became of an agent's last summary.
type summary struct {
	asked    bool  // at the last step-start
	above    int64 // tokens above which the next one is asked for
	estimate int64 // tokens at the last step-start
}

func (s *summaries) answer(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
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
		reply.Notice = fmt.Sprintf("the conversation is still at about %d tokens behind a summary, more than the limit of %d; the next summary is made above %d", size, s.limit, now.above)
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
