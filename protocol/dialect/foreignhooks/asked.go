package foreignhooks

import (
	"path"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// cwd is the agent's working directory.
func (a *Asking) cwd() string {
	if a.ev.Cwd != "" {
		return a.ev.Cwd
	}
	return a.project
}

// stamp is the event's time as agents write it.
func (a *Asking) stamp() string { return a.ev.Time.UTC().Format("2006-01-02T15:04:05.000Z") }

// texts reads the messages of the event as agents without parts write them: a role, and
// all that was said as one text, the calls of tools among it.
func texts(a *Asking, pointer string, call func(name, args string) string) []flatMessage {
	var messages []protocol.Message
	if json.Unmarshal(a.data.At(pointer), &messages, jsontext.AllowInvalidUTF8(true)) != nil {
		return []flatMessage{}
	}
	flat := make([]flatMessage, 0, len(messages))
	for _, m := range messages {
		flat = append(flat, flatMessage{string(m.Role), flatText(m.Content, call)})
	}
	return flat
}

type flatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func flatText(content protocol.Content, call func(name, args string) string) string {
	var parts []string
	for _, p := range content {
		switch p.Type {
		case protocol.PartText:
			parts = append(parts, p.Text)
		case protocol.PartToolCall:
			parts = append(parts, call(p.Name, string(p.Args)))
		case protocol.PartToolResult:
			parts = append(parts, p.Content.Text())
		}
	}
	return strings.Join(parts, "\n")
}

// resultOf is the text of the result of a tool.
func resultOf(a *Asking) string { return object.ContentText(a.data.At("/result/content")) }

// whole returns a number without its fraction, as agents write milliseconds and counts.
func whole(a *Asking, member string) protocol.RawMessage {
	return object.Raw(int64(a.data.Number(member)))
}

// absolute is a path as agents give it.
func (a *Asking) absolute(name string) string {
	if name == "" || path.IsAbs(name) || strings.HasPrefix(name, "~") || strings.Contains(name, ":") {
		return name
	}
	return path.Join(a.cwd(), name)
}

func agentType(a *Asking) string {
	if name := a.data.Text("name"); name != "" {
		return name
	}
	return "general-purpose"
}

func toolName(a *Asking) string {
	if len(a.call.names) == 0 {
		return ""
	}
	return a.call.names[0]
}

// server is the MCP server whose tool is called, "" for any other tool.
func server(a *Asking) string {
	server, _, is := strings.Cut(strings.TrimPrefix(a.call.name, "mcp__"), "__")
	if !is || !strings.HasPrefix(a.call.name, "mcp__") {
		return ""
	}
	return server
}

// manualOrAuto says who asked for a compaction.
func manualOrAuto(a *Asking) string {
	if a.data.Text("trigger") == "manual" {
		return "manual"
	}
	return "auto"
}

// asClaude reports whether the hook is asked by a name of Claude Code's.
func asClaude(a *Asking) bool { return isClaudeName(a.event.Name) }

func isClaudeName(event string) bool { return event != "" && event[0] < 'a' }

// variables are names and values of environment variables. One that no environment holds
// is left out.
func variables(pairs ...string) (env []string) {
	const longest = 4096
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := pairs[i+1]; value != "" && len(value) <= longest && !strings.ContainsRune(value, 0) {
			env = append(env, pairs[i]+"="+value)
		}
	}
	return env
}
