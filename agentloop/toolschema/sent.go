package toolschema

import (
	"encoding/json"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// Sent is how a tool is offered to a provider.
type Sent struct {
	Schema json.RawMessage
	// Rule is what the schema leaves out: text for the description, so that the
	// model knows it. "": nothing.
	Rule string
}

// Describe is a tool's description with the rule after it.
func (s Sent) Describe(description string) string {
	return strings.TrimLeft(strings.TrimRight(description+"\n\n"+s.Rule, "\n"), "\n")
}

// Without returns an object schema without the properties whose names a provider
// does not take, and a rule that tells the model of them.
func Without(sent Sent, takes func(name string) bool) Sent {
	o := jsonspan.ReadMemberList(sent.Schema)
	var kept, left jsonspan.MemberList
	for _, p := range propertiesOf(o) {
		if takes(p.Name) {
			kept = append(kept, p)
		} else {
			left = append(left, p)
		}
	}
	if len(left) == 0 {
		return sent
	}
	o.Set("properties", kept.JSON())
	var required []string
	for _, name := range texts(o.Get("required")) {
		if takes(name) {
			required = append(required, name)
		}
	}
	if o.Get("required") != nil {
		o.Set("required", listOf(required))
	}
	if jsonspan.Kind(o.Get("additionalProperties")) == 'f' {
		o.Remove("additionalProperties")
	}
	rule := "It takes further args, by their names and schemas: " + string(left.JSON())
	if sent.Rule != "" {
		rule = sent.Rule + "\n" + rule
	}
	return Sent{Schema: o.JSON(), Rule: rule}
}
