package agentloop

import (
	"fmt"
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

// checkConversation checks what a model must be able to read: known roles,
// content in each message, and calls paired with their results. Calls at the end
// may be open.
func checkConversation(m []protocol.Message) error {
	called, got := map[string]bool{}, map[string]bool{}
	for i, message := range m {
		switch message.Role {
		case protocol.RoleUser, protocol.RoleAssistant, protocol.RoleTool:
		default:
			return fmt.Errorf("message %d has the unknown role %q", i+1, message.Role)
		}
		if len(message.Content) == 0 {
			return fmt.Errorf("message %d is empty", i+1)
		}
		for _, part := range message.Content {
			id := part.ToolCallID
			switch {
			case part.Type == protocol.PartToolCall && called[id]:
				return fmt.Errorf("the tool call %s is there twice", id)
			case part.Type == protocol.PartToolCall:
				called[id] = true
			case part.Type == protocol.PartToolResult && (!called[id] || got[id]):
				return fmt.Errorf("the result of the tool call %s has no call of its own", id)
			case part.Type == protocol.PartToolResult:
				got[id] = true
			}
		}
	}
	return nil
}
