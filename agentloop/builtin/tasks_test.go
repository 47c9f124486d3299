package builtin_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
)

const reminder = "There are open tasks."

// write is a turn that writes the list: "text:status, text:status".
func write(id, items string) string {
	var list []string
	for item := range strings.SplitSeq(items, ", ") {
		text, status, _ := strings.Cut(item, ":")
		list = append(list, fmt.Sprintf("{text: %q, status: %s}", text, status))
	}
	return fmt.Sprintf("- toolCalls: [{id: %s, name: todo_write, args: {items: [%s]}}]\n", id, strings.Join(list, ", "))
}

// look is a turn with a call that the list has nothing to do with.
func look(id string) string {
	return fmt.Sprintf("- toolCalls: [{id: %s, name: nothing, args: {}}]\n", id)
}

func TestTasksAreKeptAndShown(t *testing.T) {
	var seen []string
	watch := provider.Provider{Name: "watch", Hooks: []protocol.GoHook{{
		Name: "watch", Events: []protocol.EventName{protocol.StepStop},
		Func: func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			seen = append(seen, string(ev.Metadata))
			return protocol.Reply{}, nil
		},
	}}}
	synctest.Test(t, func(t *testing.T) {
		tk := newConversation(t, "turns:\n"+write("a", "read:completed, write:in_progress, test:pending")+write("b", "x:unknown")+write("c", "read:completed, write:completed")+"- text: done\n",
			[]provider.Provider{builtin.Tasks(), watch})
		tk.say("plan it")
		want := []string{
			"1 of 3 tasks done\n[x] read\n[>] write\n[ ] test",
			"2 of 2 tasks done\n[x] read\n[x] write",
		}
		if diff := cmp.Diff(want, tk.notices("tasks")); diff != "" {
			t.Error(diff)
		}
		if got := tk.sent(2); !strings.Contains(got, "result error=true the args do not fit the tool's schema") {
			t.Errorf("a status that there is not was taken:\n%s", got)
		}
		if strings.Contains(tk.sent(3), reminder) {
			t.Error("reminded so soon, or of tasks that are done")
		}
	})
	open := `{"tasks":{"items":[{"text":"read","status":"completed"},{"text":"write","status":"in_progress"},{"text":"test","status":"pending"}]}}`
	done := `{"tasks":{"items":[{"text":"read","status":"completed"},{"text":"write","status":"completed"}]}}`
	if diff := cmp.Diff([]string{open, open, done, done}, seen); diff != "" {
		t.Error(diff)
	}
}

// A reminder comes with every fifth step after a change of the list, not with
// the one after it, across prompts too.
func TestTasksAreRemindedOf(t *testing.T) {
	script := "turns:\n" + write("w", "write:pending")
	for i := range 12 {
		script += look(fmt.Sprintf("l%d", i))
	}
	script += "- text: done\n- text: done too\n- text: last\n"
	tk := newConversation(t, script, []provider.Provider{builtin.Tasks()})
	tk.say("go")
	tk.say("more")
	tk.say("more")
	reminded := []int{}
	for i := range tk.model.requests {
		// Each request holds the reminders before it.
		for n := strings.Count(tk.sent(i), reminder); len(reminded) < n; {
			reminded = append(reminded, i)
		}
	}
	if diff := cmp.Diff([]int{5, 10, 15}, reminded); diff != "" {
		t.Errorf("calls with a new reminder: %s", diff)
	}
	if got := tk.sent(5); !strings.Contains(got, "0 of 1 tasks done\n[ ] write") {
		t.Errorf("the model read:\n%s", got)
	}
}

func TestTasksSurviveAResume(t *testing.T) {
	folder := t.TempDir()
	var tk *conversation
	talkIn := func(script string, session *store.Session) {
		set, err := executor.StaticSet()
		if err != nil {
			t.Fatal(err)
		}
		tk = newConversation(t, script, []provider.Provider{builtin.Tasks()}, func(o *agentloop.Options) {
			o.Session = session
			o.Gate = executor.New(set, executor.Options{StateDir: filepath.Join(folder, "state")})
		})
		tk.say("go on")
		if err := tk.options.Gate.(*executor.Executor).Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		session.Close()
	}
	session, err := store.Create(folder, "s1", store.Header{})
	if err != nil {
		t.Fatal(err)
	}
	talkIn("turns:\n"+write("a", "write:pending")+"- text: later\n", session)
	if session, err = store.Open(folder, "s1"); err != nil {
		t.Fatal(err)
	}
	talkIn("turns:\n"+look("l")+"- text: done\n", session)
	if diff := cmp.Diff(map[string]int{reminder: 1, "[ ] write": 1}, counts(tk.sent(1), reminder, "[ ] write")); diff != "" {
		t.Errorf("%s\nthe model read:\n%s", diff, tk.sent(1))
	}
}

func TestTaskListThatIsTooLarge(t *testing.T) {
	items := []string{}
	for range 50 {
		items = append(items, strings.Repeat("long ", 60)+":pending")
	}
	tk := newConversation(t, "turns:\n"+write("a", strings.Join(items, ", "))+"- text: done\n", []provider.Provider{builtin.Tasks()})
	tk.say("plan it")
	if got := tk.sent(1); !strings.Contains(got, "bytes, 12288 are kept: write shorter texts") {
		t.Errorf("the model read:\n%s", got)
	}
	if got := tk.notices("tasks"); len(got) != 0 {
		t.Errorf("a list that was refused was kept: %q", got)
	}
}

// The list is the main agent's: a sub-agent cannot write over it.
func TestTasksBelongToTheMainAgent(t *testing.T) {
	tk := newConversation(t, `
turns:
- toolCalls: [{id: s, name: spawn_subagent, args: {prompt: find it}}]
- toolCalls: [{id: w, name: todo_write, args: {items: []}}]
- text: found
- text: done
`, []provider.Provider{builtin.Tasks(), builtin.SubAgents()})
	tk.say("go")
	offered := map[int]bool{}
	for i, request := range tk.model.requests {
		for _, tool := range request.Tools {
			offered[i] = offered[i] || tool.Name == "todo_write"
		}
	}
	if diff := cmp.Diff(map[int]bool{0: true, 1: false, 2: false, 3: true}, offered); diff != "" {
		t.Errorf("who is offered the tool: %s", diff)
	}
	if got := tk.sent(2); !strings.Contains(got, `result error=true there is no tool named "todo_write"`) {
		t.Errorf("the sub-agent read:\n%s", got)
	}
	if got := tk.notices("tasks"); len(got) != 0 {
		t.Errorf("the person read %q", got)
	}
}
