//go:build !concurrent

// These tests only compute: test/progress/goroutines.go says who runs them.

package conversation

import (
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		m    []protocol.Message
		good bool
	}{
		"good":                    {short("ucra"), true},
		"open call":               {short("uo"), true},
		"empty message":           {[]protocol.Message{{Role: protocol.RoleUser}}, false},
		"unknown role":            {[]protocol.Message{{Role: "system", Content: protocol.TextContent("x")}}, false},
		"result alone":            {short("ur"), false},
		"two results":             {append(short("ucr"), short("ucr")[2]), false},
		"open call in the middle": {append(short("uo"), short("u")...), true},
		"call twice":              {append(short("uc"), short("uc")[1]), false},
		"nothing at all":          {nil, true},
	} {
		if err := Check(c.m); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
		resumable := c.good && name != "open call in the middle"
		if err := checkResumed(c.m); (err == nil) != resumable {
			t.Errorf("%s, resumed: %v", name, err)
		}
	}
}
