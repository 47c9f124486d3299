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
