package protocol

import (
	"bytes"
	stdjson "encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

func FuzzDecodeEvent(f *testing.F) {
	for i := range Table {
		ev := blankEvent(Table[i].Name)
		line, _ := AppendEvent(nil, &ev)
		f.Add(line)
	}
	f.Add([]byte(toolCall(`{"s":"\ud99c","n":1e400,"\u0061":-0}`)))
	f.Add([]byte("\xef\xbb\xbf {\"event\":\"PreToolUse\",\r\n\"data\":{}}"))
	f.Add([]byte(strings.Repeat(`{"a":[`, 600)))
	f.Fuzz(func(t *testing.T, line []byte) {
		given := bytes.Clone(line)
		ev, err := DecodeEvent(line, DecodeLimits{})
		if !bytes.Equal(given, line) {
			t.Fatal("the input was written to")
		}
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without words")
			}
			return
		}
		out, err := AppendEvent(nil, &ev)
		if err != nil {
			t.Fatalf("a decoded event cannot be encoded: %v", err)
		}
		if !utf8.Valid(out) || !jsonspan.Valid(RawMessage(out)) || bytes.Count(out, []byte{'\n'}) != 1 {
			t.Fatalf("a hook reads %q", out)
		}
		again, err := DecodeEvent(out, DecodeLimits{})
		if err != nil {
			t.Fatalf("%q cannot be read again: %v", out, err)
		}
		if !bytes.Equal(again.Data, jsonspan.Plain(ev.Data)) || again.Event != ev.Event {
			t.Fatalf("data came back as %q, was %q", again.Data, ev.Data)
		}
	})
}

// FuzzReadReply looks for crashes and for false verdicts: an answer that the
// bytes on stdout do not give.
func FuzzReadReply(f *testing.F) {
	for _, out := range []string{okBlock, okStop, okObserve, okModify, "hello\n" + okBlock, okModify + okBlock, "[\n" + okBlock + "\n]", `{"action":"allow"}`,
		`{"action":"block","reason":"a` + "\n" + `b","x":NaN}`, `{"a":{"action":"block"}}`, "\xff\xfe{\x00}\x00", `{"changes":{"args":{}}}`, `{"bl`} {
		f.Add([]byte(out), []byte("stderr\n"), 0, 7, 0)
		f.Add([]byte(out), []byte(""), 2, 12, 1)
	}
	for i, answer := range answersToWreck {
		f.Add([]byte(answer), []byte("stderr\n"), 0, i, i)
	}
	f.Fuzz(func(t *testing.T, stdout, stderr []byte, exit, event, class int) {
		spec := &Table[uint(event)%uint(len(Table))]
		v := HookInfo{Name: "h", Layer: Project, Class: []Class{CanModify, CanBlock, CanObserve}[uint(class)%3]}
		exit = int(uint(exit) % 256)
		given := bytes.Clone(stdout)
		r := ReadReply(spec, v, stdout, stderr, ProcessEnd{Exit: &exit}, eventID, ReplyLimits{})
		if !bytes.Equal(given, stdout) {
			t.Fatal("stdout was written to")
		}
		if (r.Reply == nil) == (r.Failure == nil) {
			t.Fatalf("both or neither of reply and failure: %+v", r)
		}
		if r.Failure != nil {
			if r.Failure.Detail == "" || !utf8.ValidString(r.Failure.Detail) {
				t.Fatalf("failure without words: %+v", r.Failure)
			}
			return
		}
		if !utf8.ValidString(r.Reply.Reason) {
			t.Fatalf("reason %q", r.Reply.Reason)
		}
		plain := !bytes.Contains(stdout, []byte{'\\'}) && !bytes.Contains(stdout, []byte{0})
		switch action := r.Reply.Action; {
		case r.ByExit:
			if exit != 2 || !MayBlock(spec, v) {
				t.Fatalf("blocked by exit code %d of a %s hook at %s", exit, v.Class, spec.Name)
			}
		case action == Block || action == Stop:
			if v.Class == CanObserve || action == Block && spec.Block == BlockFails || action == Stop && !spec.CanStop() {
				t.Fatalf("%s by a %s hook at %s", action, v.Class, spec.Name)
			}
			if said := bytes.Contains(stdout, []byte(action)) || action == Block && bytes.Contains(stdout, []byte("deny")); plain && !said {
				t.Fatalf("%s was not said by %q", action, stdout)
			}
		case exit != 0:
			t.Fatalf("%s at exit code %d", action, exit)
		case action != Observe:
			// A yes or a change must be one whole object of strict JSON.
			if plain && !hasObjectLine(stdout) {
				t.Fatalf("%s was not said by %q", action, stdout)
			}
		}
		Begin(blankEvent(spec.Name), FoldOptions{}).Add(Answer{HookInfo: v, ReadResult: r})
	})
}

// hasObjectLine reports whether some line of out begins a JSON object, by
// another decoder.
func hasObjectLine(out []byte) bool {
	for i := range out {
		if out[i] != '{' {
			continue
		}
		var object map[string]stdjson.RawMessage
		if stdjson.NewDecoder(bytes.NewReader(out[i:])).Decode(&object) == nil {
			return true
		}
	}
	return false
}

// FuzzMerge compares the merge patch with a plain one over decoded values.
func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"a": 1.10,"\u0062":[1, null]}`), []byte(`{"a":null,"c":{"d":null,"e":1}}`))
	f.Add([]byte(`{"a":{"b":{"c":1}}, "z":0 }`), []byte(`{"a":{"b":{"c":null}},"z":{}}`))
	f.Add([]byte(`{"l":[1,{"x":2}, 3]}`), []byte(`{"l":[1,{"x":5},3]}`))
	f.Fuzz(func(t *testing.T, args, patch []byte) {
		if jsonspan.Kind(args) != '{' || jsonspan.Kind(patch) != '{' || !jsonspan.Valid(RawMessage(args)) || !jsonspan.Valid(RawMessage(patch)) || jsonspan.DepthExceeded(args, 100) >= 0 || jsonspan.DepthExceeded(patch, 100) >= 0 {
			t.Skip()
		}
		ev := Event{Event: ToolCallStart, Data: RawMessage(`{"toolCallId":"c", "name":"b","kind":"x","args":` + string(args) + `,"parallel":1.0}`)}
		reply := Reply{Action: Modify, Changes: RawMessage(`{"args":` + string(patch) + `}`)}
		after, changes, err := Apply(ev, HookInfo{Name: "h", Class: CanModify}, reply, DecodeLimits{})
		if err != nil {
			t.Fatalf("%s + %s: %v", args, patch, err)
		}
		if !jsonspan.Valid(after.Data) {
			t.Fatalf("%s + %s = %s", args, patch, after.Data)
		}
		want := plainMerge(plainValue(t, args), plainValue(t, patch))
		got := plainValue(t, jsonspan.Get(after.Data, "args"))
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s + %s = %s, want %v", args, patch, after.Data, want)
		}
		if len(changes) == 0 && !bytes.Equal(after.Data, ev.Data) {
			t.Fatalf("no change, but %s became %s", ev.Data, after.Data)
		}
		if protectedBytes(Lookup(ToolCallStart), after.Data) != protectedBytes(Lookup(ToolCallStart), ev.Data) {
			t.Fatalf("protected bytes changed: %s", after.Data)
		}
	})
}

func plainValue(t *testing.T, raw []byte) any {
	dec := stdjson.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Skip()
	}
	return v
}

func plainMerge(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	object, ok := target.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	for name, value := range changes {
		if value == nil {
			delete(object, name)
		} else {
			object[name] = plainMerge(object[name], value)
		}
	}
	return object
}

// FuzzPatch applies any JSON Patch to any args.
func FuzzPatch(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.0],"b":{"\u0063":1e400}}`), []byte(`[{"op":"add","path":"/args/a/-","value":3},{"op":"move","from":"/args/b","path":"/args/z"}]`))
	f.Add([]byte(`{}`), []byte(`[{"op":"test","path":"/name","value":"b"},{"op":"copy","from":"","path":"/args/all"}]`))
	f.Add([]byte(`{"a":null}`), []byte(`[{"op":"remove","path":"/args/a"},{"op":"replace","path":"/args","value":{"x":null}}]`))
	f.Fuzz(func(t *testing.T, args, patch []byte) {
		if jsonspan.Kind(args) != '{' || !jsonspan.Valid(RawMessage(args)) || !jsonspan.Valid(RawMessage(patch)) || jsonspan.DepthExceeded(args, 100) >= 0 || jsonspan.DepthExceeded(patch, 100) >= 0 {
			t.Skip()
		}
		spec := Lookup(ToolCallStart)
		ev := Event{Event: ToolCallStart, Data: RawMessage(`{"toolCallId":"c", "name":"b","kind":"x","args":` + string(args) + `,"parallel":1.0}`)}
		after, changes, err := Apply(ev, HookInfo{Name: "h", Class: CanModify}, Reply{Action: Modify, Patch: patch}, DecodeLimits{})
		if err != nil {
			if !bytes.Equal(after.Data, ev.Data) || changes != nil {
				t.Fatalf("%s failed and had an effect", patch)
			}
			return
		}
		if !jsonspan.Valid(after.Data) || jsonspan.Kind(jsonspan.Get(after.Data, "args")) != '{' {
			t.Fatalf("%s + %s = %s", args, patch, after.Data)
		}
		if protectedBytes(spec, after.Data) != protectedBytes(spec, ev.Data) {
			t.Fatalf("%s changed what is protected: %s", patch, after.Data)
		}
	})
}

// FuzzFold feeds replies, separated by NUL, of hooks of changing class to one
// fold.
func FuzzFold(f *testing.F) {
	f.Add([]byte(okModify+"\x00"+okBlock+"\x00"+okStop), 7)
	f.Add([]byte(`{"action":"continue","messages":[{"role":"user","content":"x"}]}`+"\x00"+okBlock), 12)
	f.Add([]byte(`{"action":"allow"}`+"\x00"+`{"action":"ask"}`), 8)
	f.Fuzz(func(t *testing.T, replies []byte, event int) {
		spec := &Table[uint(event)%uint(len(Table))]
		fold := Begin(Event{Event: spec.Name, Data: spiced(spec)}, FoldOptions{})
		for i, out := range bytes.Split(replies, []byte{0}) {
			exit := 0
			v := hook("h", []Class{CanModify, CanBlock, CanObserve}[i%3], rule([]Rule{RuleContinue, RuleBlock, RuleStop}[i%7%3]))
			before := fold.Outcome()
			var run Run
			fold, run = fold.Add(Answer{HookInfo: v, ReadResult: ReadReply(spec, v, out, nil, ProcessEnd{Exit: &exit}, eventID, ReplyLimits{}), Exit: &exit})
			after := fold.Outcome()
			if strength(after.Action) < strength(before.Action) {
				t.Fatalf("%s became %s by %q", before.Action, after.Action, out)
			}
			if after.Refused() && after.Reason == "" {
				t.Fatalf("refused without a reason by %q", out)
			}
			if len(after.Runs) != i+1 || run.Hook == "" {
				t.Fatalf("%d runs after %d answers", len(after.Runs), i+1)
			}
		}
		if out, err := Marshal(fold.Outcome()); err != nil || !utf8.Valid(out) {
			t.Fatalf("the outcome cannot be written: %v", err)
		}
	})
}

// FuzzInvalidData hands in bytes that are no JSON, as a host in Go may.
func FuzzInvalidData(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"c"}]}`, `[}`, `{"a`, `{"a":`, `{]`, `{"a":}`, `"\`, `{:`, ``, ` `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if jsonspan.DeeperThan(b, 500) {
			t.Skip()
		}
		for i := range Table {
			CheckData(&Table[i], b)
			Complete(&Table[i], b)
		}
		checkMessages(b, b, HookInfo{})
		o := Begin(Event{Event: ToolCallStart, Data: b}, FoldOptions{}).Outcome()
		Marshal(o)
	})
}
