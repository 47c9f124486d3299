package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/protocol"
)

// mostMarks is how many places of a request may be marked; the server refuses
// one with more.
const mostMarks = 4

// place is the end of a message of ours in what the server reads, where several
// of ours may be one: how many messages, and how many blocks of the last one.
type place struct{ messages, blocks int }

func endOf(list []sdk.MessageParam) place {
	if len(list) == 0 {
		return place{}
	}
	return place{len(list), len(contentOf(&list[len(list)-1]))}
}

func contentOf(m *sdk.MessageParam) []sdk.ContentBlockParamUnion {
	switch {
	case m.OfUser != nil:
		return m.OfUser.Content
	case m.OfAssistant != nil:
		return m.OfAssistant.Content
	}
	return nil
}

// cacheConversation marks places that the next call has as well, so that it
// reads what comes before from the server's cache, at a tenth of the price: the
// system text, the end of the conversation that is kept, and the ends that
// earlier calls had marked. The server looks for an earlier end by itself, but
// not far: one step may have more blocks than that. What is for this call only
// is not marked.
func cacheConversation(p *sdk.MessageNewParams, r model.Request, ends []place) {
	left := mostMarks
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = sdk.NewCacheControlEphemeralParam()
		left--
	}
	for _, n := range marks(r) {
		if left == 0 {
			return
		}
		if mark(p, ends[n]) {
			left--
		}
	}
}

// marks are the places to mark, as numbers of messages, the weightiest first: an
// earlier call had the conversation up to one of the model's answers.
func marks(r model.Request) (list []int) {
	last := 0
	for _, n := range r.Prefixes {
		n = min(max(n, 0), len(r.Messages))
		list, last = append(list, n), max(last, n)
	}
	if len(list) == 0 {
		last = len(r.Messages)
		list = append(list, last)
	}
	for i := last - 1; i > 0 && len(list) < mostMarks; i-- {
		if r.Messages[i].Role == protocol.RoleAssistant {
			list = append(list, i)
		}
	}
	return list
}

// mark marks the last block up to a place that can be marked, unless it is
// marked already.
func mark(p *sdk.MessageNewParams, at place) bool {
	for ; at.messages > 0; at.messages-- {
		content := contentOf(&p.Messages[at.messages-1])
		if at.blocks < 0 {
			at.blocks = len(content)
		}
		for ; at.blocks > 0; at.blocks-- {
			if c := content[at.blocks-1].GetCacheControl(); c != nil {
				if c.Type != "" {
					return false
				}
				*c = sdk.NewCacheControlEphemeralParam()
				return true
			}
		}
		at.blocks = -1
	}
	return false
}
