package conversation

import (
	"slices"

	"github.com/hookd-dev/hookd/protocol"
)

// Split is a conversation before it is compacted.
type Split struct {
	Summed []protocol.Message // what a summary will take the place of

	head, tail []protocol.Message // what stays as it is at both ends
	kept       protocol.Content   // parts of Summed that no compaction takes away
}

// SplitForCompaction says what a compaction leaves as it is. keepFirst and keepLast are
// how many messages stay at both ends at least. Whatever they say, the first user message
// stays, and so do prompts that nobody has answered yet and tool calls without a result.
// A call is never separated from its result: the kept ends grow until both are on the
// same side. Of what is summed up, the context from hooks of a layer above the given one
// stays.
func SplitForCompaction(m []protocol.Message, keepFirst, keepLast int, layer protocol.Layer) Split {
	head := min(len(m), max(keepFirst, firstPrompt(m)+1))
	for head < len(m) && len(openCalls(m[:head])) > 0 && answered(m[head:], openCalls(m[:head])) {
		head++
	}
	tail := max(head, min(len(m)-keepLast, unanswered(m), firstOpen(m)))
	for tail > head && tail < len(m) && !selfContained(m[tail:]) {
		tail--
	}
	return Split{head: m[:head], Summed: m[head:tail], tail: m[tail:], kept: higherParts(m[head:tail], layer)}
}

// Join returns the compacted conversation: context follows the summary.
func (s *Split) Join(summary string, context protocol.Content) []protocol.Message {
	message := Text(protocol.RoleUser, summaryHead+summary)
	message.Content = slices.Concat(message.Content, s.kept, context)
	return slices.Concat(s.head, []protocol.Message{message}, s.tail)
}

// summaryHead tells the model what it reads, and that the work goes on.
const summaryHead = "[Summary of the conversation up to here. It stands in place of what was said; go on from it.]\n\n"

// firstPrompt returns the index of the first user message that is a prompt, -1 if there is
// none.
func firstPrompt(m []protocol.Message) int {
	return slices.IndexFunc(m, func(m protocol.Message) bool { return m.Role == protocol.RoleUser && !IsPersonCall(&m) })
}

// unanswered returns the index at which the user messages at the end begin: no model
// has read them yet.
func unanswered(m []protocol.Message) int {
	at := len(m)
	for at > 0 && m[at-1].Role == protocol.RoleUser {
		at--
	}
	return at
}

// firstOpen returns the index of the first message with a tool call that has no result,
// the length if there is none.
func firstOpen(m []protocol.Message) int {
	open := openCalls(m)
	for i := range m {
		for _, call := range Calls(m[i]) {
			if open[call.ToolCallID] {
				return i
			}
		}
	}
	return len(m)
}

// openCalls returns the ids of the calls that have no result in the list.
func openCalls(m []protocol.Message) map[string]bool {
	open := map[string]bool{}
	for _, message := range m {
		for _, part := range message.Content {
			switch part.Type {
			case protocol.PartToolCall:
				open[part.ToolCallID] = true
			case protocol.PartToolResult:
				delete(open, part.ToolCallID)
			}
		}
	}
	return open
}

// answered reports whether the list has a result for one of the calls.
func answered(m []protocol.Message, open map[string]bool) bool {
	for _, message := range m {
		for _, part := range message.Content {
			if part.Type == protocol.PartToolResult && open[part.ToolCallID] {
				return true
			}
		}
	}
	return false
}

// selfContained reports whether each result in the list has its call before it.
func selfContained(m []protocol.Message) bool {
	called := map[string]bool{}
	for _, message := range m {
		for _, part := range message.Content {
			switch part.Type {
			case protocol.PartToolCall:
				called[part.ToolCallID] = true
			case protocol.PartToolResult:
				if !called[part.ToolCallID] {
					return false
				}
			}
		}
	}
	return true
}

// higherParts returns the parts that hooks of a layer above the given one wrote, each
// text once. They follow the summary.
func higherParts(m []protocol.Message, layer protocol.Layer) protocol.Content {
	if layer == protocol.Builtin { // hookd itself may sum up what hooks of projects and users said
		layer = protocol.User
	}
	var kept protocol.Content
	var collect func(parts protocol.Content)
	collect = func(parts protocol.Content) {
		for _, part := range parts {
			known := func(k protocol.Part) bool { return k.Hook == part.Hook && k.Layer == part.Layer && k.Text == part.Text }
			if part.Layer.Rank() > layer.Rank() && !slices.ContainsFunc(kept, known) {
				kept = append(kept, part)
			}
			collect(part.Content)
		}
	}
	for _, message := range m {
		collect(message.Content)
	}
	return kept
}
