package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
)

// refusal finds the no that counts, if there is one.
func (r *reader) refusal() (ReadResult, bool) {
	var no Action
	var at document
	for _, d := range r.output.documents {
		a := looseRefusal(r.object(d))
		if a == "" || mayRefuse(r.spec, r.hook, a) != nil {
			continue
		}
		if no == "" || no == Block && a == Stop {
			no, at = a, d
		}
	}
	if no == "" {
		return ReadResult{}, false
	}
	reply, warnings := r.readRefusal(no, r.object(at))
	warnings = append(r.warnings(), warnings...)
	if len(r.output.documents) > 1 {
		warnings = append(warnings, fmt.Sprintf("%d JSON objects on stdout; the %s counts, the others do not", len(r.output.documents), no))
	}
	return ReadResult{Reply: &reply, Warnings: warnings}, true
}

// looseRefusal returns block or stop if that is what an object's action says. Of
// a repeated action the strongest no counts.
func looseRefusal(object RawMessage) Action {
	var no Action
	for _, m := range jsonspan.Members(object) {
		if jsonspan.LenientText(m.Key) != "action" {
			continue
		}
		switch Action(jsonspan.LenientText(m.Value)) {
		case Block, Deny:
			if no == "" {
				no = Block
			}
		case Stop:
			no = Stop
		}
	}
	return no
}

// looseMember returns the text of the first member of that name, or "".
func looseMember(object RawMessage, name string) string {
	for _, m := range jsonspan.Members(object) {
		if m.Name == name {
			return jsonspan.LenientText(m.Value)
		}
	}
	return ""
}

const maxWarnings = 10 // faults of one reply that are named; the rest is counted

// readRefusal takes from a block or stop what can be read of it.
func (r *reader) readRefusal(no Action, object RawMessage) (Reply, []string) {
	reply := Reply{Action: no}
	var warnings []string
	if _, err := strictJSON(object, DecodeLimits{Size: 1 << 62, Depth: r.lim.Depth}); err != nil {
		warnings = append(warnings, invalidReply+": "+err.Error())
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
			clean, err := strictJSON(value, DecodeLimits{Size: 1 << 62, Depth: r.lim.Depth})
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
		reply.Reason = reasonNone
	}
	if n := len(warnings) - maxWarnings; n > 0 {
		warnings = append(warnings[:maxWarnings], fmt.Sprintf("%d more faults in the reply", n))
	}
	warnings = append(warnings, r.bound(&reply)...)
	return reply, warnings
}
