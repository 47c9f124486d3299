package agentloop

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// TestToolOutput asserts that output is shown while a tool works, and not at all
// while a hook may still refuse or change it.
func TestToolOutput(t *testing.T) {
	for name, c := range map[string]struct {
		holds bool
		only  protocol.EventName
		hook  hook
		want  []string
	}{
		"free":                             {false, "", hook{}, []string{"c1 one", "c1 two", "tool-call-end"}},
		"held, passed":                     {true, "", hook{}, []string{"tool-call-end"}},
		"held, changed":                    {true, "", modify(`{"result":{"content":"tame","isError":false}}`), []string{"tool-call-end"}},
		"held, refused":                    {true, "", block("no"), []string{"tool-call-end"}},
		"held, for its result alone":       {true, protocol.ToolCallEnd, hook{}, []string{"tool-call-end"}},
		"held, for the output in an error": {true, protocol.ToolCallError, hook{}, []string{"tool-call-end"}},
		"only what follows is held":        {true, protocol.StepStop, hook{}, []string{"c1 one", "c1 two", "tool-call-end"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.hook.on = protocol.ToolCallEnd
				s := newFakeLoop(t, twoSteps, []hook{c.hook})
				s.gate.holds, s.gate.only = c.holds, c.only
				s.tool.run = func(ctx context.Context, _ string) (protocol.Result, error) {
					tool.Output(ctx, "one")
					time.Sleep(time.Second)
					tool.Output(ctx, "")
					tool.Output(ctx, "two")
					go func() {
						time.Sleep(time.Second)
						tool.Output(ctx, "too late")
					}()
					return protocol.Result{Content: protocol.TextContent("SECRET onetwo")}, nil
				}
				s.prompt(t, t.Context(), "go!")
				time.Sleep(2 * time.Second) // an output after the end of the run does no harm
				var got []string
				for _, u := range s.updates {
					switch {
					case u.Kind == UpdateOutput:
						got = append(got, u.Output.ToolCallID+" "+u.Output.Text)
					case u.Event.Event == protocol.ToolCallEnd:
						got = append(got, string(u.Event.Event))
					}
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if secret := c.hook.reply.Action == ""; strings.Contains(s.shown(), "SECRET") != secret {
					t.Errorf("shown:\n%s", s.shown())
				}
			})
		})
	}
}

// TestOutputWithoutAWatcher asserts that a tool whose output nobody reads ends
// with the run.
func TestOutputWithoutAWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeLoop(t, twoSteps, nil)
		s.gate.holds = false
		s.tool.run = func(ctx context.Context, _ string) (protocol.Result, error) {
			for ctx.Err() == nil {
				tool.Output(ctx, "more")
			}
			return protocol.Result{}, ctx.Err()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		run, err := s.loop.Run(ctx, "go!")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		run.Wait()
		if took := time.Since(began); took > time.Second+250*time.Millisecond {
			t.Errorf("took %s", took)
		}
	})
}
