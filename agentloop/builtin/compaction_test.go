package builtin_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

func TestSummarize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("word", 1000) // 1,000 tokens
		tk := newConversation(t, fmt.Sprintf("turns: [{text: %s}, {text: They talked.}, {text: second}, {text: third}]", long),
			[]provider.Provider{builtin.Summarize(900)},
			func(o *agentloop.Options) { o.Compaction.KeepFirst, o.Compaction.KeepLast = 1, 0 })
		tk.say("the first question")
		tk.say("the second question")
		tk.say("the third question")
		want := "user:\nthe first question\nuser:\n[Summary of the conversation up to here. It stands in place of what was said; go on from it.]\n\nThey talked.\nuser:\nthe second question\n"
		if diff := cmp.Diff(want, tk.sent(2)); diff != "" {
			t.Error(diff)
		}
		if got := tk.sent(1); !strings.Contains(got, long) || !strings.Contains(got, "Pause the task.") {
			t.Errorf("the summary was made of:\n%.200s", got)
		}
		if n := tk.fired(protocol.CompactStart); n != 1 || len(tk.model.requests) != 4 {
			t.Errorf("%d summaries, %d model calls", n, len(tk.model.requests))
		}
		if got := tk.notices("summarize"); len(got) != 0 {
			t.Errorf("the person read %q", got)
		}
	})
}

// A summary that does not help is not made again with every step.
func TestSummarizeGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("word", 1000)
		tk := newConversation(t, "turns: [{text: a}, {text: summary one}, {text: b}, {text: c}, {text: summary two}, {text: d}, {text: e}]",
			[]provider.Provider{builtin.Summarize(900)})
		tk.say(long) // it stays: it is the first prompt
		for range 2 {
			tk.say("more")
		}
		tk.say(strings.Repeat("word", 600))
		tk.say("and more")
		var summaries []int
		for i := range tk.model.requests {
			if strings.Contains(tk.sent(i), "Pause the task.") {
				summaries = append(summaries, i)
			}
		}
		if diff := cmp.Diff([]int{1, 4}, summaries); diff != "" {
			t.Errorf("summaries at the calls %s", diff)
		}
		want := []string{
			"the conversation is still at about 1028 tokens after a summary, more than the limit of 900; the next summary is made above 1542",
			"the conversation is still at about 1628 tokens after a summary, more than the limit of 900; the next summary is made above 2442",
		}
		if diff := cmp.Diff(want, tk.notices("summarize")); diff != "" {
			t.Error(diff)
		}
	})
}

// The size that a model tells counts before the estimate.
func TestSummarizeBelievesTheModel(t *testing.T) {
	tk := newConversation(t, `
contextMax: 100000
turns:
- toolCalls: [{id: c, name: nothing, args: {}}]
  usage: {inputTokens: 1, outputTokens: 1, contextTokens: 5000}
- text: They talked.
- text: done
`, []provider.Provider{builtin.Summarize(2000)})
	tk.say("short")
	if n := tk.fired(protocol.CompactStart); n != 1 {
		t.Errorf("%d summaries", n)
	}
	if n := tk.fired(protocol.CompactEnd); n != 1 {
		t.Errorf("%d ends", n)
	}
}
