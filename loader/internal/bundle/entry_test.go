package bundle

import (
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// The parts of an entry are no objects of their own in what is hashed.
func TestEntryIsFlat(t *testing.T) {
	h := schema.Hook{
		Events: []protocol.EventName{"tool-call-start"}, Match: schema.Match{Tool: []string{"Bash"}}, Priority: 3, Enabled: true,
		Can: protocol.CanBlock, Mode: protocol.Enforce, OnFailure: protocol.RuleStop, Required: true, Timeout: 3 * time.Second, Sensitive: true,
		Command: []string{"a"}, Args: []string{"b"}, Run: schema.Once, Env: []string{"C"}, Files: []string{"d"}, InPlace: true,
		Dialect: "hookd", Protocol: 1, Description: "e",
	}
	const want = `{"args":["b"],"can":"block","command":["a"],"description":"e","dialect":"hookd","enabled":true,"env":["C"],` +
		`"events":["tool-call-start"],"files":["d"],"inPlace":true,"match":{"tool":["Bash"]},"mode":"enforce","onFailure":"stop",` +
		`"priority":3,"protocol":1,"required":true,"run":"once","sensitive":true,"timeout":"3s"}`
	e := EntryOf(schema.Resolution{Hook: h})
	if raw, err := Canonical(e); err != nil || string(raw) != want {
		t.Errorf("%s (%v), want %s", raw, err, want)
	}
	const least = `{"can":"","dialect":"","enabled":false,"mode":"","onFailure":"","protocol":0,"run":""}`
	if raw, err := Canonical(Entry{}); err != nil || string(raw) != least {
		t.Errorf("%s (%v), want %s", raw, err, least)
	}
}
