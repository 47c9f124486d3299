package builtin_test

import (
	"testing"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
)

// scriptedRun is a run of the loop with a scripted model.
type scriptedRun struct {
	result agentloop.Result
	err    error
	yields []agentloop.Update
	model  *model.Scripted
}

// runScript runs a prompt in a loop with some features and an executor that keeps
// state, besides hooks of other layers.
func runScript(t *testing.T, script string, features []agentloop.Provider, hooks ...protocol.GoHook) scriptedRun {
	t.Helper()
	scripted, err := model.Parse("script.yaml", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	set, err := executor.StaticSet(hooks...)
	if err != nil {
		t.Fatal(err)
	}
	gate := executor.New(set, executor.Options{StateDir: t.TempDir()})
	defer gate.Close(t.Context())
	loop, err := agentloop.New(agentloop.Options{Gate: gate, Model: scripted, System: "be good", Providers: features, NoDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	run, err := loop.Run(t.Context(), "go!")
	if err != nil {
		t.Fatal(err)
	}
	p := scriptedRun{model: scripted}
	for y := range run.Events() {
		p.yields = append(p.yields, y)
	}
	p.err = run.Wait()
	p.result = run.Result()
	if _, err := loop.Close(t.Context(), "exit"); err != nil {
		t.Error(err)
	}
	return p
}

// last is the last event of a name that the run yielded.
func (p *scriptedRun) last(name protocol.EventName) *agentloop.Update {
	for i := len(p.yields) - 1; i >= 0; i-- {
		if y := &p.yields[i]; y.Kind == agentloop.UpdateEvent && y.Event.Event == name {
			return y
		}
	}
	return nil
}
