package builtin

import (
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

// TestTokensUnknown asserts that usage that is not told is estimated from what
// the model wrote in this run, told or not, and that the person is told once.
func TestTokensUnknown(t *testing.T) {
	hook := Tokens(10).Hooks[0] // reached by 40 bytes
	type step struct {
		agent   string
		step    int
		answers []int // bytes of each answer in the conversation
		told    int64 // -1: unknown
		stops   bool
		notice  bool
	}
	for name, steps := range map[string][]step{
		"told":                     {{step: 1, answers: []int{400}, told: 9}, {step: 2, answers: []int{400, 1}, told: 10, stops: true}},
		"nothing used yet":         {{step: 0, answers: []int{400}, told: -1}},
		"one step":                 {{step: 1, answers: []int{400, 39}, told: -1, notice: true}, {step: 2, answers: []int{400, 39, 1}, told: -1, stops: true}},
		"far from the limit":       {{step: 1, answers: []int{10}, told: -1}, {step: 2, answers: []int{10, 9}, told: -1}, {step: 3, answers: []int{10, 9, 1}, told: -1, notice: true}, {step: 4, answers: []int{10, 9, 1, 1}, told: -1}},
		"unknown from step 3 on":   {{step: 2, answers: []int{20, 10}, told: 7}, {step: 3, answers: []int{20, 10, 10}, told: -1, stops: true, notice: true}},
		"compacted in between":     {{step: 1, answers: []int{20}, told: -1, notice: true}, {step: 2, answers: []int{19}, told: -1}, {step: 3, answers: []int{1}, told: -1, stops: true}},
		"a second run":             {{step: 1, answers: []int{39}, told: -1, notice: true}, {step: 1, answers: []int{39, 39}, told: -1, notice: true}},
		"a sub-agent in the midst": {{step: 1, answers: []int{30}, told: -1, notice: true}, {agent: "sub", step: 1, answers: []int{30}, told: -1, notice: true}, {step: 2, answers: []int{30, 10}, told: -1, stops: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var state protocol.RawMessage
			for i, s := range steps {
				var data protocol.StepStartData
				for _, size := range s.answers {
					data.Messages = append(data.Messages,
						protocol.Message{Role: protocol.RoleAssistant, Content: protocol.TextContent(strings.Repeat("x", size))},
						protocol.Message{Role: protocol.RoleUser, Content: protocol.TextContent("a long question that does not count")})
				}
				encoded, err := protocol.Marshal(data)
				if err != nil {
					t.Fatal(err)
				}
				ev := &protocol.Event{Event: protocol.StepStart, Step: s.step, Data: encoded, State: state, Agent: protocol.Agent{ID: "main"}}
				if s.agent != "" {
					parent := "main"
					ev.Agent = protocol.Agent{ID: s.agent, Parent: &parent, Depth: 1}
				}
				if s.told >= 0 {
					ev.Usage.OutputTokens = &s.told
				}
				reply, err := hook.Func(t.Context(), ev)
				if err != nil {
					t.Fatal(err)
				}
				if got := reply.Action == protocol.Stop; got != s.stops {
					t.Errorf("event %d: stops %v: %s", i, got, reply.Reason)
				}
				if got := reply.Notice != ""; got != s.notice {
					t.Errorf("event %d: notice %q", i, reply.Notice)
				}
				if reply.State != nil {
					state = reply.State
				}
			}
		})
	}
}
