package conversation

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hookd-dev/hookd/protocol"
)

// Fault is why no model could read a conversation.
type Fault struct {
	Message int // index
	text    string
}

func (f *Fault) Error() string { return f.text }

// Check returns what keeps a model from reading a conversation: an unknown role, a
// message without content, a result without its call or a call that is there twice. A
// call may be without a result.
func Check(m []protocol.Message) *Fault {
	_, fault := pairCalls(m)
	return fault
}

// checkResumed is Check for a conversation that comes from a file: only calls of its
// last message may be without a result, as a crash leaves them.
func checkResumed(m []protocol.Message) *Fault {
	open, fault := pairCalls(m)
	for _, id := range slices.Sorted(maps.Keys(open)) {
		if i := open[id]; fault == nil && i < len(m)-1 {
			fault = &Fault{i, fmt.Sprintf("the tool call %.60q has no result", id)}
		}
	}
	return fault
}

// pairCalls returns the calls without a result by their ids, with their messages' indexes.
func pairCalls(m []protocol.Message) (open map[string]int, fault *Fault) {
	open = map[string]int{}
	known := map[string]bool{}
	for i, message := range m {
		fault := func(format string, args ...any) (map[string]int, *Fault) {
			return open, &Fault{i, fmt.Sprintf(format, args...)}
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
