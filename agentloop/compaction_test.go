package agentloop_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/protocol"
)

const summaryHead = "[Summary of the conversation up to here. It stands in place of what was said; go on from it.]\\n\\n"

// isCompact reports whether a request is the recipe compact's.
func isCompact(r model.Request) bool {
	return slices.ContainsFunc(r.Messages, func(m protocol.Message) bool { return strings.Contains(m.Content.Text(), "Primary Objective") })
}

// fills calls a tool with the context nearly full, answers compact with a
// summary, and is done then.
func fills(n int, r model.Request) turn {
	switch {
	case isCompact(r):
		return turn{text: "SUMMARY", context: 850}
	case n == 1:
		return turn{text: "thinking", calls: []protocol.Part{calling("c1", "echo", `{"text":"hi"}`)}, context: 800}
	default:
		return turn{text: "done", context: 100}
	}
}

func TestCompactionAtTheThreshold(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		session, err := store.Create(folder, "s1", store.Header{})
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		s := newExecutorLoop(t, fills, nil, func(o *agentloop.Options) { o.Session = session }).prompt(t, t.Context(), "do it")
		want := "session-start prompt-submit agent-start step-start inference-start inference-end tool-call-start tool-call-end step-stop " +
			"compact-start >prompt-submit >agent-start >step-start >inference-start >inference-end >step-stop >agent-stop >agent-end compact-end " +
			"step-start inference-start inference-end step-stop agent-stop agent-end"
		if diff := cmp.Diff(want, s.gate.names()); diff != "" {
			t.Error(diff)
		}
		conversation := "user: \"do it\"\nuser: \"" + summaryHead + "SUMMARY\"\nassistant: \"done\"\n"
		if diff := cmp.Diff(conversation, rendered(s.loop.Messages())); diff != "" {
			t.Error(diff)
		}
		start := dataOf[protocol.CompactStartData](t, s.gate.of(protocol.CompactStart, "main")[0])
		if start.Trigger != "threshold" || start.Recipe != "compact" || start.Before.Messages != 3 || start.Before.Tokens == nil || *start.Before.Tokens != 800 {
			t.Errorf("compact-start %+v", start)
		}
		end := dataOf[protocol.CompactEndData](t, s.gate.of(protocol.CompactEnd, "main")[0])
		if end.Summary != "SUMMARY" || end.After.Messages != 2 || end.After.Tokens != nil || end.Trigger != "threshold" {
			t.Errorf("compact-end %+v", end)
		}
		s.checkThread(t)
		if got := s.result.Usage; got.OutputTokens == nil || *got.OutputTokens != 6 || got.ContextTokens == nil || *got.ContextTokens != 100 {
			t.Errorf("usage %+v: the recipe's call counts, its context does not", got)
		}
		session.Close()
		again, err := store.Open(folder, "s1")
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if diff := cmp.Diff(conversation, rendered(again.State().Messages)); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
	})
}

// checkThread asserts what the events of a recipe's thread say of it, and those
// of the main agent do not.
func (s *executorLoop) checkThread(t *testing.T) {
	t.Helper()
	agents := map[string]bool{}
	for _, e := range s.gate.fired {
		if e.Agent.ID == "main" {
			if e.Recipe != nil || !e.Compaction.Auto {
				t.Errorf("%s of main: recipe %v, compaction %+v", e.Event, e.Recipe, e.Compaction)
			}
			continue
		}
		agents[e.Agent.ID] = true
		if e.Recipe == nil || *e.Recipe != "compact" || e.Compaction.Auto || e.Agent.Depth != 1 || e.Agent.Parent == nil || *e.Agent.Parent != "main" {
			t.Errorf("%s: recipe %v, compaction %+v, agent %+v", e.Event, e.Recipe, e.Compaction, e.Agent)
		}
		if e.Event == protocol.PromptSubmit && dataOf[protocol.PromptSubmitData](t, e).Source != "recipe" {
			t.Errorf("source %s", e.Data)
		}
		if e.Event == protocol.InferenceStart && len(dataOf[protocol.InferenceStartData](t, e).Tools) > 0 {
			t.Error("a recipe without allowed_tools was offered tools")
		}
	}
	if len(agents) != 1 {
		t.Errorf("%d agents besides main", len(agents))
	}
}

// TestCompactionTable holds compact-start and compact-end to their rows.
func TestCompactionTable(t *testing.T) {
	failing := func(rule protocol.Rule) func(protocol.EventName) protocol.GoHook {
		return func(on protocol.EventName) protocol.GoHook {
			h := asHook("h", 0, on, func(*protocol.Event) (protocol.Reply, error) { return protocol.Reply{}, errors.New("broken") })
			h.OnFailure = rule
			return h
		}
	}
	reply := func(r protocol.Reply) func(protocol.EventName) protocol.GoHook {
		return func(on protocol.EventName) protocol.GoHook { return replies("h", 0, on, r) }
	}
	const summed, whole = summaryHead + "SUMMARY", "user: \"do it\"\nassistant: \"thinking\" call c1\n"
	for _, c := range []struct {
		on    protocol.EventName
		what  string
		hook  func(protocol.EventName) protocol.GoHook
		end   string
		holds string // in the conversation
		reads string // in what the model was sent
		lacks string
		calls int
	}{
		{"compact-start", "block", reply(protocol.Reply{Action: protocol.Block, Reason: "not now"}), "agent-end done", whole, "", "Primary", 2},
		{"compact-start", "stop", reply(protocol.Reply{Action: protocol.Stop, Reason: "enough"}), "agent-end hook", whole, "", "Primary", 1},
		{"compact-start", "change", reply(protocol.Reply{Action: protocol.Modify, Changes: protocol.RawMessage(`{"instructions":"KEEP NAMES"}`)}), "agent-end done", summed, "Further instructions:\\nKEEP NAMES", "", 3},
		{"compact-start", "change what it may not", reply(protocol.Reply{Action: protocol.Modify, Changes: protocol.RawMessage(`{"recipe":"judge"}`)}), "agent-end done", summed, "Primary", "JUDGE", 3},
		{"compact-start", "context", reply(protocol.Reply{Context: "CTX"}), "agent-end done", summed, "[context from hook h]\\nCTX", "", 3},
		{"compact-start", "ask fails", reply(protocol.Reply{Action: protocol.Ask, Reason: "?"}), "agent-end done", summed, "", "", 3},
		{"compact-start", "continue fails", reply(protocol.Reply{Action: protocol.Continue, Reason: "MORE"}), "agent-end done", summed, "", "MORE", 3},
		{"compact-start", "callback fails", func(on protocol.EventName) protocol.GoHook { return wants("h", on, "judge", "") }, "agent-end done", summed, "", "JUDGE", 3},
		{"compact-start", "rule continue", failing(protocol.RuleContinue), "agent-end done", summed, "", "", 3},
		{"compact-start", "rule block", failing(protocol.RuleBlock), "agent-end done", whole, "", "Primary", 2},
		{"compact-start", "rule stop", failing(protocol.RuleStop), "agent-error failure", whole, "", "Primary", 1},
		{"compact-end", "stop", reply(protocol.Reply{Action: protocol.Stop, Reason: "enough"}), "agent-end hook", summed, "", "", 2},
		{"compact-end", "context", reply(protocol.Reply{Context: "CTX"}), "agent-end done", summed + `" "[context from hook h]\nCTX"`, "CTX", "", 3},
		{"compact-end", "block fails", reply(protocol.Reply{Action: protocol.Block, Reason: "no"}), "agent-end done", summed, "", "", 3},
		{"compact-end", "change fails", reply(protocol.Reply{Action: protocol.Modify, Changes: protocol.RawMessage(`{"summary":"OTHER"}`)}), "agent-end done", summed, "", "OTHER", 3},
		{"compact-end", "continue fails", reply(protocol.Reply{Action: protocol.Continue, Reason: "MORE"}), "agent-end done", summed, "", "MORE", 3},
		{"compact-end", "rule continue", failing(protocol.RuleContinue), "agent-end done", summed, "", "", 3},
		{"compact-end", "rule block", failing(protocol.RuleBlock), "agent-end done", summed, "", "", 3},
		{"compact-end", "rule stop", failing(protocol.RuleStop), "agent-error failure", summed, "", "", 2},
	} {
		t.Run(string(c.on)+"/"+c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newExecutorLoop(t, fills, []protocol.GoHook{c.hook(c.on)}).prompt(t, t.Context(), "do it")
				if got := s.ending(t); got != c.end {
					t.Errorf("ended with %s", got)
				}
				if got := rendered(s.loop.Messages()); !strings.Contains(got, c.holds) {
					t.Errorf("the conversation lacks %q:\n%s", c.holds, got)
				}
				if sent := s.model.sent(); !strings.Contains(sent, c.reads) || c.lacks != "" && strings.Contains(sent, c.lacks) {
					t.Errorf("the model was to read %q and not %q:\n%s", c.reads, c.lacks, sent)
				}
				if got := len(s.model.requests); got != c.calls {
					t.Errorf("%d model calls, want %d", got, c.calls)
				}
			})
		})
	}
}

// TestCompactionThatComesToNothing asserts that the conversation is as it was,
// and that somebody is told why.
func TestCompactionThatComesToNothing(t *testing.T) {
	for name, c := range map[string]struct {
		recipe turn
		told   string
	}{
		"the context is too large for the recipe too": {turn{fail: errors.New("prompt is too long")}, "the model failed: prompt is too long"},
		"nothing in it":              {turn{}, "its answer is empty"},
		"only blanks":                {turn{text: " \n"}, "its answer is empty"},
		"cut off":                    {turn{text: "SUMM", finish: "length"}, "its run ended early (length)"},
		"ended with an error":        {turn{text: "SUMM", finish: "error"}, "the model ended its answer with an error"},
		"tools all the way":          {turn{calls: []protocol.Part{calling("x", "echo", `{"text":"hi"}`)}}, "its run ended early (steps)"},
		"a tool that is not its own": {turn{calls: []protocol.Part{calling("x", "bash", `{}`)}}, "its run ended early (steps)"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newExecutorLoop(t, func(n int, r model.Request) turn {
					if isCompact(r) {
						return c.recipe
					}
					return fills(n, r)
				}, nil).prompt(t, t.Context(), "do it")
				if got := s.ending(t); got != "agent-end done" {
					t.Errorf("ended with %s", got)
				}
				if got := rendered(s.loop.Messages()); !strings.HasPrefix(got, "user: \"do it\"\nassistant: \"thinking\" call c1\ntool: result c1") {
					t.Errorf("the conversation is not as it was:\n%s", got)
				}
				if got := s.told(t); !strings.Contains(got, "recipe compact, asked for by compact, came to nothing: "+c.told) {
					t.Errorf("told %q", got)
				}
				if n := len(s.gate.of(protocol.CompactEnd, "")); n != 0 {
					t.Errorf("compact-end fired %d times", n)
				}
			})
		})
	}
}

func TestNoCompaction(t *testing.T) {
	for name, c := range map[string]struct {
		context int64
		change  func(*agentloop.Options)
	}{
		"below the threshold": {799, func(*agentloop.Options) {}},
		"switched off":        {999, func(o *agentloop.Options) { o.Compaction.Auto = false }},
		"context not told":    {0, func(*agentloop.Options) {}},
		"all is kept":         {999, func(o *agentloop.Options) { o.Compaction.KeepLast = 1000 }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newExecutorLoop(t, inTurn(turn{calls: []protocol.Part{calling("c1", "echo", `{"text":"hi"}`)}, context: c.context}), nil, c.change).prompt(t, t.Context(), "do it")
				if n := len(s.gate.of(protocol.CompactStart, "")); n != 0 || len(s.model.requests) != 2 {
					t.Errorf("compact-start fired %d times, %d model calls", n, len(s.model.requests))
				}
			})
		})
	}
}

// TestCompactByHand is /compact.
func TestCompactByHand(t *testing.T) {
	refuse := replies("h", 0, protocol.CompactStart, protocol.Reply{Action: protocol.Block, Reason: "not now"})
	end := replies("h", 0, protocol.CompactStart, protocol.Reply{Action: protocol.Stop, Reason: "enough"})
	for name, c := range map[string]struct {
		hooks  []protocol.GoHook
		recipe turn
		before int // prompts before
		cause  string
		reason string
		holds  string
	}{
		"done":          {nil, turn{text: "SUMMARY"}, 2, "", "done", "SUMMARY"},
		"refused":       {[]protocol.GoHook{refuse}, turn{text: "SUMMARY"}, 2, "blocked", "", "second"},
		"stopped":       {[]protocol.GoHook{end}, turn{text: "SUMMARY"}, 2, "", "hook", "second"},
		"model failed":  {nil, turn{fail: errors.New("busy")}, 2, "model", "", "second"},
		"empty":         {nil, turn{}, 2, "model", "", "second"},
		"nothing there": {nil, turn{text: "SUMMARY"}, 0, "limit", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newExecutorLoop(t, func(n int, r model.Request) turn {
					if isCompact(r) {
						return c.recipe
					}
					return turn{text: "answer", context: 10}
				}, c.hooks)
				for _, text := range []string{"first", "second"}[:c.before] {
					s.prompt(t, t.Context(), text)
				}
				run, err := s.loop.Compact(t.Context(), "", " names of files ")
				s.follow(t, run, err)
				var failed *agentloop.Error
				if errors.As(s.err, &failed) != (c.cause != "") || failed != nil && failed.Cause != c.cause || s.result.StopReason != c.reason {
					t.Errorf("error %v, result %+v", s.err, s.result)
				}
				if got := rendered(s.loop.Messages()); !strings.Contains(got, c.holds) {
					t.Errorf("the conversation is\n%s", got)
				}
				if c.cause == "" && c.reason == "done" {
					start := dataOf[protocol.CompactStartData](t, s.gate.of(protocol.CompactStart, "main")[0])
					if start.Trigger != "manual" || start.Instructions != "names of files" || s.result.Response != "SUMMARY" {
						t.Errorf("compact-start %+v, result %+v", start, s.result)
					}
					if !strings.Contains(s.model.sent(), `Further instructions:\nnames of files`) {
						t.Error("the instructions did not reach the model")
					}
				}
				if s.err == nil { // the session goes on
					s.prompt(t, t.Context(), "third")
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := newExecutorLoop(t, inTurn(), nil)
		if _, err := s.loop.Compact(t.Context(), "compcat", ""); err == nil || !strings.Contains(err.Error(), `no recipe "compcat"; there are: compact, judge, look`) {
			t.Errorf("error %v", err)
		}
	})
}

// TestFiftyCompactions asserts that the first user message is the same, byte for
// byte, however often the rest is summed up, and that nothing piles up.
func TestFiftyCompactions(t *testing.T) {
	const first = "Build \u00e9\u4e16 \"it\"\r\n\twith\x7f <care> \\ {{name}}"
	managed := replies("boss", 0, protocol.AgentStart, protocol.Reply{Context: "never push"})
	managed.Layer = protocol.Managed
	noise := replies("noise", 0, protocol.StepStart, protocol.Reply{Context: "noise"})
	synctest.Test(t, func(t *testing.T) {
		compactions, room := 0, false
		s := newExecutorLoop(t, func(n int, r model.Request) turn {
			if isCompact(r) {
				compactions++
				room = true
				return turn{text: "SUMMARY"}
			}
			if room {
				room = false
				return turn{text: "answer", context: 100}
			}
			if last(r) == "tool result" || strings.Contains(last(r), "noise") && len(r.Messages) > 3 {
				return turn{text: "answer", context: 900}
			}
			return turn{text: "working", calls: []protocol.Part{calling("", "echo", `{"text":"hi"}`)}, context: 900}
		}, []protocol.GoHook{managed, noise})
		for n := 0; compactions < 50; n++ {
			prompt := first
			if n > 0 {
				prompt = "go on"
			}
			s.prompt(t, t.Context(), prompt)
			if s.err != nil || n > 100 {
				t.Fatalf("prompt %d: %v, %d compactions", n, s.err, compactions)
			}
		}
		messages := s.loop.Messages()
		if got := messages[0].Content.Text(); messages[0].Role != protocol.RoleUser || got != first {
			t.Errorf("the first user message is %q", got)
		}
		if len(messages) > 8 {
			t.Errorf("%d messages are left:\n%s", len(messages), rendered(messages))
		}
		said := 0
		for _, m := range messages {
			for _, p := range m.Content {
				if p.Hook == "boss" && p.Layer == protocol.Managed {
					said++
				}
			}
		}
		if said == 0 || said > 3 {
			t.Errorf("the managed hook's context is there %d times:\n%s", said, rendered(messages))
		}
		if s.loop.Session().ID == "" || len(s.gate.of(protocol.CompactEnd, "main")) != compactions {
			t.Errorf("%d compactions, %d events", compactions, len(s.gate.of(protocol.CompactEnd, "main")))
		}
	})
}

// TestCompactionIsGivenUp asserts that one which does not help is not asked for
// again at each step, but when the context has grown by a share; that this is told
// once each time; and that a context which has room again begins anew.
func TestCompactionIsGivenUp(t *testing.T) {
	contexts := []int64{799, 810, 820, 850, 856, 857, 860, 990, 300, 850, 860}
	for name, c := range map[string]struct {
		recipe turn
		hooks  []protocol.GoHook
		steps  string // in which a compaction was asked for
	}{
		"it fails":         {turn{fail: errors.New("prompt is too long")}, nil, "2 6 8 10"},
		"it does not help": {turn{text: "SUMMARY"}, nil, "2 6 8 10"},
		"a hook refuses":   {turn{text: "SUMMARY"}, []protocol.GoHook{replies("h", 0, protocol.CompactStart, protocol.Reply{Action: protocol.Block, Reason: "not now"})}, "2 6 8 10"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				step := 0
				s := newExecutorLoop(t, func(n int, r model.Request) turn {
					if isCompact(r) {
						return c.recipe
					}
					if step++; step > len(contexts) {
						return turn{text: "done", context: 100}
					}
					return turn{text: "hm", calls: []protocol.Part{calling("", "echo", `{"text":"hi"}`)}, context: contexts[step-1]}
				}, c.hooks).prompt(t, t.Context(), "do it")
				var steps []string
				for _, e := range s.gate.of(protocol.CompactStart, "main") {
					steps = append(steps, strconv.Itoa(e.Step))
				}
				if diff := cmp.Diff(c.steps, strings.Join(steps, " ")); diff != "" {
					t.Error(diff)
				}
				var notices []string
				for _, u := range s.updates {
					for _, n := range u.Outcome.Notices {
						notices = append(notices, n.Text)
					}
				}
				want := []string{
					"the conversation is still at 820 of 1000 tokens, although a compaction was asked for; the next one is asked for at 857",
					"the conversation is still at 860 of 1000 tokens, although a compaction was asked for; the next one is asked for at 892",
					"the conversation is still at 860 of 1000 tokens, although a compaction was asked for; the next one is asked for at 887",
				}
				if diff := cmp.Diff(want, notices); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}
