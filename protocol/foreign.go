package protocol

import (
	"fmt"

	"github.com/hookd-dev/hookd/internal/text"
)

// foreignMembers are members of other agents' replies, and what says the same here. A
// reply that has one was written for another protocol: whatever it says, it must not
// pass for a hook that had nothing to say.
var foreignMembers = map[string]string{
	"decision":                 `"action" ("block", "ask", "allow")`,
	"permissionDecision":       `"action" ("block", "ask", "allow")`,
	"permission":               `"action" ("block", "ask", "allow")`,
	"hookSpecificOutput":       `members of the reply itself ("action", "reason", "context", "changes")`,
	"hookEventName":            `nothing: a reply is to the event that was read`,
	"permissionDecisionReason": `"reason"`,
	"continue":                 `"action":"stop" for false, and nothing for true`,
	"stopReason":               `"reason" beside "action":"stop"`,
	"systemMessage":            `"notice"`,
	"statusMessage":            `"notice"`,
	"userMessage":              `"notice"`,
	"user_message":             `"notice"`,
	"agentMessage":             `"context", or "reason" of a refusal`,
	"agent_message":            `"context", or "reason" of a refusal`,
	"errorMessage":             `"reason" of a refusal`,
	"additionalContext":        `"context"`,
	"additional_context":       `"context"`,
	"contextModification":      `"context"`,
	"initialUserMessage":       `"context"`,
	"suppressOutput":           `nothing: what a hook prints is not shown`,
	"updatedInput":             `"action":"modify" with "changes":{"args":{…}}`,
	"updated_input":            `"action":"modify" with "changes":{"args":{…}}`,
	"modifiedInput":            `"action":"modify" with "changes":{"args":{…}}`,
	"overrideInput":            `"action":"modify" with "changes":{"args":{…}}`,
	"updatedToolOutput":        `"action":"modify" with "changes":{"result":{…}}`,
	"updatedMCPToolOutput":     `"action":"modify" with "changes":{"result":{…}}`,
	"updated_mcp_tool_output":  `"action":"modify" with "changes":{"result":{…}}`,
	"updatedPermissions":       `nothing: only a person answers for more than one call`,
	"followup_message":         `"action":"continue" with "reason"`,
	"continueOnBlock":          `"action":"continue" or "block"`,
	"cancel":                   `"action":"block"`,
	"blocked":                  `"action":"block"`,
	"block":                    `"action":"block"`,
	"deny":                     `"action":"block"`,
	"approve":                  `"action":"allow"`,
}

// foreign says what stands here for a member of another agent's reply, "" for one that
// no agent is known to have.
func foreign(name string) string {
	ours := foreignMembers[name]
	if ours == "" {
		return ""
	}
	return fmt.Sprintf("member %q is of another protocol; here it is %s", name, ours)
}

// unknownMember says what is wrong with a member that no reply has.
func unknownMember(name string) string {
	if text := foreign(name); text != "" {
		return text
	}
	return fmt.Sprintf("unknown member %q, the nearest is %q", text.Shorten(name, 60), text.Closest(name, replyMembers))
}
