package readreply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// replyMembers are the members of a reply, for the nearest-name messages.
var replyMembers = []string{
	"action", "reason", "changes", "patch", "result", "response", "context",
	"notice", "messages", "callback", "state", "metadata", "id",
}

// decodeReply reads a reply from a strictly valid object. It reports unknown members in
// warnings if the reply has a known action. Without one they are an error: an object
// that is not meant for hookd must not pass for a reply. Members of another agent's
// replies are always an error.
func decodeReply(object protocol.RawMessage) (r protocol.Reply, warnings []string, err error) {
	var unknown []string
	acted := false
	for _, m := range jsonspan.Members(object) {
		value := m.Value
		if m.Name == "action" {
			acted = true
		}
		known, err := set(&r, m.Name, value)
		if err != nil {
			return protocol.Reply{}, nil, &protocol.DecodeError{Path: jsonspan.PointerToken(m.Name), Offset: int64(m.Start), Err: err}
		}
		if text := foreign(m.Name); !known && text != "" {
			return protocol.Reply{}, nil, &protocol.DecodeError{Path: jsonspan.PointerToken(m.Name), Offset: int64(m.Start), Err: &foreignError{m.Name, text}}
		}
		if !known {
			unknown = append(unknown, m.Name)
		}
	}
	for i, name := range unknown {
		if i == maxWarnings {
			warnings = append(warnings, fmt.Sprintf("%d more unknown members", len(unknown)-i))
			break
		}
		text := unknownMember(name)
		if !acted {
			return protocol.Reply{}, nil, &protocol.DecodeError{Offset: -1, Err: fmt.Errorf("no member \"action\" and %s", text)}
		}
		warnings = append(warnings, text)
	}
	return r, warnings, nil
}

// set puts one member into the reply and reports whether it is known.
func set(r *protocol.Reply, name string, value protocol.RawMessage) (known bool, err error) {
	switch name {
	case "action":
		err = setAction(r, value)
	case "reason":
		err = setText(&r.Reason, value)
	case "context":
		err = setText(&r.Context, value)
	case "notice":
		err = setText(&r.Notice, value)
	case "id":
		err = setText(&r.ID, value)
	case "changes":
		r.Changes, err = slices.Clone(value), jsonspan.Expect(value, '{')
	case "patch":
		r.Patch, err = slices.Clone(value), jsonspan.Expect(value, '[')
	case "result":
		r.Result, err = slices.Clone(value), jsonspan.Expect(value, '{')
	case "response":
		r.Response, err = slices.Clone(value), jsonspan.Expect(value, '{')
	case "messages":
		r.Messages, err = slices.Clone(value), jsonspan.Expect(value, '[')
	case "callback":
		r.Callback, err = decodeCallback(value)
	case "state":
		r.State = slices.Clone(value)
	case "metadata":
		r.Metadata = slices.Clone(value)
	default:
		return false, nil
	}
	return true, err
}

func setAction(r *protocol.Reply, value protocol.RawMessage) error {
	if jsonspan.Kind(value) != '"' {
		return fmt.Errorf("the action is %s, not a string", jsonspan.Describe(value))
	}
	word := protocol.Action(jsonspan.Text(value))
	for _, a := range protocol.Actions {
		if a == word {
			r.Action = word
			if word == protocol.Deny {
				r.Action = protocol.Block
			}
			return nil
		}
	}
	var names []string
	for _, a := range protocol.Actions {
		names = append(names, string(a))
	}
	return fmt.Errorf("unknown action %q, the nearest is %q", text.Shorten(string(word), 60), text.Closest(strings.ToLower(strings.TrimSpace(string(word))), names))
}

func setText(text *string, value protocol.RawMessage) error {
	if err := jsonspan.Expect(value, '"'); err != nil {
		return err
	}
	*text = jsonspan.Text(value)
	return nil
}

func decodeCallback(value protocol.RawMessage) (*protocol.CallbackCall, error) {
	if err := jsonspan.Expect(value, '{'); err != nil {
		return nil, err
	}
	call := &protocol.CallbackCall{}
	for _, m := range jsonspan.Members(value) {
		member := m.Value
		switch m.Name {
		case "name":
			if err := setText(&call.Name, member); err != nil {
				return nil, fmt.Errorf("name: %w", err)
			}
		case "as":
			call.As = protocol.CallbackAs(jsonspan.Text(member))
			if call.As != protocol.AsMessages && call.As != protocol.AsState {
				return nil, fmt.Errorf("as: %s where \"messages\" or \"state\" is expected", jsonspan.Describe(member))
			}
		case "args":
			if err := jsonspan.Expect(member, '{'); err != nil {
				return nil, fmt.Errorf("args: %w", err)
			}
			call.Args = map[string]string{}
			for _, arg := range jsonspan.Members(member) {
				text := ""
				if err := setText(&text, arg.Value); err != nil {
					return nil, fmt.Errorf("args%s: %w", jsonspan.PointerToken(arg.Name), err)
				}
				call.Args[arg.Name] = text
			}
		}
	}
	if call.Name == "" {
		return nil, fmt.Errorf("the callback has no name")
	}
	return call, nil
}

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

// foreignError is a reply in the protocol of another agent.
type foreignError struct{ member, text string }

func (e *foreignError) Error() string { return e.text }

// remedy says how a hook is asked in the protocol that it speaks.
func (e *foreignError) remedy() string {
	speaks := dialectOf(e.member)
	if speaks == "" {
		return replyRemedy
	}
	return "if it was written for another agent, say so: dialect=" + speaks + " in its header line, or \"dialect\": \"" + speaks + "\" in its settings entry; else " + replyRemedy
}

// dialectOf is the dialect that a member of another agent's reply most likely belongs to,
// "" if hookd asks no hooks in that one.
func dialectOf(member string) string {
	switch member {
	case "permission", "user_message", "agent_message", "followup_message", "updated_input", "additional_context", "updated_mcp_tool_output":
		return "cursor"
	case "blocked":
		return "kodelet"
	case "userMessage", "agentMessage", "errorMessage", "contextModification", "overrideInput", "modifiedInput", "cancel", "block", "deny", "approve":
		return ""
	}
	return "claude"
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

// refusal finds the no that counts, if there is one.
func (r *reader) refusal() (protocol.ReadResult, bool) {
	var no protocol.Action
	var at document
	for _, d := range r.output.documents {
		a := looseRefusal(r.object(d))
		if a == "" || protocol.MayRefuse(r.spec, r.hook, a) != nil {
			continue
		}
		if no == "" || no == protocol.Block && a == protocol.Stop {
			no, at = a, d
		}
	}
	if no == "" {
		return protocol.ReadResult{}, false
	}
	reply, warnings := r.readRefusal(no, r.object(at))
	warnings = append(r.warnings(), warnings...)
	if len(r.output.documents) > 1 {
		warnings = append(warnings, fmt.Sprintf("%d JSON objects %s; the %s counts, the others do not", len(r.output.documents), r.in(), no))
	}
	return protocol.ReadResult{Reply: &reply, Warnings: warnings}, true
}

// looseRefusal returns block or stop if that is what an object's action says. Of
// a repeated action the strongest no counts.
func looseRefusal(object protocol.RawMessage) protocol.Action {
	var no protocol.Action
	for _, m := range jsonspan.Members(object) {
		if jsonspan.LenientText(m.Key) != "action" {
			continue
		}
		switch protocol.Action(jsonspan.LenientText(m.Value)) {
		case protocol.Block, protocol.Deny:
			if no == "" {
				no = protocol.Block
			}
		case protocol.Stop:
			no = protocol.Stop
		}
	}
	return no
}

// looseMember returns the text of the first member of that name, or "".
func looseMember(object protocol.RawMessage, name string) string {
	for _, m := range jsonspan.Members(object) {
		if m.Name == name {
			return jsonspan.LenientText(m.Value)
		}
	}
	return ""
}

const maxWarnings = 10 // faults of one reply that are named; the rest is counted

// readRefusal takes from a block or stop what can be read of it.
func (r *reader) readRefusal(no protocol.Action, object protocol.RawMessage) (protocol.Reply, []string) {
	reply := protocol.Reply{Action: no}
	var warnings []string
	if _, err := protocol.StrictJSON(object, protocol.DecodeLimits{Size: 1 << 62, Depth: r.lim.Depth}); err != nil {
		warnings = append(warnings, protocol.InvalidReply+": "+err.Error())
	}
	for _, m := range jsonspan.Members(object) {
		value := m.Value
		switch m.Name {
		case "reason", "context", "notice":
			words := jsonspan.LenientText(value)
			if jsonspan.Kind(value) != '"' {
				warnings = append(warnings, m.Name+" is "+jsonspan.KindName(value)+", not a string")
				if m.Name == "reason" && jsonspan.Kind(value) != 'n' {
					words = text.Shorten(text.Valid(string(value)), 1000)
				}
			}
			switch m.Name {
			case "reason":
				reply.Reason = words
			case "context":
				reply.Context = words
			case "notice":
				reply.Notice = words
			}
		case "state", "metadata":
			clean, err := protocol.StrictJSON(value, protocol.DecodeLimits{Size: 1 << 62, Depth: r.lim.Depth})
			if err != nil {
				warnings = append(warnings, m.Name+" is not valid and is dropped")
				continue
			}
			if m.Name == "state" {
				reply.State = slices.Clone(clean)
			} else {
				reply.Metadata = slices.Clone(clean)
			}
		case "changes", "patch", "result", "response", "messages", "callback":
			warnings = append(warnings, m.Name+" beside "+string(no)+" is ignored")
		case "action":
		case "id":
			if id := jsonspan.LenientText(value); id != "" && id != r.eventID {
				warnings = append(warnings, fmt.Sprintf("the reply repeats the id %q of another event", text.Shorten(id, 60)))
			}
		default:
			if len(warnings) >= maxWarnings {
				warnings = append(warnings, "") // counted only
				continue
			}
			warnings = append(warnings, unknownMember(m.Name))
		}
	}
	if strings.TrimSpace(reply.Reason) == "" {
		reply.Reason = protocol.NoReason
	}
	if n := len(warnings) - maxWarnings; n > 0 {
		warnings = append(warnings[:maxWarnings], fmt.Sprintf("%d more faults in the reply", n))
	}
	warnings = append(warnings, r.bound(&reply)...)
	return reply, warnings
}
