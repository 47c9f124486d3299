package protocol

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/test/prove"
)

// hook is a hook for tests: name, class and whatever else is said.
func hook(name string, class Class, more ...func(*HookInfo)) HookInfo {
	v := HookInfo{Name: name, Layer: Project, Class: class, Mode: Enforce, Rule: RuleContinue, Hash: "sha256:" + name}
	for _, f := range more {
		f(&v)
	}
	return v
}

func rule(r Rule) func(*HookInfo)     { return func(v *HookInfo) { v.Rule = r } }
func layer(l Layer) func(*HookInfo)   { return func(v *HookInfo) { v.Layer = l } }
func required(v *HookInfo)            { v.Required = true }
func audit(v *HookInfo)               { v.Mode = Audit }
func says(v HookInfo, r Reply) Answer { return Answer{HookInfo: v, ReadResult: ReadResult{Reply: &r}} }
func fails(v HookInfo, k FailureKind) Answer {
	return Answer{HookInfo: v, ReadResult: ReadResult{Failure: &Failure{Kind: k, Detail: "exit code 1; last line of stderr: \"secret path\"", Remedy: "mend it"}}}
}

func fold(ev Event, answers ...Answer) (Outcome, []Run) {
	f := Begin(ev, FoldOptions{})
	var runs []Run
	for _, a := range answers {
		var run Run
		f, run = f.Add(a)
		runs = append(runs, run)
	}
	return f.Outcome(), runs
}

// G3: every failure kind under every rule at every kind of event.
func TestFailureMatrix(t *testing.T) {
	events := map[string]EventName{"gate": ToolCallStart, "stop gate": AgentStop, "point": StepStop, "notice": SessionEnd}
	// What the outcome's action is.
	want := map[Rule]map[string]Action{
		RuleContinue: {"gate": Observe, "stop gate": Observe, "point": Observe, "notice": Observe},
		RuleBlock:    {"gate": Block, "stop gate": Stop, "point": Observe, "notice": Observe},
		RuleStop:     {"gate": Stop, "stop gate": Stop, "point": Stop, "notice": Observe},
	}
	cells := 0
	for _, kind := range FailureKinds {
		for r, row := range want {
			for at, action := range row {
				cells++
				name := fmt.Sprintf("%s/%s/%s", kind, r, at)
				o, runs := fold(blankEvent(events[at]), fails(hook("guard.sh", CanBlock, rule(r)), kind))
				if o.Action != action {
					t.Errorf("%s: outcome is %s, want %s", name, o.Action, action)
				}
				if decided := action != Observe; decided {
					reason := fmt.Sprintf("blocked: the check guard.sh could not be made (%s)", kind)
					if o.Failure != kind || !o.CouldNotAsk() || o.By == nil || *o.By != "guard.sh" || o.Reason != reason || !o.Refused() {
						t.Errorf("%s: outcome is %+v", name, o)
					}
				} else if o.Failure != "" || o.By != nil || o.Reason != "" {
					t.Errorf("%s: a failure that decided nothing is in the outcome: %+v", name, o)
				}
				run := runs[0]
				if run.Failure != kind || run.Rule != r || run.Action != "" || run.Would != "" || run.Detail == "" {
					t.Errorf("%s: run is %+v", name, run)
				}
				if len(o.Notices) != 1 {
					t.Fatalf("%s: %d notices, want one", name, len(o.Notices))
				}
				for _, word := range []string{"guard.sh", string(kind), "exit code 1", "secret path", "mend it"} {
					if !strings.Contains(o.Notices[0].Text, word) {
						t.Errorf("%s: the notice %q does not say %q", name, o.Notices[0].Text, word)
					}
				}
			}
		}
	}
	if cells != 12*3*4 {
		t.Errorf("%d cells, want 144", cells)
	}
	prove.Figure(t, "G3", "%d cells folded as the table says", cells)
}

// Whose failure decides at all.
func TestEffectiveRule(t *testing.T) {
	for _, test := range []struct {
		name string
		v    HookInfo
		want Rule
	}{
		{"a guard that states no rule", hook("h", CanBlock, rule("")), RuleBlock},
		{"a modifier that states no rule", hook("h", CanModify, rule("")), RuleContinue},
		{"an observer whatever its rule", hook("h", CanObserve, rule(RuleStop)), RuleContinue},
		{"a required observer", hook("h", CanObserve, rule(RuleStop), required), RuleStop},
		{"required with continue", hook("h", CanModify, required), RuleBlock},
		{"audit", hook("h", CanBlock, rule(RuleStop), audit), RuleContinue},
	} {
		if got := EffectiveRule(test.v); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestStrength(t *testing.T) {
	block, stop, ask := Reply{Action: Block, Reason: "b"}, Reply{Action: Stop, Reason: "s"}, Reply{Action: Ask, Reason: "a"}
	modify := Reply{Action: Modify, Changes: RawMessage(`{"args":{"x":1}}`)}
	m := func(n string) HookInfo { return hook(n, CanModify) }
	of := func(n string, l Layer) HookInfo { return hook(n, CanModify, layer(l)) }
	for _, test := range []struct {
		name    string
		answers []Answer
		want    Action
		by      string
	}{
		{"nobody", nil, Observe, ""},
		{"observe", []Answer{says(m("1"), Reply{})}, Observe, ""},
		{"modify over observe", []Answer{says(m("1"), Reply{}), says(m("2"), modify)}, Modify, "2"},
		{"the first modify", []Answer{says(m("1"), modify), says(m("2"), modify)}, Modify, "1"},
		{"ask over modify", []Answer{says(m("1"), modify), says(m("2"), ask)}, Ask, "2"},
		{"the first ask", []Answer{says(m("1"), ask), says(m("2"), ask)}, Ask, "1"},
		{"the ask of the highest layer", []Answer{says(m("1"), ask), says(of("2", User), ask), says(of("3", Managed), ask), says(of("4", Managed), ask)}, Ask, "3"},
		{"an ask of a lower layer behind it", []Answer{says(of("1", Managed), ask), says(of("2", User), ask)}, Ask, "1"},
		{"a block below the ask", []Answer{says(of("1", Managed), ask), says(m("2"), block)}, Block, "2"},
		{"block over ask", []Answer{says(m("1"), ask), says(m("2"), block)}, Block, "2"},
		{"nothing over block", []Answer{says(m("1"), block), says(m("2"), stop)}, Block, "1"},
		{"stop over ask", []Answer{says(m("1"), ask), says(m("2"), stop)}, Stop, "2"},
		{"an empty answer undoes nothing", []Answer{says(m("1"), block), says(m("2"), Reply{})}, Block, "1"},
		{"a failure over ask", []Answer{says(m("1"), ask), fails(hook("2", CanBlock, rule(RuleBlock)), FailTimeout)}, Block, "2"},
		{"a failure does not undo a block", []Answer{says(m("1"), block), fails(m("2"), FailTimeout)}, Block, "1"},
	} {
		o, _ := fold(mustDecode(t, toolCall(`{}`)), test.answers...)
		by := ""
		if o.By != nil {
			by = *o.By
		}
		if o.Action != test.want || by != test.by {
			t.Errorf("%s: %s by %q, want %s by %q", test.name, o.Action, by, test.want, test.by)
		}
	}
}

func TestClosedFoldSkips(t *testing.T) {
	f := Begin(mustDecode(t, toolCall(`{}`)), FoldOptions{})
	f, _ = f.Add(says(hook("guard", CanBlock), Reply{Action: Block}))
	if !f.Closed() {
		t.Fatal("open after a block")
	}
	f, later := f.Add(says(hook("later", CanBlock), Reply{Action: Stop, Context: "x", Notice: "y"}))
	if later.Skipped != SkipAfterBlock || later.Action != "" {
		t.Errorf("run is %+v, want it skipped", later)
	}
	f, watch := f.Add(says(hook("watch", CanObserve), Reply{Notice: "seen"}))
	if watch.Skipped != "" || watch.Action != Observe {
		t.Errorf("an observer is skipped: %+v", watch)
	}
	o := f.Outcome()
	if o.Action != Block || len(o.Context) != 0 || len(o.Notices) != 1 || len(o.Runs) != 3 {
		t.Errorf("outcome is %+v", o)
	}
}

func TestChangesBeforeABlockStayInTheRecordOnly(t *testing.T) {
	ev := mustDecode(t, toolCall(`{"x":0}`))
	change := says(hook("m", CanModify), Reply{Action: Modify, Changes: RawMessage(`{"args":{"x":1}}`), Result: RawMessage(`{"content":"r","isError":false}`)})
	f := Begin(ev, FoldOptions{})
	f, _ = f.Add(change)
	if o := f.Outcome(); o.Replaced == nil || o.ReplacedBy != "m" {
		t.Errorf("no replacement: %+v", o)
	}
	f, _ = f.Add(says(hook("g", CanBlock), Reply{Action: Block}))
	o := f.Outcome()
	if string(o.Event.Data) != string(ev.Data) || o.Replaced != nil {
		t.Errorf("a blocked event is changed: %s %s", o.Event.Data, o.Replaced)
	}
	if len(o.Changes) != 2 || !strings.Contains(string(f.Event().Data), `"x":1`) {
		t.Errorf("the changes are lost for the record: %+v", o.Changes)
	}
	// A stop at tool-call-end keeps the result: as it was changed, or a redactor's
	// work would be undone.
	end := mustDecode(t, `{"event":"tool-call-end","data":{"toolCallId":"c","name":"b","kind":"shell","args":{},"result":{"content":"secret","isError":false},"durationMs":1,"synthetic":false}}`)
	o, _ = fold(end, says(hook("m", CanModify), Reply{Action: Modify, Changes: RawMessage(`{"result":{"content":"***"}}`)}), says(hook("g", CanBlock), Reply{Action: Stop}))
	if strings.Contains(string(o.Event.Data), "secret") {
		t.Errorf("a stop undoes a redaction: %s", o.Event.Data)
	}
}

func TestEachModifierSeesWhatCameBefore(t *testing.T) {
	f := Begin(mustDecode(t, toolCall(`{"a":0,"b":0}`)), FoldOptions{})
	f, _ = f.Add(says(hook("1", CanModify), Reply{Action: Modify, Changes: RawMessage(`{"args":{"a":1}}`)}))
	f, _ = f.Add(says(hook("2", CanModify), Reply{}))
	if got := string(jsonspan.Get(f.Event().Data, "args")); got != `{"a":1,"b":0}` {
		t.Errorf("the third hook sees %s", got)
	}
	by := "1"
	if diff := cmp.Diff(OutcomeSoFar{Action: Modify, By: &by, Changed: []string{"/args/a"}}, f.SoFar()); diff != "" {
		t.Errorf("standing (-want +got):\n%s", diff)
	}
	f, _ = f.Add(says(hook("3", CanModify), Reply{Action: Modify, Changes: RawMessage(`{"args":{"b":1}}`)})) // H14
	if got := string(jsonspan.Get(f.Event().Data, "args")); got != `{"a":1,"b":1}` {
		t.Errorf("args are %s", got)
	}
	if o := f.Outcome(); len(o.Conflicts) != 0 {
		t.Errorf("conflicts %v", o.Conflicts)
	}
	f, _ = f.Add(says(hook("4", CanModify), Reply{Action: Modify, Changes: RawMessage(`{"args":{"a":2}}`)}))
	if diff := cmp.Diff([]Conflict{{Path: "/args/a", By: "4", Owner: "1"}}, f.Outcome().Conflicts); diff != "" {
		t.Errorf("conflicts (-want +got):\n%s", diff)
	}
}

func TestFoldIsAValue(t *testing.T) {
	base := Begin(mustDecode(t, toolCall(`{}`)), FoldOptions{})
	base, _ = base.Add(says(hook("1", CanModify), Reply{Context: "1", Notice: "1"}))
	a, _ := base.Add(says(hook("a", CanModify), Reply{Context: "a", Notice: "a", Action: Modify, Changes: RawMessage(`{"args":{"a":1}}`)}))
	b, _ := base.Add(says(hook("b", CanModify), Reply{Context: "b", Notice: "b", Action: Modify, Changes: RawMessage(`{"args":{"b":1}}`)}))
	for name, f := range map[string]Fold{"a": a, "b": b} {
		o := f.Outcome()
		if o.Context[1].Text != name || o.Notices[1].Text != name || o.Runs[1].Hook != name || o.Changes[0].By != name {
			t.Errorf("%s shares memory with the other: %+v", name, o)
		}
	}
	if o := base.Outcome(); len(o.Runs) != 1 || o.Action != Observe {
		t.Errorf("the base changed: %+v", o)
	}
}

func TestContextIsJoinedAndLimited(t *testing.T) {
	f := Begin(mustDecode(t, toolCall(`{}`)), FoldOptions{ContextLimit: 10})
	f, _ = f.Add(says(hook("1", CanModify), Reply{Context: "abcdef"}))
	f, _ = f.Add(says(hook("2", CanBlock), Reply{Context: "ééé"}))
	f, _ = f.Add(says(hook("3", CanBlock), Reply{Context: "x"}))
	got := f.Outcome()
	want := []HookText{
		{Hook: "1", Source: Project, Text: "abcd\n[hookd: the text of 1 ends here; 1 of its 6 bytes found no room]"},
		{Hook: "2", Source: Project, Text: "éé\n[hookd: the text of 2 ends here; 1 of its 6 bytes found no room]"},
		{Hook: "3", Source: Project, Text: "x"},
	}
	if diff := cmp.Diff(want, got.Context); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	if r := got.Runs; len(r[0].Warnings) != 1 || len(r[1].Warnings) != 1 || len(r[2].Warnings) != 0 || r[2].ContextBytes != 1 {
		t.Errorf("runs: %+v", r)
	}
	o, runs := fold(blankEvent(AgentEnd), says(hook("1", CanModify), Reply{Context: "x"}))
	if len(o.Context) != 0 || runs[0].Failure != "" || len(runs[0].Warnings) != 1 {
		t.Errorf("context without a place: %+v %+v", o.Context, runs[0])
	}
}

func TestAuditHasNoEffect(t *testing.T) {
	ev := mustDecode(t, toolCall(`{"x":0}`))
	for _, reply := range []Reply{
		{Action: Block, Reason: "r", Notice: "n", Context: "c"},
		{Action: Stop}, {Action: Ask},
		{Action: Modify, Changes: RawMessage(`{"args":{"x":1}}`), Notice: "n"},
	} {
		o, runs := fold(ev, says(hook("a", CanModify, audit), reply))
		if o.Action != Observe || o.By != nil || string(o.Event.Data) != string(ev.Data) || len(o.Notices)+len(o.Context)+len(o.Changes) != 0 {
			t.Errorf("%s in audit has an effect: %+v", reply.Action, o)
		}
		if runs[0].Would != reply.Action || runs[0].Action != "" || runs[0].Mode != Audit {
			t.Errorf("%s in audit is recorded as %+v", reply.Action, runs[0])
		}
		if reply.Action == Modify && len(runs[0].Changed) != 1 {
			t.Errorf("what it would have changed is not recorded: %+v", runs[0])
		}
	}
}

func TestPermission(t *testing.T) {
	ev := blankEvent(PermissionRequest)
	allow := Reply{Action: Allow, Reason: "fine"}
	p, u, m := hook("p", CanBlock), hook("u", CanBlock, layer(User)), hook("m", CanBlock, layer(Managed))
	for _, test := range []struct {
		name    string
		asked   Layer
		answers []Answer
		want    Action
	}{
		{"nobody", "", nil, Observe},
		{"allow", "", []Answer{says(p, allow)}, Allow},
		{"ask over allow", "", []Answer{says(p, allow), says(u, Reply{Action: Ask})}, Ask},
		{"allow does not undo ask", "", []Answer{says(p, Reply{Action: Ask}), says(u, allow)}, Ask},
		{"block over allow", "", []Answer{says(p, allow), says(u, Reply{Action: Block})}, Block},
		{"the managed layer asked, the project allows", Managed, []Answer{says(p, allow)}, Observe},
		{"the managed layer asked, the user allows", Managed, []Answer{says(u, allow)}, Observe},
		{"the managed layer asked and allows", Managed, []Answer{says(m, allow)}, Allow},
		{"the project asked, the user allows", Project, []Answer{says(u, allow)}, Allow},
		{"the user asked, the project allows", User, []Answer{says(p, allow)}, Observe},
		{"the user asked, the project blocks", User, []Answer{says(p, Reply{Action: Block})}, Block},
		{"a failed guard", "", []Answer{says(p, allow), fails(hook("g", CanBlock, rule(RuleBlock)), FailTimeout)}, Block},
	} {
		f := Begin(ev, FoldOptions{AskedBy: Origin{Layer: test.asked}})
		for _, a := range test.answers {
			f, _ = f.Add(a)
		}
		if got := f.Outcome().Action; got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestDecidedLayer(t *testing.T) {
	o, _ := fold(mustDecode(t, toolCall(`{}`)), says(hook("same", CanBlock), Reply{}), says(hook("same", CanBlock, layer(Managed)), Reply{Action: Ask}))
	if got := o.DecidedLayer(); got != Managed {
		t.Errorf("decided by layer %q, want managed", got)
	}
}

// A question of a higher layer is not lost after one of a lower layer, which
// others may grant.
func TestOfSeveralThatAskTheHighestIsNamed(t *testing.T) {
	ask := func(name string, l Layer) Answer {
		return says(hook(name, CanBlock, layer(l)), Reply{Action: Ask, Reason: name + "?"})
	}
	for _, test := range []struct {
		answers []Answer
		want    string
	}{
		{[]Answer{ask("p", Project), ask("m", Managed)}, "m"},
		{[]Answer{ask("m", Managed), ask("p", Project)}, "m"},
		{[]Answer{ask("b", Builtin), ask("p", Project), ask("u", User)}, "u"},
		{[]Answer{ask("first", User), ask("second", User)}, "first"},
	} {
		o, _ := fold(mustDecode(t, toolCall(`{}`)), test.answers...)
		if *o.By != test.want || o.Reason != test.want+"?" || o.Action != Ask {
			t.Errorf("%s by %s: %s, want %s", o.Action, *o.By, o.Reason, test.want)
		}
	}
}

// At agent-stop and subagent-stop a block makes the run go on, one by exit code 2
// too; stop beats it.
func TestForcingOn(t *testing.T) {
	for _, event := range []EventName{AgentStop, SubagentStop} {
		ev := blankEvent(event)
		block := says(hook("b", CanBlock), Reply{Action: Block, Reason: "tests fail"})
		o, runs := fold(ev, block, says(hook("c", CanBlock), Reply{Action: Continue, Messages: RawMessage(`[{"role":"user","content":"more"}]`)}))
		want := []Message{{Role: RoleUser, Content: TextContent("tests fail")}, {Role: RoleUser, Content: TextContent("more")}}
		if diff := cmp.Diff(want, o.Messages); diff != "" || o.Action != Continue || *o.By != "b" || o.Reason != "tests fail" || o.Refused() {
			t.Errorf("%s: %s by %v: %s\n%s", event, o.Action, o.By, o.Reason, diff)
		}
		if runs[0].Action != Block {
			t.Errorf("%s: the record says %s", event, runs[0].Action)
		}
		o, _ = fold(ev, block, says(hook("s", CanBlock), Reply{Action: Stop, Reason: "enough"}))
		if o.Action != Stop || *o.By != "s" || len(o.Messages) != 0 || o.CouldNotAsk() {
			t.Errorf("%s: stop does not beat a block: %+v", event, o)
		}
		byExit := block
		byExit.ByExit = true
		o, runs = fold(ev, byExit)
		if o.Action != Continue || len(o.Messages) != 1 || !runs[0].ByExit || runs[0].Action != Block || !o.ByExit {
			t.Errorf("%s: exit code 2 does not force on: %+v", event, o)
		}
		o, _ = fold(ev, block, fails(hook("g", CanBlock, rule(RuleBlock)), FailExit))
		if o.Action != Stop || !o.CouldNotAsk() {
			t.Errorf("%s: a failed guard after a block: %+v", event, o)
		}
	}
}

func TestContinueMessagesAreChecked(t *testing.T) {
	for messages, ok := range map[string]bool{
		`[{"role":"user","content":"x"}]`: true,
		`[{"role":"assistant","content":[{"type":"text","text":"x"}]},{"role":"user","content":"y"}]`: true,
		`[]`:                              false,
		`[{"role":"tool","content":"x"}]`: false,
		`[{"role":"user","content":""}]`:  false,
		`[{"role":"assistant","content":[{"type":"toolCall","toolCallId":"c","name":"n","args":{}}]}]`:                   false,
		`[{"role":"user","content":[{"type":"text","text":"x","layer":"managed","hook":"h"}]}]`:                          false,
		`[{"role":"user","content":"x"},{"role":"user","content":[{"type":"opaque","provider":"p","data":"anything"}]}]`: false,
	} {
		o, runs := fold(blankEvent(StepStop), says(hook("h", CanModify), Reply{Action: Continue, Messages: RawMessage(messages)}))
		if (runs[0].Failure == "") != ok || (len(o.Messages) > 0) != ok {
			t.Errorf("%s: %+v %v", messages, runs[0], o.Messages)
		}
	}
}

func TestCallback(t *testing.T) {
	call := func(name string) Reply { return Reply{Action: Callback, Callback: &CallbackCall{Name: name}} }
	o, runs := fold(blankEvent(StepStop), says(hook("1", CanModify), call("review")), says(hook("2", CanModify), call("other")))
	if o.Action != Callback || o.Callback == nil || o.Callback.Name != "review" || o.Callback.By != "1" {
		t.Errorf("outcome is %+v", o)
	}
	if len(runs[1].Warnings) != 1 {
		t.Errorf("the second callback is lost without a word: %+v", runs[1])
	}
}

func TestReasonsAreNeverEmpty(t *testing.T) {
	for _, a := range []Action{Block, Stop, Ask} {
		o, runs := fold(mustDecode(t, toolCall(`{}`)), says(hook("h", CanBlock), Reply{Action: a, Reason: " \n"}))
		if o.Reason == "" || runs[0].Reason == "" {
			t.Errorf("%s without a reason: %q %q", a, o.Reason, runs[0].Reason)
		}
	}
}

func TestRequired(t *testing.T) {
	watch := hook("watch", CanObserve, required, rule(RuleBlock))
	o, _ := fold(mustDecode(t, toolCall(`{}`)), fails(watch, FailTimeout))
	if o.Action != Block || o.Failure != FailTimeout {
		t.Errorf("a required observer that did not answer lets the event pass: %+v", o)
	}
	o, _ = fold(mustDecode(t, toolCall(`{}`)), says(watch, Reply{}))
	if o.Action != Observe {
		t.Errorf("a required observer that answered: %+v", o)
	}
	o, runs := fold(mustDecode(t, toolCall(`{}`)), says(watch, Reply{Action: Block}))
	if o.Action != Block || o.Failure != FailReply || runs[0].Failure != FailReply {
		t.Errorf("a required observer whose reply fails: %+v", o)
	}
}

// The caller gave up: no rule, no later hook, and anyone who reads the outcome all
// the same reads no yes.
func TestAborted(t *testing.T) {
	f := Begin(mustDecode(t, toolCall(`{}`)), FoldOptions{})
	f, run := f.Add(fails(hook("h", CanBlock, rule(RuleBlock)), FailAborted))
	if o := f.Outcome(); !f.Closed() || !o.Refused() || o.Failure != FailAborted || len(o.Notices) != 0 {
		t.Errorf("outcome is %+v", o)
	}
	if run.Failure != FailAborted || run.Rule != "" {
		t.Errorf("run is %+v", run)
	}
}

// Hooks in Go hand in raw JSON of their own making.
func TestHandMadeRepliesAreChecked(t *testing.T) {
	ev := mustDecode(t, toolCall(`{}`))
	for _, r := range []Reply{
		{Action: "bolck"},
		{Action: Modify, Changes: RawMessage(`{"args":{"a":1,"a":2}}`)},
		{Action: Modify, Changes: RawMessage(`{"args":`)},
		{Action: Modify, Changes: RawMessage(`[]`)},
		{Action: Modify, Patch: RawMessage(`{}`)},
		{Action: Modify, Result: RawMessage(`nope`)},
		{Action: Callback},
		{Action: Modify},
	} {
		o, runs := fold(ev, says(hook("go", CanModify), r))
		if runs[0].Failure != FailReply || o.Action != Observe || string(o.Event.Data) != string(ev.Data) {
			t.Errorf("%+v is accepted: %+v", r, o)
		}
	}
	o, _ := fold(ev, says(hook("go", CanModify), Reply{Action: Block, Reason: "caf\xe9", Notice: "\xff"}))
	if !utf8.ValidString(o.Reason) || !utf8.ValidString(o.Notices[0].Text) {
		t.Errorf("invalid UTF-8 goes on: %q %q", o.Reason, o.Notices[0].Text)
	}
	// A nil reply is what nothing on stdout is.
	f, run := Begin(ev, FoldOptions{}).Add(Answer{HookInfo: hook("go", CanModify)})
	if run.Action != Observe || f.Outcome().Action != Observe {
		t.Errorf("a nil reply is %+v", run)
	}
}

// Whatever lower layers say, and set as their limit, the machine's context is
// whole; inside a layer one hook cannot use up what another needs.
func TestContextIsSharedByLayer(t *testing.T) {
	long := strings.Repeat("a line\n", 100)
	by := func(name string, layer Layer, limit int64, text string) Answer {
		a := says(hook(name, CanModify), Reply{Context: text})
		a.Layer, a.Limits.Context = layer, limit
		return a
	}
	for name, tc := range map[string]struct {
		answers []Answer
		want    []int // bytes given to each
	}{
		"the machine comes first":               {[]Answer{by("p", Project, 700, long), by("m", Managed, 700, long)}, []int{0, 700}},
		"a lower limit cuts its own hooks":      {[]Answer{by("p", Project, 1, long), by("u", User, 1, long), by("m", Managed, 700, long)}, []int{0, 0, 700}},
		"0 is none":                             {[]Answer{by("u", User, -1, long), by("m", Managed, 700, long)}, []int{0, 700}},
		"what the machine leaves is the user's": {[]Answer{by("u", User, 1000, long), by("m", Managed, 1000, long)}, []int{294, 700}},
		"a fair share inside a layer":           {[]Answer{by("1", User, 707, long), by("2", User, 707, "a line\n")}, []int{700, 7}},
		"cut at a line's end":                   {[]Answer{by("1", User, 20, long)}, []int{14}},
		"built-in features have their own":      {[]Answer{by("b", Builtin, 700, long), by("m", Managed, 700, long)}, []int{700, 700}},
	} {
		t.Run(name, func(t *testing.T) {
			f := Begin(mustDecode(t, toolCall(`{}`)), FoldOptions{})
			for _, a := range tc.answers {
				f, _ = f.Add(a)
			}
			o := f.Outcome()
			var got []int
			for i, run := range o.Runs {
				got = append(got, run.ContextBytes)
				whole := run.ContextBytes == len(tc.answers[i].Reply.Context)
				if told := strings.Contains(o.Context[i].Text, "ends here"); told == whole || whole != (len(run.Warnings) == 0) {
					t.Errorf("%s: model told %v, person %q", run.Hook, told, run.Warnings)
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("given %v, want %v", got, tc.want)
			}
		})
	}
}

// What hooks do to each other is said in their runs, each once, with the other's
// name.
func TestWarningsNameTheOtherHook(t *testing.T) {
	ev := mustDecode(t, toolCall(`{"x":0}`))
	args := func(x string) Reply { return Reply{Action: Modify, Changes: []byte(`{"args":{"x":` + x + `}}`)} }
	o, runs := fold(ev, says(hook("1", CanModify), args("1")), says(hook("2", CanModify), args("2")))
	if len(o.Conflicts) != 1 || len(runs[0].Warnings) != 0 {
		t.Fatalf("%+v %+v", o.Conflicts, runs[0])
	}
	if w := runs[1].Warnings; len(w) != 1 || !strings.Contains(w[0], "/args/x") || !strings.Contains(w[0], "1 of the project layer") {
		t.Errorf("the conflict: %q", w)
	}
	call := func(name string) Reply { return Reply{Action: Callback, Callback: &CallbackCall{Name: name}} }
	_, runs = fold(mustDecode(t, `{"event":"step-start","data":{"messages":[],"stepsLeft":null}}`), says(hook("1", CanModify), call("a")), says(hook("2", CanModify), call("b")))
	if w := runs[1].Warnings; len(w) != 1 || !strings.Contains(w[0], "asked for already, by 1;") {
		t.Errorf("the second callback: %q", w)
	}
}

// Of a sensitive hook nothing that it wrote besides its verdict is in an outcome.
func TestSensitiveHooksAreVeiled(t *testing.T) {
	secret := hook("s", CanModify)
	secret.Sensitive = true
	one := 1
	for _, a := range []Answer{
		{HookInfo: secret, ReadResult: ReadResult{Failure: &Failure{Kind: FailExit, Detail: `exit code 1; last line of stderr: "CANARY"`}}, Exit: &one, Stderr: "CANARY"},
		{HookInfo: secret, ReadResult: ReadResult{Failure: &Failure{Kind: FailReply, Detail: "unknown action CANARY"}}},
		{HookInfo: secret, ReadResult: ReadResult{Failure: &Failure{Kind: FailOutput, Detail: `"CANARY"`}}},
		{HookInfo: secret, ReadResult: ReadResult{Reply: &Reply{Action: Observe}, Warnings: []string{BesidesReply + "CANARY", `unknown member "CANARY"`, InvalidReply + ": CANARY"}}, Stderr: "CANARY"},
		says(secret, Reply{Action: Modify, Changes: []byte(`{"args":"CANARY"}`)}),
	} {
		o, runs := fold(mustDecode(t, toolCall(`{"x":0}`)), a)
		text, err := Marshal(struct {
			Notices []HookText
			Runs    []Run
		}{o.Notices, runs})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "CANARY") {
			t.Errorf("%s", text)
		}
		if !runs[0].Sensitive {
			t.Error("the run does not say that it is sensitive")
		}
	}
}

// Where a failure's rule decides, nobody's answer did.
func TestAFailureHasNoAnswerer(t *testing.T) {
	granted := says(hook("person", CanModify, layer(Builtin)), Reply{Action: Allow, Answered: &Answered{By: ByPerson}})
	if o, _ := fold(blankEvent(PermissionRequest), granted); o.Answered == nil {
		t.Fatal("the person's answer is lost")
	}
	o, _ := fold(blankEvent(PermissionRequest), granted, fails(hook("guard.sh", CanBlock, rule(RuleBlock)), FailTimeout))
	if o.Action != Block || o.Answered != nil {
		t.Errorf("%s, answered by %+v", o.Action, o.Answered)
	}
}
