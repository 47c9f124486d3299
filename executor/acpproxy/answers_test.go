package acpproxy

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/dialogue"
)

// answered waits for the outcomes of permission-requests, each as often as it is to come.
func (s *stage) answered(want map[string]int) {
	s.T.Helper()
	var got map[string]int
	for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		got = maps.Clone(s.answers)
		s.mu.Unlock()
		if maps.Equal(got, want) {
			return
		}
	}
	s.T.Errorf("answers %v\nwant    %v", got, want)
}

func answerLine(id, outcome string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"outcome":` + outcome + `}}`
}

func chosen(option string) string { return `{"outcome":"selected","optionId":"` + option + `"}` }

var asksAboutCalls = dialogue.HookOn(protocol.ToolCallStart, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
	if strings.Contains(string(ev.Data), "ask") {
		return protocol.AskReply("really?"), nil
	}
	return protocol.Reply{}, nil
})

// watches returns a hook that says what it is told of the outcome of each permission-request.
func watches(told chan string) protocol.GoHook {
	hook := dialogue.HookOn(protocol.PermissionRequest, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		told <- string(ev.Outcome.Action)
		return protocol.Reply{}, nil
	})
	hook.Name, hook.Can, hook.OnFailure = "watches", protocol.CanObserve, ""
	return hook
}

// What the person chooses is part of the decided permission-request, and its observers are told. The
// answer passes as it came, and what hooks are told of the call comes after it.
func TestAnswersOfThePerson(t *testing.T) {
	const cancelled = `{"outcome":"cancelled"}`
	for name, test := range map[string]struct {
		command, answer string
		want, after     string
	}{
		"once":               {"ls", answerLine("5", chosen("yes")), "allow person allow-once: ", "tool-call-end bash"},
		"always":             {"ls", answerLine("5", chosen("always")), "allow person allow-always: ", "tool-call-end bash"},
		"rejected":           {"ls", answerLine("5", chosen("cancel")), "block person reject-once: the person did not allow it", "tool-call-error bash"},
		"cancelled":          {"ls", answerLine("5", cancelled), "block person: the question was not answered", "tool-call-error bash"},
		"what nobody offers": {"ls", answerLine("5", chosen("other")), "block fault: the question was not answered", "tool-call-error bash"},
		"an error":           {"ls", `{"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"no"}}`, "block fault: the question was not answered", "tool-call-error bash"},
		"asked, once":        {"ask", answerLine("5", chosen("yes")), "allow person allow-once: really?", "tool-call-end bash"},
		"asked, rejected":    {"ask", answerLine("5", chosen("cancel")), "block person reject-once: the person did not allow it (really?)", "tool-call-error bash"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := make(chan string, 8)
			s := newStage(t, "", asksAboutCalls, watches(told))
			s.opens()
			s.passes(s.Client, s.ToServer, promptLine("1", "go"))
			s.passes(s.Server, s.ToClient, permissionLine("5", "c", "execute", `{"command":"`+test.command+`"}`))
			s.passes(s.Client, s.ToServer, test.answer)
			status := "completed"
			if strings.HasPrefix(test.want, "block") {
				status = "failed"
			}
			s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"`+status+`"}`))
			s.answered(map[string]int{test.want: 1})
			s.eventually("tool-call-start bash", "permission-request bash", test.after)
			if action, _, _ := strings.Cut(test.want, " "); <-told != action {
				t.Errorf("the observer was not told %s", action)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if last := s.events[len(s.events)-1].text; !strings.HasPrefix(last, test.after) {
				t.Errorf("decided last: %s", last)
			}
		})
	}
}

// A question ends with what it is about: a turn that the person cancels, a side that dies.
func TestQuestionsThatNobodyAnswers(t *testing.T) {
	const lost = "block fault: the question was not answered: "
	for name, test := range map[string]struct {
		end  func(*stage)
		want string
	}{
		"the person cancels the turn": {func(s *stage) {
			s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
		}, "block person: the question was not answered"},
		"the client dies":      {func(s *stage) { s.Client.Close() }, lost + "the connection has ended"},
		"the agent dies":       {func(s *stage) { s.Server.Close() }, lost + "the connection has ended"},
		"hookd is interrupted": {func(s *stage) { s.End(context.Canceled) }, lost + "context canceled"},
		"the session closes": {func(s *stage) {
			s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","id":9,"method":"session/close","params":{"sessionId":"s1"}}`)
			s.passes(s.Server, s.ToClient, `{"jsonrpc":"2.0","id":9,"result":{}}`)
		}, lost + "the connection has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "")
			s.opens()
			s.passes(s.Client, s.ToServer, promptLine("1", "go"))
			s.passes(s.Server, s.ToClient, permissionLine("5", "c", "execute", `{"command":"ls"}`))
			test.end(s)
			s.answered(map[string]int{test.want: 1})
		})
	}
}

// While the person thinks, nothing else waits: not the same session, and not another one. However
// many questions have no answer, each is put to the person; of too many the answer is not recorded.
func TestNothingWaitsForThePerson(t *testing.T) {
	s := newStage(t, "", asksAboutCalls)
	s.opens()
	s.passes(s.Client, s.ToServer, promptLine("1", "go"))
	const more = 3
	ask := func(i int) string {
		return permissionLine(fmt.Sprint(100+i), fmt.Sprint("c", i), "execute", `{"command":"ask"}`)
	}
	for i := range mostQuestions + more {
		s.passes(s.Server, s.ToClient, ask(i))
	}
	s.answered(map[string]int{"observe nobody: ": more})
	s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"words"}}`))
	s.passes(s.Server, s.ToClient, strings.Replace(permissionLine("7", "d", "execute", `{"command":"ls"}`), `"s1"`, `"s2"`, 1))
	for i := range mostQuestions + more {
		s.passes(s.Client, s.ToServer, answerLine(fmt.Sprint(100+i), chosen("yes")))
	}
	s.answered(map[string]int{"observe nobody: ": more + 1, "allow person allow-once: really?": mostQuestions})
	s.passes(s.Server, s.ToClient, permissionLine("8", "e", "execute", `{"command":"ls"}`)) // there is room again
	s.passes(s.Client, s.ToServer, answerLine("8", chosen("yes")))
	s.answered(map[string]int{"observe nobody: ": more + 1, "allow person allow-once: really?": mostQuestions, "allow person allow-once: ": 1})
}

// The answer to what a hook asks about a file or a command of the client is part of the decided event,
// too.
func TestAnswersAboutFilesAndCommands(t *testing.T) {
	for answer, want := range map[string]string{
		chosen("allow"):           "allow person allow-once: really?",
		chosen("reject"):          "block person reject-once: the person did not allow it (really?)",
		`{"outcome":"cancelled"}`: "block person: the question was not answered (really?)",
		`{"outcome":"selected","outcome":"selected","optionId":"allow"}`: "block fault: the question was not answered (really?)",
		"": "block person: the question was not answered (really?)",
	} {
		s := newStage(t, "", asksAboutCalls)
		s.opens()
		s.passes(s.Client, s.ToServer, promptLine("1", "go"))
		s.Say(s.Server, `{"jsonrpc":"2.0","id":3,"method":"fs/write_text_file","params":{"sessionId":"s1","path":"/ask","content":""}}`)
		s.Has(s.ToClient, `"id":"hookd-1"`, `"method":"session/request_permission"`)
		if answer == "" {
			s.passes(s.Client, s.ToServer, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
		} else {
			s.Say(s.Client, answerLine(`"hookd-1"`, answer))
		}
		s.answered(map[string]int{want: 1})
	}
}

// Where a question is about one of two calls, and hooks refuse the second, nobody is asked about the
// first.
func TestSecondReadingThatHooksRefuse(t *testing.T) {
	s := newStage(t, "", dialogue.HookOn(protocol.ToolCallStart, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		if strings.Contains(string(ev.Data), "pwd") {
			return protocol.BlockReply("no"), nil
		}
		return protocol.Reply{}, nil
	}))
	s.opens()
	s.passes(s.Server, s.ToClient, updateLine(`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","title":"ls","rawInput":{"command":"ls"}}`))
	s.Say(s.Server, `{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"sessionId":"s1","options":[{"optionId":"no","name":"N","kind":"reject_once"}],"toolCall":{"toolCallId":"c","title":"pwd"}}}`)
	s.Has(s.ToServer, `"id":5`, `"optionId":"no"`)
	s.answered(map[string]int{"observe nobody: ": 1})
}

// The record of an ask that nobody could be asked about says that it was a refusal.
func TestAsksThatNobodyCouldBeAskedAbout(t *testing.T) {
	by := "h"
	for name, test := range map[string]struct {
		lost func(*protocol.Outcome) []string
		of   protocol.EventName
		want bool
	}{
		"a prompt":              {lost, protocol.PromptSubmit, true},
		"a call without asking": {lostUnasked(true, "without asking"), protocol.ToolCallStart, true},
		"a call":                {lost, protocol.ToolCallStart, false},
	} {
		o := &protocol.Outcome{Action: protocol.Ask, By: &by, Event: protocol.Event{Event: test.of}, Context: []protocol.HookText{{Hook: by, Text: "x"}}}
		if list := test.lost(o); protocol.RefusesAsk(list) != test.want {
			t.Errorf("%s: %q", name, list)
		}
	}
}
