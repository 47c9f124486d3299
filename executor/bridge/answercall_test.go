package bridge

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/hosts"
)

// house is the hooks of a project.
type house struct {
	outcome protocol.Outcome
	takes   time.Duration
	fired   *protocol.Event
}

func (h *house) Project() string { return "/proj" }

func (h *house) ImportedFrom(agent string) []protocol.HookRef {
	return []protocol.HookRef{{Name: "of " + agent}}
}

func (h *house) Fire(ctx context.Context, event protocol.Event) (protocol.Outcome, error) {
	h.fired = &event
	select {
	case <-time.After(h.takes):
	case <-ctx.Done():
		return protocol.Outcome{}, errors.New("the context ended")
	}
	h.outcome.Event = event
	return h.outcome, nil
}

func claude(event, input string) Call {
	return Call{Agent: hosts.Find("claude"), Event: event, Began: time.Now(), Input: []byte(input), Cwd: "/cwd", Depth: 2}
}

const toolCall = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"c"}`

func refused(r Reply) bool {
	return r.Exit == 2 && len(r.Stderr) > 0 || strings.Contains(string(r.Stdout), `"deny"`)
}

// The event is complete, and its outcome is the reply.
func TestAnswer(t *testing.T) {
	by := "guard"
	h := &house{outcome: protocol.Outcome{Action: protocol.Block, By: &by, Reason: "no\x1b[2J"}}
	r := Answer(t.Context(), claude("", toolCall), func(context.Context, []string) (Hooks, error) { return h, nil })
	if !refused(r) || strings.ContainsRune(string(r.Stdout)+string(r.Stderr), 0x1b) {
		t.Errorf("%d %q %q", r.Exit, r.Stdout, r.Stderr)
	}
	e := h.fired
	if e == nil || e.Project != "/proj" || e.Cwd != "/cwd" || e.Agent.Depth != 2 || e.ID == "" || e.Protocol != protocol.Version || e.Session.ID != "s" || len(e.NotAsked) != 1 || e.NotAsked[0].Name != "of claude" {
		t.Errorf("%+v", e)
	}
	h = &house{outcome: protocol.Outcome{Action: protocol.Observe}}
	if r := Answer(t.Context(), claude("", toolCall), func(context.Context, []string) (Hooks, error) { return h, nil }); refused(r) || r.Exit != 0 {
		t.Errorf("%d %q %q", r.Exit, r.Stdout, r.Stderr)
	}
}

// Whatever goes wrong refuses, and hooks are not loaded for what cannot be read.
func TestAnswerRefusesWhatGoesWrong(t *testing.T) {
	missing := func(context.Context, []string) (Hooks, error) { return nil, errors.New("no hooks here") }
	never := func(context.Context, []string) (Hooks, error) {
		t.Error("hooks were loaded")
		return nil, errors.New("loaded")
	}
	for name, test := range map[string]struct {
		call Call
		open func(context.Context, []string) (Hooks, error)
		want string
	}{
		"no hooks":         {claude("", toolCall), missing, "no hooks here"},
		"no JSON":          {claude("PreToolUse", toolCall[:20]), never, "cannot be read"},
		"nothing":          {claude("", ""), never, "cannot be read"},
		"another event":    {claude("Stop", toolCall), never, "to the hook of Stop"},
		"no event at all":  {claude("", "{}"), never, "does not name its event"},
		"wrong tool input": {claude("", strings.Replace(toolCall, `{"command":"ls"}`, "7", 1)), never, ""},
	} {
		r := Answer(t.Context(), test.call, test.open)
		if !refused(r) || !strings.Contains(string(r.Stdout)+string(r.Stderr), test.want) {
			t.Errorf("%s: %d %q %q", name, r.Exit, r.Stdout, r.Stderr)
		}
	}
}

// An answer is there when 80 % of the limit are over, or when the caller says.
func TestAnswerInTime(t *testing.T) {
	for name, test := range map[string]struct {
		limit, left, want time.Duration
	}{
		"the agent's settings": {limit: 10 * time.Second, want: 8 * time.Second},
		"the caller":           {limit: 10 * time.Second, left: 3 * time.Second, want: 3 * time.Second},
		"the agent's own":      {want: time.Duration(OwnShare * float64(hosts.Find("claude").Row("PreToolUse").Limit))},
	} {
		synctest.Test(t, func(t *testing.T) {
			call := claude("", toolCall)
			call.Limit = test.limit
			if test.left > 0 {
				call.Until = call.Began.Add(test.left)
			}
			h := &house{takes: 24 * time.Hour}
			r := Answer(t.Context(), call, func(context.Context, []string) (Hooks, error) { return h, nil })
			if took := time.Since(call.Began); took != test.want || !refused(r) || !strings.Contains(string(r.Stdout)+string(r.Stderr), ErrLate.Error()) {
				t.Errorf("%s: after %v: %d %q %q", name, took, r.Exit, r.Stdout, r.Stderr)
			}
		})
	}
}

// Before the input was read the time is that of the named event, or the shortest.
func TestDue(t *testing.T) {
	call := claude("PreToolUse", "")
	if got, want := call.Due().Sub(call.Began), time.Duration(OwnShare*float64(call.Agent.Row("PreToolUse").Limit)); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	call.Event = ""
	for _, row := range call.Agent.Rows {
		if least := time.Duration(OwnShare * float64(row.Limit)); call.Due().Sub(call.Began) > least {
			t.Errorf("%v, and %s has %v", call.Due().Sub(call.Began), row.Name, least)
		}
	}
}
