package agentloop

import (
	"context"
	"iter"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/protocol"
)

// Hooks of one layer neither use up nor set how often those of another may force
// the agent on.
func TestForcedIsCountedPerLayer(t *testing.T) {
	on := func(layer protocol.Layer, name string, times int) hook {
		return hook{on: protocol.AgentStop, layer: layer, name: name, times: times, reply: protocol.Reply{Action: protocol.Block, Reason: name}}
	}
	caps := map[protocol.Origin]int{{Layer: protocol.Project}: 0, {Layer: protocol.Project, Above: 1}: 1, {Layer: protocol.User}: 2, {Layer: protocol.Managed}: 3}
	for name, c := range map[string]struct {
		hooks []hook
		calls int
	}{
		"a lower layer's 0 is its own":         {[]hook{on(protocol.Managed, "m", 0), on(protocol.Project, "p", 0)}, 4},
		"a lower layer uses up its own":        {[]hook{on(protocol.User, "u", 0), on(protocol.Managed, "m", 0)}, 4},
		"only the lower layer, to its own cap": {[]hook{on(protocol.User, "u", 0)}, 3},
		"an inner project's 0 is its own":      {[]hook{on(protocol.Project, "p", 0), on(protocol.Project, "../p", 0)}, 2},
		"none at all":                          {[]hook{on(protocol.Project, "p", 0)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFakeLoop(t, answers(40, false), c.hooks, func(o *Options) {
					o.NoDefaults = true
					o.Limits.ForcedOf = func(o protocol.Origin) (row, total int) { return caps[o], 20 }
				}).prompt(t, t.Context(), "go!")
				if n := len(s.model.requests); n != c.calls || s.err != nil {
					t.Errorf("%d model calls, want %d: %v", n, c.calls, s.err)
				}
			})
		})
	}
}

// endless is a model that never ends.
type endless struct{ chunk model.Chunk }

func (endless) Name() string { return "endless" }

func (e endless) Generate(ctx context.Context, _ model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		for ctx.Err() == nil && yield(e.chunk, nil) {
		}
	}
}

// An answer without end is ended, in words, before it takes the memory.
func TestEndlessAnswerEnds(t *testing.T) {
	for name, c := range map[string]struct {
		chunk model.Chunk
		says  string
	}{
		"text":  {model.Chunk{Type: model.Text, Text: strings.Repeat("x", 1000)}, "larger than 16 MiB"},
		"calls": {model.Chunk{Type: model.PartDone, Part: protocol.Part{Type: protocol.PartToolCall, Name: "echo", Args: []byte("{}")}}, "more than 4096 parts"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			s := newFakeLoop(t, "turns:\n- text: x\n", nil, func(o *Options) { o.NoDefaults, o.Model = true, endless{c.chunk} }).prompt(t, t.Context(), "go!")
			runtime.ReadMemStats(&after)
			if s.err == nil || !strings.Contains(s.err.Error(), c.says) {
				t.Errorf("ended with %v", s.err)
			}
			if took, grown := time.Since(began), (after.Sys-before.Sys)>>20; took > 10*time.Second || grown > 300 {
				t.Errorf("took %s and %d MiB", took, grown)
			}
		})
	}
}
