package agentloop

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hookd-dev/hookd/protocol"
)

// division is a conversation before it is compacted: what stays as it is at
// both ends, and what a summary will stand for.
type division struct {
	head, summed, tail []protocol.Message
	kept               protocol.Content // parts of summed that no compaction takes away
}

// divide says what a compaction leaves as it is. Calls and results are never
// torn apart: the kept ends grow until both are on the same side.
func (l *Loop) divide(by *recipeCall) division {
	m := l.messages
	head := min(len(m), max(l.options.Compaction.KeepFirst, firstPrompt(m)+1))
	for head < len(m) && len(openCalls(m[:head])) > 0 && answered(m[head:], openCalls(m[:head])) {
		head++
	}
	tail := max(head, min(len(m)-l.options.Compaction.KeepLast, unanswered(m), firstOpen(m)))
	for tail > head && tail < len(m) && !selfContained(m[tail:]) {
		tail--
	}
	layer := protocol.Builtin
	if by != nil {
		layer = by.hook.Layer
	}
	return division{head: m[:head], summed: m[head:tail], tail: m[tail:], kept: higherParts(m[head:tail], layer)}
}

// join is the compacted conversation.
func (d *division) join(summary string, context protocol.Content) []protocol.Message {
	message := textMessage(protocol.RoleUser, summaryHead+summary)
	message.Content = slices.Concat(message.Content, d.kept, context)
	return slices.Concat(d.head, []protocol.Message{message}, d.tail)
}

// summaryHead tells the model what it reads, and that the work goes on.
const summaryHead = "[Summary of the conversation up to here. It stands in place of what was said; go on from it.]\n\n"

// firstPrompt is the place of the first user message, -1 if there is none.
func firstPrompt(m []protocol.Message) int {
	return slices.IndexFunc(m, func(m protocol.Message) bool { return m.Role == protocol.RoleUser })
}

// unanswered is where the user messages at the end begin, which no model has
// read yet.
func unanswered(m []protocol.Message) int {
	at := len(m)
	for at > 0 && m[at-1].Role == protocol.RoleUser {
		at--
	}
	return at
}

// firstOpen is the place of the first message with a tool call that has no
// result, the length if there is none.
func firstOpen(m []protocol.Message) int {
	open := openCalls(m)
	for i := range m {
		for _, call := range calls(m[i]) {
			if open[call.ToolCallID] {
				return i
			}
		}
	}
	return len(m)
}

// openCalls are the ids of the calls that have no result in the list.
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

// higherParts are the parts that hooks of a layer above the given one wrote, each
// text once. They are said again behind the summary.
func higherParts(m []protocol.Message, layer protocol.Layer) protocol.Content {
	if layer == protocol.Builtin { // hookd itself: what projects and users' hooks said may be summed up
		layer = protocol.User
	}
	var kept protocol.Content
	var look func(parts protocol.Content)
	look = func(parts protocol.Content) {
		for _, part := range parts {
			known := func(k protocol.Part) bool { return k.Hook == part.Hook && k.Layer == part.Layer && k.Text == part.Text }
			if part.Layer.Rank() > layer.Rank() && !slices.ContainsFunc(kept, known) {
				kept = append(kept, part)
			}
			look(part.Content)
		}
	}
	for _, message := range m {
		look(message.Content)
	}
	return kept
}

// conversationFault is why no model could read a conversation.
type conversationFault struct {
	message int // index
	text    string
}

func (f *conversationFault) Error() string { return f.text }

// checkConversation checks what a model must be able to read: known roles,
// content in each message, and calls paired with their results. Calls may be open.
func checkConversation(m []protocol.Message) *conversationFault {
	_, fault := pairCalls(m)
	return fault
}

// checkResumed is checkConversation for one that comes from a file: only calls of
// its last message may be open, as a crash leaves them.
func checkResumed(m []protocol.Message) *conversationFault {
	open, fault := pairCalls(m)
	for _, id := range slices.Sorted(maps.Keys(open)) {
		if i := open[id]; fault == nil && i < len(m)-1 {
			fault = &conversationFault{i, fmt.Sprintf("the tool call %.60q has no result", id)}
		}
	}
	return fault
}

// pairCalls returns the open calls by their ids, with their messages' indexes.
func pairCalls(m []protocol.Message) (open map[string]int, fault *conversationFault) {
	open = map[string]int{}
	known := map[string]bool{}
	for i, message := range m {
		fault := func(format string, args ...any) (map[string]int, *conversationFault) {
			return open, &conversationFault{i, fmt.Sprintf(format, args...)}
		}
		switch message.Role {
		case protocol.RoleUser, protocol.RoleAssistant, protocol.RoleTool:
		default:
			return fault("there is no role %q in a conversation", message.Role)
		}
		if len(message.Content) == 0 {
			return fault("message %d is empty", i+1)
		}
		for _, part := range message.Content {
			id := part.ToolCallID
			_, waits := open[id]
			switch {
			case part.Type == protocol.PartToolCall && known[id]:
				return fault("the tool call %.60q is there twice", id)
			case part.Type == protocol.PartToolCall:
				open[id], known[id] = i, true
			case part.Type == protocol.PartToolResult && !waits:
				return fault("the result of the tool call %.60q has no call of its own", id)
			case part.Type == protocol.PartToolResult:
				delete(open, id)
			}
		}
	}
	return open, nil
}
