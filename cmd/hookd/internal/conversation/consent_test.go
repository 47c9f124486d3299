package conversation

import (
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// What a person allows for now, by the mode of an editor's session, is asked about where the
// machine's settings leave it to a person.
func TestStandingConsentIsBoundedByTheMachine(t *testing.T) {
	words := func(list ...string) (allowed []toolname.Allowed) {
		allowed, err := allowedTools(list)
		if err != nil {
			t.Fatal(err)
		}
		return allowed
	}
	bash := &protocol.Call{Name: "bash", Kind: protocol.KindShell, Args: protocol.RawMessage(`{"command":"make"}`)}
	write := &protocol.Call{Name: "write_file", Kind: protocol.KindWrite, Args: protocol.RawMessage(`{}`)}
	for name, test := range map[string]struct {
		standing, most []toolname.Allowed
		bounded        bool
		asksBash       bool
		asksWrite      bool
	}{
		"nothing":                        {nil, nil, false, true, true},
		"writes":                         {words("write"), nil, false, true, false},
		"all":                            {words("shell", "write"), nil, false, false, false},
		"all, and the machine has a say": {words("shell", "write"), words("write"), true, true, false},
		"all, and the machine wants all": {words("shell", "write"), nil, true, true, true},
	} {
		c := &consent{standing: func() []toolname.Allowed { return test.standing }, most: test.most, bounded: test.bounded, admits: func(string) bool { return false }}
		asksBash, by := c.asks(bash)
		asksWrite, _ := c.asks(write)
		if asksBash != test.asksBash || asksWrite != test.asksWrite {
			t.Errorf("%s: asks about bash %v, about writes %v", name, asksBash, asksWrite)
		}
		if !asksBash && (by == nil || by.By != protocol.ByAlways) {
			t.Errorf("%s: allowed by %+v", name, by)
		}
	}
}
