package foreignhooks

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// Stdin is what the hook's program reads: one object and, as some programs read a line, a
// newline.
func (a *Asking) Stdin() ([]byte, error) {
	fields := a.agent.input(a)
	var out bytes.Buffer
	if err := json.MarshalWrite(&out, fields, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, fmt.Errorf("the event cannot be written for a hook of %s: %w", a.agent.Title, err)
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
	if says != "" && !strings.EqualFold(says, a.event.Name) {
		return ours
	}
	if a.agent.claudeNames && asClaude(a) && says == "" && a.ev.Event != protocol.PermissionRequest {
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
	if a.agent.env == nil {
		return nil
	}
	return a.agent.env(a)
}

// EnvFile is the variable by which the agent tells the hook a file, in which it can leave
// variables for the commands of the session. "" if there is none at the event.
func (a *Asking) EnvFile() string {
	if a.agent.envFile != "" && a.ev.Event == protocol.SessionStart {
		return a.agent.envFile
	}
	return ""
}

// Args are the words that the program gets after its own.
func (a *Asking) Args() []string {
	if a.agent.arg == "" {
		return nil
	}
	return []string{a.agent.arg}
}
