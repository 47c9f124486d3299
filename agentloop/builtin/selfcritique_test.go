package builtin_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/recipe"
	"github.com/hookd-dev/hookd/protocol"
)

func TestSelfCritique(t *testing.T) {
	const review = "Step back from the task and be its reviewer."
	for name, test := range map[string]struct {
		rounds  int
		turns   string
		prompts int // default 1
		answer  string
		calls   int
		notices []string
	}{
		"approved": {
			turns:  `[{text: first}, {text: '{"approved": true, "feedback": ""}'}]`,
			answer: "first", calls: 2, notices: []string{},
		},
		"not approved once": {
			turns:  `[{text: first}, {text: '{"approved": false, "feedback": "no source"}'}, {text: second}, {text: '{"approved": true}'}]`,
			answer: "second", calls: 4, notices: []string{"not approved (round 1): no source"},
		},
		"never approved": {
			turns:  `[{text: a1}, {text: '{"approved": false}'}, {text: a2}, {text: '{"approved": false}'}, {text: a3}]`,
			answer: "a3", calls: 5,
			notices: []string{"not approved (round 1): No reason was given.", "not approved (round 2): No reason was given."},
		},
		"rounds are counted by prompt": {
			rounds: 1, prompts: 2,
			turns: `[{text: a1}, {text: '{"approved": false, "feedback": "x"}'}, {text: a2},
				{text: b1}, {text: '{"approved": false, "feedback": "y"}'}, {text: b2}]`,
			answer: "b2", calls: 6, notices: []string{"not approved (round 1): x", "not approved (round 1): y"},
		},
		"cannot be read": {
			turns:  `[{text: first}, {text: I like it}]`,
			answer: "first", calls: 2, notices: []string{"the answer stands: the judgement on it could not be read"},
		},
		"the reviewer fails": {
			turns:  `[{text: first}, {fail: the model is out of order}]`,
			answer: "first", calls: 2, notices: []string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tk := newConversation(t, "turns: "+test.turns, []provider.Provider{builtin.SelfCritique(test.rounds)})
				for range max(1, test.prompts) {
					tk.say("question")
				}
				messages := tk.loop.Messages()
				if got := messages[len(messages)-1].Content.Text(); got != test.answer {
					t.Errorf("the answer is %q, want %q", got, test.answer)
				}
				if n := len(tk.model.requests); n != test.calls {
					t.Errorf("the model was called %d times, want %d", n, test.calls)
				}
				if diff := cmp.Diff(test.notices, tk.notices("self-critique")); diff != "" {
					t.Error(diff)
				}
				if got := tk.sent(1); !strings.Contains(got, "first") && !strings.Contains(got, "1\n") || !strings.Contains(got, review) {
					t.Errorf("the reviewer read:\n%s", got)
				}
				if strings.Contains(render(messages), review) {
					t.Error("the review is in the conversation")
				}
			})
		})
	}
}

// What the model reads of a judgement is its feedback, and the reviewer has no
// tools.
func TestSelfCritiqueSendsFeedback(t *testing.T) {
	tk := newConversation(t, `turns: [{text: first}, {text: '{"approved": false, "feedback": ["no source", "too long"]}'}, {text: second}, {text: '{"approved": true}'}]`,
		[]provider.Provider{builtin.SelfCritique(0), builtin.Tasks()})
	tk.say("question")
	if got := tk.sent(2); !strings.HasSuffix(got, "then give it again as a whole. no source\ntoo long\n") {
		t.Errorf("the model read:\n%s", got)
	}
	if n := len(tk.model.requests[1].Tools); n != 0 {
		t.Errorf("the reviewer has %d tools", n)
	}
}

// Neither a recipe nor a sub-agent is judged, only what the person asked for.
func TestSelfCritiqueJudgesTheMainAgentOnly(t *testing.T) {
	tk := newConversation(t, `
turns:
- toolCalls: [{id: s, name: spawn_subagent, args: {prompt: find it}}]
- text: found
- text: the answer
- text: '{"approved": true}'
- text: by hand
`, []provider.Provider{builtin.SelfCritique(0), builtin.SubAgents()}, func(o *agentloop.Options) {
		library, findings := recipe.New(recipe.File{Name: "mine", Layer: protocol.User, Text: []byte("Do it.")})
		if len(findings) > 0 {
			t.Fatal(findings)
		}
		o.Recipes = library
	})
	tk.say("question")
	run, err := tk.loop.RunRecipe(t.Context(), "mine", nil)
	if err != nil {
		t.Fatal(err)
	}
	for y := range run.Events() {
		tk.yields = append(tk.yields, y)
	}
	if err := run.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := len(tk.model.requests); n != 5 {
		t.Errorf("the model was called %d times, want 5", n)
	}
	if got := tk.loop.Messages(); got[len(got)-1].Content.Text() != "by hand" {
		t.Errorf("the conversation is:\n%s", render(got))
	}
}
