package agentloop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/protocol"
)

const busy = "- {fail: overloaded, status: 529}\n"

func TestRetry(t *testing.T) {
	canned := hook{on: protocol.InferenceStart, dynamic: func(e protocol.Event) protocol.Reply {
		if !strings.Contains(string(e.Data), `"attempt":2`) {
			return protocol.Reply{}
		}
		return protocol.Reply{Action: protocol.Modify, Response: raw(`{"message":{"role":"assistant","content":"canned"}}`)}
	}}
	refuses := hook{on: protocol.InferenceStart, name: "retries", dynamic: func(e protocol.Event) protocol.Reply {
		if !strings.Contains(string(e.Data), `"attempt":2`) {
			return protocol.Reply{}
		}
		return protocol.Reply{Action: protocol.Block, Reason: "enough of it"}
	}}
	for name, c := range map[string]struct {
		script   string
		hook     hook
		retries  int // default 3
		end      string
		says     string // part of the run's error
		tries    int    // inference-start events
		calls    int    // of the model
		least    time.Duration
		longest  time.Duration
		response string
	}{
		"busy, then well":        {script: busy + busy + busy + "- {text: well}", end: done, tries: 4, calls: 4, least: 1750 * time.Millisecond, longest: 3500 * time.Millisecond, response: "well"},
		"never well":             {script: busy + busy + busy + busy + busy, end: "agent-error model", says: "the model failed: status 529: overloaded (tried 4 times)", tries: 5, calls: 4, least: 1750 * time.Millisecond, longest: 3500 * time.Millisecond},
		"no retries":             {script: busy + busy, retries: -1, end: "agent-error model", says: "the model failed: status 529: overloaded", tries: 2, calls: 1},
		"not worth it":           {script: "- {fail: bad key, status: 401}", end: "agent-error model", says: "status 401", tries: 1, calls: 1},
		"no served model":        {script: "- {fail: broken}", end: "agent-error model", says: "the model failed: broken", tries: 1, calls: 1},
		"asks for a minute":      {script: "- {fail: slow down, status: 429, retryAfter: 60s}\n- {text: well}", end: done, tries: 2, calls: 2, least: time.Minute, longest: time.Minute, response: "well"},
		"asks for too much":      {script: "- {fail: slow down, status: 429, retryAfter: 121s}", end: "agent-error model", says: "status 429", tries: 1, calls: 1},
		"cut in the middle":      {script: "- {text: half an, fail: connection lost, lost: true}\n- {text: well}", end: done, tries: 2, calls: 2, least: 250 * time.Millisecond, longest: 500 * time.Millisecond, response: "well"},
		"a hook answers instead": {script: busy, hook: canned, end: done, tries: 2, calls: 1, response: "canned"},
		"a hook of that name":    {script: busy, hook: refuses, end: blocked, says: "enough of it", tries: 2, calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := c.retries
				switch n {
				case 0:
					n = 3
				case -1:
					n = 0
				}
				s := newFakeLoop(t, "turns:\n"+c.script, []hook{c.hook}, func(o *Options) { o.Providers, o.NoDefaults = []Provider{builtin.Retries(n)}, true })
				began := time.Now()
				s.prompt(t, t.Context(), "go!")
				if took := time.Since(began); took < c.least || took > c.longest {
					t.Errorf("took %s, want %s to %s", took, c.least, c.longest)
				}
				if s.ending() != c.end || s.err != nil && !strings.Contains(s.err.Error(), c.says) {
					t.Errorf("ended with %s: %v", s.ending(), s.err)
				}
				if n := len(s.model.requests); n != c.calls {
					t.Errorf("%d model calls, want %d", n, c.calls)
				}
				if n := s.gate.count(protocol.InferenceStart); n != c.tries {
					t.Errorf("%d tries were announced, want %d", n, c.tries)
				}
				for i := range c.tries {
					if got := fired[protocol.InferenceStartData](t, s.gate, protocol.InferenceStart, i).Attempt; got != i+1 {
						t.Errorf("try %d is announced as attempt %d", i+1, got)
					}
				}
				if got := s.run.Result().Response; got != c.response {
					t.Errorf("the response is %q", got)
				}
				if n := s.gate.count(protocol.StepStart); n != 1 {
					t.Errorf("%d steps", n)
				}
			})
		})
	}
}

// TestDroppedTry asserts that what a failed try streamed is told to be void,
// keeps nothing, and that the next try is another message.
func TestDroppedTry(t *testing.T) {
	script := "turns:\n- {thinking: hm, text: half an, fail: connection lost, lost: true}\n- {text: well, usage: {inputTokens: 4, outputTokens: 2}}\n"
	for _, holds := range []bool{false, true} {
		t.Run(fmt.Sprintf("held %v", holds), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFakeLoop(t, script, nil)
				s.gate.holds = holds
				s.prompt(t, t.Context(), "go!")
				var got, ids []string
				for _, u := range s.updates {
					line := string(u.Kind)
					if u.Kind == UpdateEvent {
						var d protocol.DeltaEndData
						if !ofAnswer(&u) || json.Unmarshal(u.Outcome.Event.Data, &d) != nil {
							continue
						}
						u.Delta.MessageID, u.Delta.Text, line = d.MessageID, d.Content, string(u.Event.Event)
					}
					if len(ids) == 0 || ids[len(ids)-1] != u.Delta.MessageID {
						ids = append(ids, u.Delta.MessageID)
					}
					got = append(got, strings.TrimSpace(fmt.Sprintf("%d %s %s", len(ids), line, u.Delta.Text)))
				}
				want := []string{
					"1 thinking-start", "1 delta hm", "1 thinking-end hm", "1 message-start", "1 delta half an", "1 message-end half an", "1 dropped",
					"2 message-start", "2 delta well", "2 message-end well",
				}
				if holds {
					want = []string{
						"1 thinking-start", "1 thinking-end", "1 message-start", "1 message-end", "1 dropped",
						"2 message-start", "2 delta well", "2 message-end well",
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("shown (-want +got):\n%s", diff)
				}
				if text := render("", s.loop.Messages()); strings.Contains(text, "half an") || s.loop.Messages()[1].ID != ids[1] {
					t.Errorf("kept:\n%s", text)
				}
				if u := s.run.Result().Usage; u.OutputTokens != nil {
					t.Errorf("%d output tokens: what the failed try used was not told", *u.OutputTokens)
				}
			})
		})
	}
}

// TestSilentTryIsNotDropped asserts that no message is told to be void of which
// nothing was told.
func TestSilentTryIsNotDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeLoop(t, "turns:\n- {fail: busy, status: 503}\n- {text: well}\n", nil)
		s.prompt(t, t.Context(), "go!")
		for _, u := range s.updates {
			if u.Kind == UpdateDropped {
				t.Errorf("message %s is void, but nobody heard of it", u.Delta.MessageID)
			}
		}
	})
}

// TestAbortWhileWaiting asserts that a wait before a further try ends at once.
func TestAbortWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeLoop(t, "turns: [{fail: slow down, status: 429, retryAfter: 100s}]", nil)
		why := errors.New("Ctrl-C")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Second, func() { cancel(why) })
		began := time.Now()
		s.prompt(t, ctx, "go!")
		if took := time.Since(began); took != 10*time.Second || !errors.Is(s.err, why) || s.ending() != "agent-end aborted" {
			t.Errorf("%s, %v, %s", took, s.err, s.ending())
		}
	})
}

func TestBackoff(t *testing.T) {
	for failed, longest := range map[int]time.Duration{1: 500 * time.Millisecond, 2: time.Second, 6: 16 * time.Second, 7: 30 * time.Second, 100: 30 * time.Second} {
		for range 100 {
			if wait := backoff(failed); wait > longest || wait < longest/2 {
				t.Fatalf("%s after %d tries, want %s to %s", wait, failed, longest/2, longest)
			}
		}
	}
}

// TestRetryableStatus keeps the list that decides which failures may pass.
func TestRetryableStatus(t *testing.T) {
	for status, want := range map[int]bool{0: false, 200: false, 400: false, 401: false, 404: false, 408: true, 409: true, 413: false, 429: true, 500: true, 503: true, 529: true, 600: false} {
		if got := model.RetryableStatus(status); got != want {
			t.Errorf("%d: %v", status, got)
		}
	}
}
