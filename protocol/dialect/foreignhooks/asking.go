package foreignhooks

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// Asking is one event as one foreign hook is asked about it.
type Asking struct {
	Agent *Agent
	Event *HookEvent

	ev      *protocol.Event
	project string // folder
	call    foreignCall
	data    object.Reader // of the event, ours
	host    protocol.RawMessage
}

// Selector says which events a foreign hook is asked about, and as what.
type Selector struct {
	agent *Agent
	named []string
	fits  fits // nil: all
}

// Select compiles what a hook's description says: the names of its events as they stand
// there, and its matcher in the agent's own form. A matcher that hookd cannot compare
// selects all events, so that a guard is asked, and is an error besides.
func (f *Agent) Select(named []string, matcher string) (*Selector, error) {
	s := &Selector{agent: f, named: named}
	if matcher == "" || matcher == "*" {
		return s, nil
	}
	compile := f.matcher
	if f.claudeNames && slices.ContainsFunc(named, isClaudeName) {
		compile = claudeMatcher
	}
	var err error
	s.fits, err = compile(matcher)
	return s, err
}

// Ask returns how the hook is asked about an event, nil if the event does not concern it.
// project is the folder that the agent would call its project.
func (s *Selector) Ask(ev *protocol.Event, project string) *Asking {
	for _, e := range s.agent.eventsFor(ev.Event, s.named) {
		a := &Asking{Agent: s.agent, Event: e, ev: ev, project: project, data: object.Reader{JSON: ev.Data}}
		a.readCall()
		if host := a.data.At("host"); ev.Agent.Host == s.agent.Name && jsonspan.Kind(host) == '{' {
			a.host = host
		}
		if a.concerns() && a.matches(s.fits) {
			return a
		}
	}
	return nil
}

// concerns reports whether the event is about such a call, where it is about one.
func (a *Asking) concerns() bool {
	return len(a.Event.Only) == 0 || a.call.name == "" || slices.Contains(a.Event.Only, string(a.call.kind)) || slices.Contains(a.Event.Only, a.call.name)
}

// matches compares the matcher in the agent's own way. An event that names nothing to
// compare with matches, so that a guard is asked.
func (a *Asking) matches(fits fits) bool {
	if fits == nil {
		return true
	}
	subjects := a.call.names
	if a.Agent.subject != nil {
		subjects = a.Agent.subject(a)
	}
	return len(subjects) == 0 || slices.ContainsFunc(subjects, fits)
}

// Stdin is what the hook's program reads: one object and, as some programs read a line, a
// newline.
func (a *Asking) Stdin() ([]byte, error) {
	fields := a.Agent.input(a)
	var out bytes.Buffer
	if err := json.MarshalWrite(&out, fields, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, fmt.Errorf("the event cannot be written for a hook of %s: %w", a.Agent.Title, err)
	}
	return append(a.asSent(out.Bytes()), '\n'), nil
}

// asSent returns the input with what the agent itself sent, where the event comes from
// the very agent whose hook is asked: members that hookd does not know are kept, and
// those that no hook changed are the agent's own bytes.
func (a *Asking) asSent(ours []byte) []byte {
	if a.host == nil {
		return ours
	}
	theirs := &object.Reader{JSON: a.host}
	says := theirs.First("hook_event_name")
	if says != "" && !strings.EqualFold(says, a.Event.Name) {
		return ours
	}
	if a.Agent.claudeNames && asClaude(a) && says == "" && a.ev.Event != protocol.PermissionRequest {
		return ours
	}
	var changed []string
	for _, pointer := range a.ev.Outcome.Changed {
		member, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		changed = append(changed, changedMembers[member]...)
	}
	sent := a.host
	for _, name := range changed {
		if value := jsonspan.Get(ours, name); value != nil {
			sent = object.Set(sent, name, value)
		}
	}
	return sent
}

// changedMembers are the members of agents' inputs that show a member of our data.
var changedMembers = map[string][]string{
	"args":         {"tool_input", "toolArgs", "toolInput", "command"},
	"result":       {"tool_response", "tool_result", "toolResult", "tool_output"},
	"prompt":       {"prompt"},
	"response":     {"last_assistant_message", "prompt_response", "response"},
	"instructions": {"custom_instructions", "customInstructions"},
	"error":        {"error", "error_message"},
}

// Env are the variables that the agent sets for its hooks.
func (a *Asking) Env() []string {
	if a.Agent.env == nil {
		return nil
	}
	return a.Agent.env(a)
}

// Args are the words that the program gets after its own.
func (a *Asking) Args() []string {
	if a.Agent.Arg == "" {
		return nil
	}
	return []string{a.Agent.Arg}
}

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

// millis is a number of milliseconds as agents write it: whole.
func millis(a *Asking, member string) protocol.RawMessage {
	return object.Raw(int64(a.data.Number(member)))
}
