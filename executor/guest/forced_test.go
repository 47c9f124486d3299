package guest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/forced"
)

// forcing returns a hook of a layer that always wants the run to go on.
func forcing(layer protocol.Layer, action protocol.Action) *executor.Hook {
	return executor.HookOf(protocol.GoHook{
		Name: "on-" + string(layer), Layer: layer, Events: []protocol.EventName{protocol.AgentStop, protocol.SubagentStop}, Can: protocol.CanModify,
		Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
			r := protocol.Reply{Action: action, Reason: "go on, please"}
			if action == protocol.Continue {
				r.Messages = protocol.RawMessage(`[{"role":"user","content":"go on, please"}]`)
			}
			return r, nil
		},
	})
}

func hostEvent(host string, name protocol.EventName, data string) protocol.Event {
	ev := event(host, "ls")
	ev.Event, ev.Data = name, protocol.RawMessage(data)
	return ev
}

const (
	stopData   = `{"reason":"done","response":"","messages":[],"continued":0,"continuedTotal":0,"host":{}}`
	promptData = `{"prompt":"%s","source":"user","attachments":[],"host":{}}`
	toolData   = `{"toolCallId":"c","name":"bash","kind":"shell","args":{"command":"ls"},"host":{}}`
)

// A hook that always forces a run on does so as often as the settings let it, under every
// agent, whether each event meets a new process or one daemon.
func TestForcingOnEnds(t *testing.T) {
	for _, host := range []string{"claude", "codex", "gemini", "opencode"} {
		for _, action := range []protocol.Action{protocol.Block, protocol.Continue} {
			for _, cold := range []bool{true, false} {
				dir := t.TempDir()
				set := setOf(t, func(s *executor.Set) { s.Settings.Hooks.MaxForced, s.Settings.Hooks.MaxForcedTotal = 3, 7 }, forcing(protocol.User, action))
				role := func() *Role { return New(&mutable{set}, Options{StateDir: dir}) }
				e, r := executor.New(&mutable{set}, executor.Options{}), role()
				send := func(name protocol.EventName, data string) protocol.Outcome {
					if cold {
						r = role()
					}
					return fire(t, r, e, hostEvent(host, name, data))
				}
				total := 0
				run := func() (forced int) {
					for forced < 100 {
						out := send(protocol.AgentStop, stopData)
						if out.Action == protocol.Observe {
							if len(out.Lost) == 0 || !strings.Contains(out.Lost[0], "hooks.maxForced") || len(out.Notices) == 0 || len(out.Messages) > 0 {
								t.Errorf("%s: ended without a word: lost %q, %v", host, out.Lost, out.Notices)
							}
							return forced
						}
						if told := string(jsonspan.Get(out.Event.Data, "continuedTotal")); told != fmt.Sprint(total) {
							t.Errorf("%s: hooks are told that they have forced it on %s times of %d", host, told, total)
						}
						forced, total = forced+1, total+1
					}
					return forced
				}
				where := fmt.Sprintf("%s, %s, cold %v", host, action, cold)
				if got := run(); got != 3 {
					t.Fatalf("%s: forced on %d times in a row", where, got)
				}
				send(protocol.ToolCallStart, toolData)
				if got := run(); got != 3 {
					t.Errorf("%s: forced on %d times after a tool call", where, got)
				}
				send(protocol.PromptSubmit, fmt.Sprintf(promptData, " go on, please\\n")) // the agent puts it so
				send(protocol.PromptSubmit, fmt.Sprintf(promptData, ""))
				send(protocol.ToolCallStart, toolData)
				if got := run(); got != 1 {
					t.Errorf("%s: forced on %d times more, of 7 since the prompt", where, got)
				}
				send(protocol.PromptSubmit, fmt.Sprintf(promptData, "something else"))
				total = 0
				if got := run(); got != 3 {
					t.Errorf("%s: forced on %d times after a prompt", where, got)
				}
				send(protocol.SessionEnd, `{"reason":"exit","host":{}}`)
				if left, _ := filepath.Glob(filepath.Join(dir, "forced", "[^.]*")); len(left) > 0 {
					t.Errorf("%s: the session left %v", where, left)
				}
			}
		}
	}
}

// Each layer has its own counts, sub-agents theirs, and sessions theirs.
func TestForcedCountsAreApart(t *testing.T) {
	dir := t.TempDir()
	set := setOf(t, func(s *executor.Set) { s.Settings.Hooks.MaxForced = 1 }, forcing(protocol.User, protocol.Block))
	r, e := New(&mutable{set}, Options{StateDir: dir}), executor.New(&mutable{set}, executor.Options{})
	stop := func(session string, name protocol.EventName, data string) protocol.Action {
		ev := hostEvent("claude", name, data)
		ev.Session.ID = session
		return fire(t, r, e, ev).Action
	}
	sub := func(id string) string {
		return `{"agentId":"` + id + `","response":"","stopReason":"done","continued":0,"usage":{},"toolCallId":"c1","host":{}}`
	}
	for i, c := range []struct {
		session string
		name    protocol.EventName
		data    string
		want    protocol.Action
	}{
		{"a", protocol.AgentStop, stopData, protocol.Continue},
		{"a", protocol.AgentStop, stopData, protocol.Observe},
		{"b", protocol.AgentStop, stopData, protocol.Continue},
		{"a", protocol.SubagentStop, sub("1"), protocol.Continue},
		{"a", protocol.SubagentStop, sub("2"), protocol.Continue},
		{"a", protocol.SubagentStop, sub("1"), protocol.Observe},
		{"", protocol.AgentStop, stopData, protocol.Continue},
		{"", protocol.AgentStop, stopData, protocol.Observe},
	} {
		if got := stop(c.session, c.name, c.data); got != c.want {
			t.Errorf("%d: %s, want %s", i, got, c.want)
		}
	}
}

// Where nothing can be counted, a run that was forced on before is not forced on again.
func TestForcingOnWithoutCounts(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	broken := t.TempDir()
	set := setOf(t, nil, forcing(protocol.User, protocol.Block))
	again := strings.Replace(stopData, `"continued":0`, `"continued":1`, 1)
	for _, dir := range []string{"", blocked, broken} {
		r, e := New(&mutable{set}, Options{StateDir: dir}), executor.New(&mutable{set}, executor.Options{})
		ev := hostEvent("claude", protocol.AgentStop, stopData)
		if dir == broken {
			file := r.forcedFile(&ev)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if out := fire(t, r, e, ev); out.Action != protocol.Continue {
			t.Errorf("%q: the first time: %s", dir, out.Action)
		}
		if out := fire(t, r, e, hostEvent("claude", protocol.AgentStop, again)); out.Action != protocol.Observe || len(out.Lost) == 0 {
			t.Errorf("%q: the second time: %s, lost %q", dir, out.Action, out.Lost)
		}
	}
}

// The prompt that an agent makes of a hook's words is not the person's.
func TestPromptsThatAreNotThePersons(t *testing.T) {
	long := strings.Repeat("run the tests first, ", 40)
	c := &forcedCounts{Said: said(&protocol.Outcome{Reason: "  " + long})}
	for prompt, want := range map[string]bool{
		"": true, " \n": true, long: true, "Stop hook: " + long + "!": true, "run the tests": false, "run the tests first,": false,
	} {
		if got := c.goesOn(prompt); got != want {
			t.Errorf("%.40q is no prompt of the person's: %v", prompt, got)
		}
	}
	short := &forcedCounts{Said: "no"}
	if short.goesOn("now do it") || !short.goesOn("no") || (&forcedCounts{}).goesOn("x") {
		t.Error("short words are found in any prompt")
	}
}

func TestOldCountsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	old, young := filepath.Join(dir, "old"), filepath.Join(dir, "young")
	for _, file := range []string{old, young} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(old, time.Now(), time.Now().Add(-2*keepForced)); err != nil {
		t.Fatal(err)
	}
	pruneForced(dir, time.Now().Add(-keepForced))
	if _, err := os.Stat(old); err == nil {
		t.Error("counts of an old session are kept")
	}
	if _, err := os.Stat(young); err != nil {
		t.Error(err)
	}
}

// Where no counts can be kept, the end of a session removes no file of anybody's: neither in
// the state folder nor where hookd runs.
func TestNothingIsRemovedWithoutCounts(t *testing.T) {
	project := t.TempDir()
	t.Chdir(project)
	state := filepath.Join(project, "state")
	old := []string{filepath.Join(project, "thesis.txt"), filepath.Join(forcedDir(state), "counts")}
	if err := os.MkdirAll(forcedDir(state), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range old {
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chtimes(file, time.Now(), time.Now().Add(-2*keepForced))); err != nil {
			t.Fatal(err)
		}
	}
	set := setOf(t, nil)
	for _, stateDir := range []string{"", state} {
		ev := hostEvent("claude", protocol.SessionEnd, `{"reason":"exit","host":{}}`)
		ev.Project, ev.Cwd = project, project
		fire(t, New(&mutable{set}, Options{StateDir: stateDir}), executor.New(&mutable{set}, executor.Options{}), ev)
		for _, file := range old {
			if _, err := os.Lstat(file); err != nil {
				t.Errorf("with the state in %q: %v", stateDir, err)
			}
		}
	}
}

// Counts that somebody has written into the file by hand end nothing.
func TestForcedCountsWithoutValues(t *testing.T) {
	var c forcedCounts
	if err := json.Unmarshal([]byte(`{"agents":{"main":null,"sub a":{"of":null}}}`), &c); err != nil {
		t.Fatal(err)
	}
	c.toolCalled()
	if reached := c.of("main").Add([]protocol.Origin{{}}, func(protocol.Origin) forced.Count { return forced.Count{Row: 1, Total: 1} }); reached != nil || c.of("main").All.Total != 1 {
		t.Errorf("%v %+v", reached, c.of("main"))
	}
}
