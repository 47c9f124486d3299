package forced_test

import (
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/forced"
)

// Each origin has its own count, and one that has some left is enough.
func TestCounts(t *testing.T) {
	project, managed := protocol.Origin{Layer: protocol.Project}, protocol.Origin{Layer: protocol.Managed}
	above := protocol.Origin{Layer: protocol.Project, Above: 1}
	most := func(protocol.Origin) forced.Count { return forced.Count{Row: 2, Total: 3} }
	var c forced.Counts
	for i, step := range []struct {
		by   []protocol.Origin
		tool bool
		want string // "" if it goes on
	}{
		{by: []protocol.Origin{project}},
		{by: []protocol.Origin{project, above}},
		{by: []protocol.Origin{project}, want: "it was forced on 2 times in a row without a tool call"},
		{by: []protocol.Origin{project, above}}, // the one above has one left
		{by: []protocol.Origin{managed}},
		{tool: true, by: []protocol.Origin{project}},
		{by: []protocol.Origin{project}, want: "it was forced on 3 times since the last prompt"},
		{by: []protocol.Origin{managed, project}},
	} {
		if step.tool {
			c.ToolCalled()
		}
		said := ""
		if reached := c.Add(step.by, most); reached != nil {
			said = reached.String()
		}
		if said != step.want {
			t.Errorf("%d: %q, want %q", i, said, step.want)
		}
	}
	if c.All != (forced.Count{Row: 2, Total: 6}) {
		t.Errorf("%+v", c)
	}
}
