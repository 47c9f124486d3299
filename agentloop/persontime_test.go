package agentloop

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/protocol"
)

// A person who takes half an hour to answer does not use up the time of the run; the
// tools after that still do.
func TestAPersonsTimeIsNotTheRuns(t *testing.T) {
	for name, c := range map[string]struct {
		limit, work time.Duration
		end         string
	}{
		"the rest fits":         {time.Minute, 10 * time.Second, done},
		"the rest takes longer": {time.Minute, 2 * time.Minute, "agent-end time"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &fakePerson{option: "allow", wait: 30 * time.Minute}
				slow := hook{on: protocol.StepStop, name: "slow", dynamic: func(protocol.Event) (reply protocol.Reply) {
					time.Sleep(c.work)
					return reply
				}}
				h := ask()
				s := newFakeLoop(t, twoSteps, []hook{h, slow}, func(o *Options) {
					o.Approver = p
					o.Providers = append([]Provider{builtin.Time(c.limit)}, o.Providers...)
				}).prompt(t, t.Context(), "go!")
				if got := s.ending(); got != c.end {
					t.Errorf("ended with %s, want %s", got, c.end)
				}
			})
		})
	}
}
