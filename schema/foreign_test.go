package schema

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/document"
)

// resolved reads one settings entry and resolves it with the defaults of hookd.
func resolved(t *testing.T, entry string, defaults Defaults) (Resolution, []Finding) {
	t.Helper()
	node, err := document.Parse(document.JSON, []byte(entry))
	if err != nil {
		t.Fatal(err)
	}
	d, findings := DecodeEntry(node, FromSettings, Pos{File: "acai.json"}, "h")
	if defaults.Timeout == 0 {
		defaults.Timeout, defaults.Budget = builtInTimeout, time.Minute
	}
	defaults.Layer, defaults.Name = protocol.User, "h"
	r, more := Resolve(defaults, d)
	return r, append(findings, more...)
}

// TestEntriesOfOtherAgents: what an entry with another agent's dialect comes to.
func TestEntriesOfOtherAgents(t *testing.T) {
	for name, test := range map[string]struct {
		entry    string
		defaults Defaults
		check    func(h *Hook) bool
		finding  string // "" for none but that it fails open
		rejected bool
	}{
		"the agent's names": {
			entry: `"dialect":"claude","events":["PreToolUse","Stop"],"matcher":"Bash","command":"./guard.sh --x"`,
			check: func(h *Hook) bool {
				return slices.Equal(h.Events, []protocol.EventName{protocol.ToolCallStart, protocol.AgentStop}) && slices.Equal(h.Named, []string{"PreToolUse", "Stop"}) &&
					h.Matcher == "Bash" && slices.Equal(h.Command, []string{"/bin/sh", "-c", "./guard.sh --x"}) && h.ByDialect && h.OnFailure == protocol.RuleBlock && h.Guards() && h.Timeout == time.Minute
			},
		},
		"our names":                {entry: `"dialect":"cursor","events":["tool-call-start"]`, check: func(h *Hook) bool { return h.Events[0] == protocol.ToolCallStart && h.ByDialect }},
		"all events":               {entry: `"dialect":"kodelet","events":"*"`, check: func(h *Hook) bool { return len(h.Events) == 6 }},
		"it only watches":          {entry: `"dialect":"claude","events":["PostToolUse"]`, check: func(h *Hook) bool { return !h.ByDialect && h.OnFailure == protocol.RuleContinue && !h.Guards() }},
		"a rule of its own":        {entry: `"dialect":"claude","events":["PreToolUse"],"onFailure":"continue"`, check: func(h *Hook) bool { return !h.ByDialect && h.OnFailure == protocol.RuleContinue }},
		"a guard in our words":     {entry: `"dialect":"claude","events":["PreToolUse"],"can":"block"`, check: func(h *Hook) bool { return !h.ByDialect && h.OnFailure == protocol.RuleBlock }},
		"required":                 {entry: `"dialect":"claude","events":["PreToolUse"],"required":true`, check: func(h *Hook) bool { return !h.ByDialect && h.OnFailure == protocol.RuleBlock }},
		"the machine's least rule": {entry: `"dialect":"claude","events":["PreToolUse"]`, defaults: Defaults{Least: protocol.RuleStop}, check: func(h *Hook) bool { return !h.ByDialect && h.OnFailure == protocol.RuleStop }},
		"the layer's rule":         {entry: `"dialect":"claude","events":["PreToolUse"]`, defaults: Defaults{OnFailure: protocol.RuleBlock}, check: func(h *Hook) bool { return !h.ByDialect && h.OnFailure == protocol.RuleBlock }},
		"milliseconds":             {entry: `"dialect":"gemini","events":["BeforeTool"],"timeout":2500`, check: func(h *Hook) bool { return h.Timeout == 2500*time.Millisecond }},
		"seconds":                  {entry: `"dialect":"copilot","events":["preToolUse"],"timeout":25`, check: func(h *Hook) bool { return h.Timeout == 25*time.Second }},
		"a unit":                   {entry: `"dialect":"gemini","events":["BeforeTool"],"timeout":"3s"`, check: func(h *Hook) bool { return h.Timeout == 3*time.Second }},
		"the agent's limit":        {entry: `"dialect":"copilot","events":["preToolUse"]`, check: func(h *Hook) bool { return h.Timeout == 30*time.Second }},
		"a limit of the settings":  {entry: `"dialect":"claude","events":["PreToolUse"]`, defaults: Defaults{Timeout: 5 * time.Second}, check: func(h *Hook) bool { return h.Timeout == 5*time.Second }},

		"an event that hookd has nothing like": {entry: `"dialect":"claude","events":["WorktreeCreate"]`, finding: "hookd has none like it", rejected: true},
		"one of two":                           {entry: `"dialect":"claude","events":["PreToolUse","WorktreeCreate"]`, finding: "hookd has none like it", check: func(h *Hook) bool { return len(h.Events) == 1 }},
		"a misspelt event":                     {entry: `"dialect":"claude","events":["PreTolUse"]`, finding: `did you mean "PreToolUse"?`, rejected: true},
		"a string for a shell of our own":      {entry: `"events":["tool-call-start"],"command":"rm -rf x"`, finding: "no shell reads it", rejected: true},
		"a matcher of our own":                 {entry: `"events":["tool-call-start"],"matcher":"Bash"`, finding: "no dialect says which", rejected: true},
		"a matcher that cannot be compared":    {entry: `"dialect":"claude","events":["PreToolUse"],"matcher":"^(?!Read)"`, finding: "asked about every tool", check: func(h *Hook) bool { return h.ByDialect }},
		"a process that waits":                 {entry: `"dialect":"claude","events":["PreToolUse"],"run":"standby"`, finding: "has no meaning for it", rejected: true},
		"a misspelt dialect":                   {entry: `"dialect":"cluade","events":["PreToolUse"]`, finding: "a protocol this version speaks", rejected: true},
	} {
		t.Run(name, func(t *testing.T) {
			r, findings := resolved(t, `{"name":"h",`+test.entry+`}`, test.defaults)
			if r.Rejected != test.rejected {
				t.Fatalf("rejected %v: %v", r.Rejected, findings)
			}
			if test.check != nil && !test.check(&r.Hook) {
				t.Errorf("%+v", r.Hook)
			}
			var said []string
			open := false
			for _, f := range findings {
				if f.Code == string(CodeFailsOpen) {
					open = true
				} else {
					said = append(said, f.String())
				}
			}
			if all := strings.Join(said, "\n"); (test.finding == "") != (all == "") || !strings.Contains(all, test.finding) {
				t.Errorf("findings: %s", all)
			}
			if open != (r.Hook.ByDialect && !r.Rejected) {
				t.Errorf("fails open: said %v", open)
			}
			if name == "a misspelt dialect" && !r.Guards {
				t.Error("a guard whose dialect is misspelt is merely absent")
			}
		})
	}
}
