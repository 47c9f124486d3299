package agentloop

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// fakeSource is a source whose tools come and go.
type fakeSource struct {
	mu    sync.Mutex
	tools []tool.Tool
}

func (s *fakeSource) Tools() []tool.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]tool.Tool(nil), s.tools...)
}

func (s *fakeSource) put(tools ...tool.Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = tools
}

// serverTool is a tool of a source.
type serverTool struct {
	fakeTool
	schema string
}

func (s *serverTool) Describe() tool.Description {
	d := s.fakeTool.Describe()
	d.Kind, d.Server = protocol.KindMCP, "srv"
	if s.schema != "" {
		d.Schema = protocol.RawMessage(s.schema)
	}
	return d
}

func named(name string) *serverTool { return &serverTool{fakeTool: fakeTool{name: name}} }

// offers are the names of the tools in each model call.
func (s *fakeLoop) offers() []string {
	var list []string
	for _, r := range s.model.requests {
		var names []string
		for _, t := range r.Tools {
			names = append(names, t.Name)
		}
		list = append(list, strings.Join(names, " "))
	}
	return list
}

func (s *fakeLoop) notes(t *testing.T) []string {
	var list []string
	for i := range s.gate.count(protocol.Notification) {
		list = append(list, fired[protocol.NotificationData](t, s.gate, protocol.Notification, i).Text)
	}
	return list
}

// TestToolsComeAndGo asserts what is offered at each step, and what the model
// reads of a tool that is gone.
func TestToolsComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := `
turns:
- toolCalls: [{id: c1, name: echo, args: {text: hi}}]
- toolCalls: [{id: c2, name: late, args: {text: ho}}]
- toolCalls: [{id: c3, name: late, args: {text: hu}}]
- toolCalls: [{id: c4, name: other, args: {text: hu}}]
- text: done
`
		late, source := named("late"), &fakeSource{}
		s := newFakeLoop(t, script, nil, func(o *Options) { o.Sources = []tool.Source{source} })
		s.gate.after = func(_ int, e protocol.Event) { // as a server that starts, ends, starts again
			switch {
			case e.Event == protocol.StepStop && e.Step == 1:
				source.put(late)
			case e.Event == protocol.StepStop && e.Step == 2:
				source.put()
			case e.Event == protocol.StepStop && e.Step == 3:
				source.put(named("late"), named("other"))
			}
		}
		s.prompt(t, t.Context(), "go!")
		want := []string{"echo", "echo late", "echo", "echo late other", "echo late other"}
		if diff := cmp.Diff(want, s.offers()); diff != "" {
			t.Errorf("offered (-want +got):\n%s", diff)
		}
		if got := late.ran(); !cmp.Equal(got, []string{"ho"}) {
			t.Errorf("the tool ran with %q", got)
		}
		start := fired[protocol.ToolCallStartData](t, s.gate, protocol.ToolCallStart, 1)
		if start.Kind != protocol.KindMCP || start.Server != "srv" {
			t.Errorf("hooks saw %+v", start.Call)
		}
		gone := fired[protocol.ToolCallErrorData](t, s.gate, protocol.ToolCallError, 0)
		if gone.ToolCallID != "c3" || gone.Error.Kind != protocol.CallUnknownTool || !strings.Contains(gone.Error.Text, "the tool late is not there any more") {
			t.Errorf("the model read %+v", gone)
		}
		if s.ending() != done {
			t.Errorf("ended with %s: %v", s.ending(), s.err)
		}
	})
}

// TestToolsThatClash asserts that of two tools with a name the first stays, and
// that each complaint is made once.
func TestToolsThatClash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := named("broken")
		broken.schema = `{"type":3}`
		one, two := &fakeSource{}, &fakeSource{}
		one.put(named("echo"), named("both"), named("nameless"), broken)
		two.put(named("both"), named("twice"), named("twice"), named(""))
		s := newFakeLoop(t, twoSteps, nil, func(o *Options) { o.Sources = []tool.Source{one, two} })
		s.prompt(t, t.Context(), "go!")
		if got := s.offers(); !cmp.Equal(got, []string{"echo both nameless twice", "echo both nameless twice"}) {
			t.Errorf("offered %q", got)
		}
		if got := s.tool.ran(); len(got) != 1 {
			t.Errorf("the first echo ran with %q", got)
		}
		notes := strings.Join(s.notes(t), "\n")
		for _, want := range []string{
			"there is a tool named echo already; the one of the server srv is not offered",
			"there is a tool named both already", "there is a tool named twice already",
			"a tool of the server srv is not offered: tool broken: schema:", "a tool has no name",
		} {
			if strings.Count(notes, want) != 1 {
				t.Errorf("the person read %q not once in:\n%s", want, notes)
			}
		}
	})
}

// TestAHooksToolListStays asserts that a tool that comes late is shown to hooks at
// agent-start before the model may call it, once they have changed the list.
func TestAHooksToolListStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &fakeSource{}
		source.put(named("early"), named("unwanted"))
		keeps := hook{on: protocol.AgentStart, dynamic: func(e protocol.Event) protocol.Reply {
			var d protocol.AgentStartData
			json.Unmarshal(e.Data, &d)
			var kept []protocol.Tool
			for _, offered := range d.Tools {
				if offered.Name != "unwanted" {
					kept = append(kept, offered)
				}
			}
			if len(kept) == len(d.Tools) {
				return protocol.Reply{}
			}
			list, _ := protocol.Marshal(kept)
			return protocol.Reply{Action: protocol.Modify, Changes: raw(`{"tools":%s}`, list)}
		}}
		s := newFakeLoop(t, twoSteps, []hook{keeps}, func(o *Options) { o.Sources = []tool.Source{source} })
		s.gate.after = func(_ int, e protocol.Event) {
			if e.Event == protocol.StepStop && e.Step == 1 && e.Turn == 1 {
				source.put(named("early"), named("unwanted"), named("late"))
			}
		}
		s.prompt(t, t.Context(), "go!").prompt(t, t.Context(), "again")
		want := []string{"echo early", "echo early", "echo early late"}
		if diff := cmp.Diff(want, s.offers()[:3]); diff != "" {
			t.Errorf("offered (-want +got):\n%s", diff)
		}
	})
}
