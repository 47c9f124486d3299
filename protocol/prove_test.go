package protocol

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/test/prove"
)

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// randomAnswer is any answer a hook could give, or fail to give.
func randomAnswer(r *rand.Rand, i int) Answer {
	v := HookInfo{
		Name: fmt.Sprintf("h%d", i), Layer: pick(r, Builtin, Project, User, Managed), Class: pick(r, CanModify, CanModify, CanBlock, CanObserve),
		Mode: pick(r, Enforce, Enforce, Enforce, Audit), Rule: pick(r, RuleContinue, RuleBlock, RuleStop, ""), Required: r.IntN(8) == 0,
	}
	if r.IntN(4) == 0 {
		return fails(v, pick(r, FailureKinds...))
	}
	reply := Reply{Action: pick(r, Observe, Block, Modify, Ask, Allow, Stop, Continue, Callback, Deny, ""), Reason: pick(r, "", "because")}
	switch r.IntN(6) {
	case 0:
		reply.Changes = RawMessage(pick(r, `{"args":{"x":1}}`, `{"messages":[]}`, `{"prompt":"p"}`, `{"name":"x"}`))
	case 1:
		reply.Messages = RawMessage(`[{"role":"user","content":"x"}]`)
	case 2:
		reply.Callback = &CallbackCall{Name: "c"}
	case 3:
		reply.Context = "c"
	case 4:
		reply.Result = RawMessage(`{"content":"x","isError":false}`)
	}
	a := says(v, reply)
	a.ByExit = reply.Action == Block && r.IntN(5) == 0
	return a
}

// refuses says, by the events table and the failure rules alone, whether an answer is a no
// that must hold, and how strong a no.
func refuses(spec *Spec, a Answer) int {
	if a.Mode == Audit {
		return 0
	}
	if a.Failure != nil {
		rule := EffectiveRule(a.HookInfo)
		switch {
		case spec.Kind == Notice || rule == RuleContinue:
			return 0
		case rule == RuleStop:
			return 2
		case spec.Kind == Gate && spec.Block == BlockContinues:
			return 2
		case spec.Kind == Gate:
			return 1
		}
		return 0
	}
	if a.Class == CanObserve {
		return 0
	}
	switch a.Reply.Action {
	case Stop:
		if spec.CanStop() {
			return 2
		}
	case Block, Deny:
		if spec.Block == BlockRefuses {
			return 1
		}
	}
	return 0
}

// G4: a block is never weakened by anything that comes after it.
func TestProveABlockIsNeverWeakened(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	lists, refused := prove.Size(5_000, 1_000_000), 0
	events := make([]Event, len(Table))
	for i := range Table {
		events[i] = blankEvent(Table[i].Name)
	}
	for range lists {
		n := r.IntN(len(Table))
		spec, f := &Table[n], Begin(events[n], FoldOptions{AskedBy: Origin{Layer: pick(r, "", Managed)}})
		no := 0 // the strongest no so far; the first closes the event
		for i := range 1 + r.IntN(8) {
			a := randomAnswer(r, i)
			before := f.Outcome()
			was := f.Closed()
			var run Run
			f, run = f.Add(a)
			if !was {
				no = max(no, refuses(spec, a))
			}
			o := f.Outcome()
			if was && (o.Action != before.Action || *o.By != *before.By || o.Reason != before.Reason) && !(run.Failure != "" && run.Rule == RuleStop && o.Action == Stop) {
				t.Fatalf("%s: closed by %s of %s, then %s of %s after %+v", spec.Name, before.Action, *before.By, o.Action, *o.By, a)
			}
			if strength(o.Action) < strength(before.Action) {
				t.Fatalf("%s: %s became %s after %+v", spec.Name, before.Action, o.Action, a)
			}
			if no > 0 && (!o.Refused() || o.Reason == "" || o.Action == Ask) {
				t.Fatalf("%s: a no is lost after %+v: %+v", spec.Name, a, o)
			}
			if no == 2 && o.Action != Stop && before.Action != Block {
				t.Fatalf("%s: a stop is weakened to %s after %+v", spec.Name, o.Action, a)
			}
			if no == 0 && (o.Action == Block || o.Action == Stop) && a.Reply != nil && refuses(spec, failedReply(a)) == 0 {
				t.Fatalf("%s: a no that nobody said after %+v", spec.Name, a)
			}
			if o.Action == Block && string(o.Event.Data) != string(events[n].Data) {
				t.Fatalf("%s: a blocked event is changed", spec.Name)
			}
			if no == 0 && o.Refused() && o.Action != Ask {
				no = 1 // a reply that failed, under its rule
			}
		}
		if no > 0 {
			refused++
		}
	}
	prove.Figure(t, "G4", "%d random verdict lists, %d of them refused, 0 weakened", lists, refused)
}

func failedReply(a Answer) Answer { return fails(a.HookInfo, FailReply) }

// randomPatch is a merge patch or JSON Patch at random places of an event's
// data, changeable or not.
func randomPatch(r *rand.Rand, spec *Spec, data RawMessage) Reply {
	var paths []string
	var walk func(path string, v RawMessage)
	walk = func(path string, v RawMessage) {
		paths = append(paths, path)
		for _, m := range jsonspan.Members(v) {
			if value := m.Value; jsonspan.Kind(value) == '{' {
				walk(path+jsonspan.PointerToken(m.Name), value)
			} else {
				paths = append(paths, path+jsonspan.PointerToken(m.Name))
			}
		}
	}
	walk("", data)
	paths = append(paths, "/new", "/args/x", "/messages/-", "/messages/0", "/name/x", "/~0", "/error")
	for _, f := range spec.Fields {
		paths = append(paths, f.pointer(), f.pointer(), f.pointer()+"/x", f.pointer()+"/-")
	}
	if len(spec.Fields) > 0 && r.IntN(3) == 0 {
		f := pick(r, spec.Fields...)
		if r.IntN(2) == 0 {
			return Reply{Action: Modify, Changes: RawMessage(mergeAt(f.Path, sample[f.Type]))}
		}
		return Reply{Action: Modify, Patch: RawMessage(`[{"op":"replace","path":"` + f.pointer() + `","value":` + sample[f.Type] + `}]`)}
	}
	value := func() string {
		return pick(r, `1.10`, `"x"`, `null`, `{}`, `{"text":"y"}`, `[]`, `[{"role":"user","content":"z"}]`, `{"a":{"b":null}}`, `1e400`,
			`{"content":"c","isError":true}`, `{"role":"assistant","content":"m"}`, `[{"name":"n","description":"d","schema":{}}]`)
	}
	if r.IntN(2) == 0 {
		patch := value()
		for range 1 + r.IntN(2) {
			one := value()
			for _, token := range reversed(pick(r, paths...)) {
				one = `{` + string(jsonspan.Quote(token)) + `:` + one + `}`
			}
			patch = string((*jsonspan.Budget)(nil).MergePatch(RawMessage(patch), RawMessage(one)))
		}
		return Reply{Action: Modify, Changes: RawMessage(patch)}
	}
	var operations []string
	for range 1 + r.IntN(3) {
		op := pick(r, "add", "replace", "remove", "move", "copy", "test")
		operations = append(operations, fmt.Sprintf(`{"op":%q,"path":%s,"from":%s,"value":%s}`, op, jsonspan.Quote(pick(r, paths...)), jsonspan.Quote(pick(r, paths...)), value()))
	}
	return Reply{Action: Modify, Patch: RawMessage("[" + strings.Join(operations, ",") + "]")}
}

func reversed(pointer string) []string {
	var tokens []string
	for token := range jsontext.Pointer(pointer).Tokens() {
		tokens = append([]string{token}, tokens...)
	}
	return tokens
}

// protectedBytes is the data without its changeable fields: what no hook may
// touch, names, order and bytes.
func protectedBytes(spec *Spec, data RawMessage) string {
	return withoutFields(spec, data, "")
}

func withoutFields(spec *Spec, v RawMessage, path string) string {
	out := ""
	for _, m := range jsonspan.Members(v) {
		at := path + jsonspan.PointerToken(m.Name)
		switch {
		case fieldAt(at, spec.Fields) != nil:
			out += m.Name + ":(field);"
		case leadsToField(at, spec.Fields):
			out += m.Name + ":{" + withoutFields(spec, m.Value, at) + "};"
		default:
			out += string(v[m.Begin:m.End()]) + ";"
		}
	}
	return out
}

// spiced is an event's data with members that are easily mangled.
func spiced(spec *Spec) RawMessage {
	data := Complete(spec, RawMessage(`{"big":9007199254740993, "x" : 1.10,"e":1e400,"n":-0,"\u0061":"<&>\u2028\/","last":[1.0, {"k":0.10}]}`))
	return RawMessage(strings.Replace(string(data), `"args":{}`, `"args":{"id":9007199254740993,"e":1e400, "s":"\u0061"}`, 1))
}

// G6: a hook changes only what the table allows. G18: what it does not change
// keeps its bytes.
func TestProveProtectedFieldsStay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	patches, applied := prove.Size(3_000, 100_000), 0
	v := HookInfo{Name: "h", Layer: Project, Class: CanModify}
	for range patches {
		spec := &Table[r.IntN(len(Table))]
		ev := Event{Event: spec.Name, Data: spiced(spec)}
		reply := randomPatch(r, spec, ev.Data)
		before := string(ev.Data)
		after, changes, err := Apply(ev, v, reply, DecodeLimits{})
		if string(ev.Data) != before {
			t.Fatalf("%s: %+v wrote to the event it was given", spec.Name, reply)
		}
		if err != nil {
			if string(after.Data) != before || changes != nil {
				t.Fatalf("%s: %s%s failed and had an effect", spec.Name, reply.Changes, reply.Patch)
			}
			continue
		}
		applied++
		if got, want := protectedBytes(spec, after.Data), protectedBytes(spec, ev.Data); got != want {
			t.Fatalf("%s: %s%s changed what is protected:\n%s\n%s", spec.Name, reply.Changes, reply.Patch, want, got)
		}
		if !jsonspan.Valid(after.Data) {
			t.Fatalf("%s: %s%s made invalid JSON: %s", spec.Name, reply.Changes, reply.Patch, after.Data)
		}
		if err := CheckData(spec, after.Data); err != nil {
			t.Fatalf("%s: %s%s made data that does not fit: %v", spec.Name, reply.Changes, reply.Patch, err)
		}
		if (len(changes) == 0) != (string(after.Data) == before) {
			t.Fatalf("%s: %s%s: %d changes, but data is\n%s\nand was\n%s", spec.Name, reply.Changes, reply.Patch, len(changes), after.Data, before)
		}
		after.Data = ev.Data
		if !reflect.DeepEqual(after, ev) {
			t.Fatalf("%s: something besides data changed", spec.Name)
		}
	}
	if applied < patches/10 {
		t.Errorf("only %d of %d patches were applied", applied, patches)
	}
	prove.Figure(t, "G6", "%d random patches, %d applied, 0 protected fields changed", patches, applied)
}
