package eventcmd

import (
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

// Every event has a sample, and hookd itself takes it for an event.
func TestSamplesAreEvents(t *testing.T) {
	for i := range protocol.Table {
		spec := &protocol.Table[i]
		for _, tools := range [][]string{nil, {"@write"}, {"@net"}, {"*"}, {"my_tool"}} {
			event := protocol.Event{Protocol: protocol.Version, Event: spec.Name, Data: sampleData(spec.Name, tools)}
			if err := protocol.CheckEvent(&event); err != nil {
				t.Errorf("%s with tools %v: %v", spec.Name, tools, err)
			}
		}
	}
}
