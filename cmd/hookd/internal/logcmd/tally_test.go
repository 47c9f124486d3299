package logcmd

import (
	"testing"

	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/protocol"
)

// An ask counts as refused where the record says that nobody could be asked. One that a person was
// asked about does not: the answer is an event of its own.
func TestTallyOfAsks(t *testing.T) {
	by := "h"
	for name, test := range map[string]struct {
		event   record.Event
		refused int
	}{
		"nobody can be asked":      {record.Event{Action: protocol.Ask, By: &by, Lost: []string{"the hook h wants a person to decide, and this host cannot ask one: refused"}}, 1},
		"the person is asked":      {record.Event{Action: protocol.Ask, By: &by}, 0},
		"something else is lost":   {record.Event{Action: protocol.Ask, By: &by, Lost: []string{"the hook h gives text to the model, and an ACP proxy cannot at tool-call-start"}}, 0},
		"a host that only watches": {record.Event{Action: protocol.Ask, By: &by, Lost: []string{"the hook h wants a person to decide, and an agent cannot ask at agent-end"}}, 0},
		"the person allows":        {record.Event{Event: protocol.PermissionRequest, Action: protocol.Allow, Answered: &protocol.Answered{By: protocol.ByPerson}}, 0},
		"the person refuses":       {record.Event{Event: protocol.PermissionRequest, Action: protocol.Block, Answered: &protocol.Answered{By: protocol.ByPerson}}, 1},
	} {
		body, err := protocol.Marshal(&test.event)
		if err != nil {
			t.Fatal(err)
		}
		var sum tally
		sum.add(&record.Line{Kind: record.KindEvent, Raw: body})
		if sum.events != 1 || sum.refused != test.refused {
			t.Errorf("%s: %+v", name, sum)
		}
	}
}
