package protocol

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// sample is a value that fits a field and differs from the zero value.
var sample = map[FieldType]string{
	TypeString:   `"changed"`,
	TypeMessages: `[{"role":"user","content":"changed"}]`,
	TypeMessage:  `{"role":"assistant","content":"changed"}`,
	TypeTools:    `[{"name":"t","description":"d","schema":{}}]`,
	TypeParams:   `{"maxTokens":5,"x-provider":1.10}`,
	TypeArgs:     `{"command":"changed"}`,
	TypeResult:   `{"content":"changed","isError":false}`,
	TypeResponse: `{"message":{"role":"assistant","content":"changed"},"finishReason":"stop"}`,
}

// blankEvent is an event with the least data that fits.
// ReadReplyForTest reads what a hook wrote, by package readreply, which imports this
// one: readreply_link_test.go sets it.
var ReadReplyForTest func(spec *Spec, hook HookInfo, stdout string, exit *int) ReadResult

func blankEvent(name EventName) Event {
	return Event{Protocol: Version, Event: name, Data: Complete(Lookup(name), nil)}
}

// mergeAt is a merge patch that sets what path leads to.
func mergeAt(path, value string) string {
	parts := strings.Split(path, ".")
	for _, name := range slices.Backward(parts) {
		value = `{"` + name + `":` + value + `}`
	}
	return value
}

// Every answer at every event by every class, against the table as the
// specification has it.
func TestEveryAnswerAtEveryEvent(t *testing.T) {
	cells := 0
	for line := range strings.Lines(strings.TrimSpace(specified)) {
		cell := strings.Split(line, "|")
		for i := range cell {
			cell[i] = strings.TrimSpace(cell[i])
		}
		event := EventName(cell[0])
		spec := Lookup(event)
		may := strings.Fields(cell[4])
		answers := map[string]bool{ // reply: whether a modifier may give it
			`{"action":"observe"}`:                   true,
			`{"action":"continue"}`:                  true,
			`{"action":"allow"}`:                     true,
			`{"notice":"n","state":1,"metadata":{}}`: true,
			`{"context":"c"}`:                        true,
			`{"action":"block","reason":"r"}`:        cell[2] != "-",
			`{"action":"stop","reason":"r"}`:         cell[3] != "-",
			`{"action":"ask","reason":"r"}`:          cell[5] != "-",
			`{"action":"continue","messages":[{"role":"user","content":"x"}]}`:                  cell[6] != "-",
			`{"action":"callback","callback":{"name":"x"}}`:                                     cell[7] != "-",
			`{"action":"modify","result":{"content":"x","isError":false}}`:                      slices.Contains(may, "=result"),
			`{"action":"modify","response":{"message":{"role":"assistant","content":"hello"}}}`: slices.Contains(may, "=response"),
		}
		for _, f := range spec.Fields {
			answers[`{"action":"modify","changes":`+mergeAt(f.Path, sample[f.Type])+`}`] = true
			answers[`{"action":"modify","patch":[{"op":"replace","path":"`+f.pointer()+`","value":`+sample[f.Type]+`}]}`] = true
			answers[`{"action":"modify","changes":`+mergeAt(f.Path, `null`)+`}`] = false
			answers[`{"action":"modify","changes":`+mergeAt(f.Path, `false`)+`}`] = false
			answers[`{"action":"modify","patch":[{"op":"remove","path":"`+f.pointer()+`"}]}`] = false
		}
		for _, m := range jsonspan.Members(Complete(spec, nil)) {
			if !slices.Contains(may, m.Name) {
				answers[`{"action":"modify","changes":{"`+m.Name+`":"changed"}}`] = false
				answers[`{"action":"modify","patch":[{"op":"replace","path":"/`+m.Name+`","value":"changed"}]}`] = false
				answers[`{"action":"modify","patch":[{"op":"remove","path":"/`+m.Name+`"}]}`] = false
			}
		}
		for reply, possible := range answers {
			for _, class := range []Class{CanModify, CanBlock, CanObserve} {
				want := possible
				action := strings.Split(reply, `"`)[3]
				switch class {
				case CanObserve:
					want = reply == `{"action":"observe"}` || reply == `{"action":"continue"}` || strings.HasPrefix(reply, `{"notice"`)
				case CanBlock:
					want = possible && action != "modify" && action != "callback"
				}
				cells++
				v := HookInfo{Name: "h", Layer: Project, Class: class}
				ev := blankEvent(event)
				exit := 0
				r := ReadReplyForTest(spec, v, reply, &exit)
				f, run := Begin(ev, FoldOptions{}).Add(Answer{HookInfo: v, ReadResult: r, Exit: &exit})
				if got := run.Failure == ""; got != want {
					t.Errorf("%s, can %s, %s: accepted is %v, want %v (%s)", event, class, reply, got, want, run.Detail)
				}
				if run.Failure != "" && (f.Outcome().Refused() != (EffectiveRule(v) == RuleBlock && spec.Kind == Gate) || string(f.Event().Data) != string(ev.Data)) {
					t.Errorf("%s, can %s, %s: a failed reply had an effect: %s %s", event, class, reply, f.Outcome().Action, f.Event().Data)
				}
				if run.Failure == "" && action == "modify" && class == CanModify && !strings.Contains(reply, `"res`) && !strings.Contains(string(f.Event().Data), "changed") && !strings.Contains(string(f.Event().Data), "1.10") && !strings.Contains(reply, `"schema"`) {
					t.Errorf("%s: %s changed nothing: %s", event, reply, f.Event().Data)
				}
			}
		}
	}
	if cells < 1000 {
		t.Errorf("only %d cells", cells)
	}
}

func apply(t *testing.T, ev Event, reply string) (Event, []Change, error) {
	t.Helper()
	var r Reply
	if err := json.Unmarshal([]byte(reply), &r); err != nil {
		t.Fatal(err)
	}
	return Apply(ev, HookInfo{Name: "h", Layer: Project, Class: CanModify}, r, DecodeLimits{})
}

// What a change makes of args, byte for byte, and which paths it names.
func TestApplyKeepsBytes(t *testing.T) {
	tests := []struct{ name, args, reply, want, paths string }{
		{"replace one", `{"a": 1.10, "b" : "x\u0061", "c":1e400}`, `{"changes":{"args":{"a":2}}}`, `{"a": 2, "b" : "x\u0061", "c":1e400}`, "/args/a"},
		{"add at the end", `{"a":-0 }`, `{"changes":{"args":{"z":{"y":1.0}}}}`, `{"a":-0,"z":{"y":1.0} }`, "/args/z"},
		{"remove the first", `{"a":1, "b":2}`, `{"changes":{"args":{"a":null}}}`, `{"b":2}`, "/args/a"},
		{"remove the middle", `{"a":1,"b":2,"c":3}`, `{"changes":{"args":{"b":null}}}`, `{"a":1,"c":3}`, "/args/b"},
		{"remove the last", `{"a":1, "b":2 }`, `{"changes":{"args":{"b":null}}}`, `{"a":1 }`, "/args/b"},
		{"remove all, add one", `{"a":1,"b":2}`, `{"changes":{"args":{"a":null,"b":null,"c":3}}}`, `{"c":3}`, "/args/a /args/b /args/c"},
		{"remove what is not there", `{"a":1}`, `{"changes":{"args":{"b":null}}}`, `{"a":1}`, ""},
		{"into an empty object", `{}`, `{"changes":{"args":{"a":1}}}`, `{"a":1}`, "/args/a"},
		{"nested", `{"o":{"x":1.0,"y":[1, 2]},"p":2}`, `{"changes":{"args":{"o":{"x":3}}}}`, `{"o":{"x":3,"y":[1, 2]},"p":2}`, "/args/o/x"},
		{"nulls inside a new object are dropped", `{}`, `{"changes":{"args":{"o":{"a":null,"b":1}}}}`, `{"o":{"b":1}}`, "/args/o"},
		{"an object over a scalar", `{"o":1}`, `{"changes":{"args":{"o":{"a":null,"b":1}}}}`, `{"o":{"b":1}}`, "/args/o"},
		{"a list is replaced, nulls in it stay", `{"l":[1,2]}`, `{"changes":{"args":{"l":[null]}}}`, `{"l":[null]}`, "/args/l"},
		{"an element of a list", `{"l":[1.0, {"a":1,  "b":2}]}`, `{"changes":{"args":{"l":[1.0,{"a":5,"b":2}]}}}`, `{"l":[1.0, {"a":5,  "b":2}]}`, "/args/l/1/a"},
		{"the same again", `{"s":"\u00e9","n":[1, 2]}`, `{"changes":{"args":{"s":"é","n":[1,2]}}}`, `{"s":"\u00e9","n":[1, 2]}`, ""},
		{"other digits are a change", `{"n":1.10}`, `{"changes":{"args":{"n":1.1}}}`, `{"n":1.1}`, "/args/n"},
		{"keys with slash and tilde", `{"a/b":1,"~":2}`, `{"changes":{"args":{"a/b":3,"~":4}}}`, `{"a/b":3,"~":4}`, "/args/a~1b /args/~0"},
		{"a key in an unusual spelling", `{"\u0061":1}`, `{"changes":{"args":{"a":2}}}`, `{"\u0061":2}`, "/args/a"},
		{"keys with dots are keys", `{"a":{"b":1}}`, `{"changes":{"args":{"a.b":2}}}`, `{"a":{"b":1},"a.b":2}`, "/args/a.b"},

		{"patch replace", `{"a": 1.10, "\u0062":"<&>\u2028", "c":1e400}`, `{"patch":[{"op":"replace","path":"/args/a","value":2}]}`, `{"a": 2, "\u0062":"<&>\u2028", "c":1e400}`, "/args/a"},
		{"patch add to a list", `{"l":[1.0, 2]}`, `{"patch":[{"op":"add","path":"/args/l/-","value":3}]}`, `{"l":[1.0,2,3]}`, "/args/l/2"},
		{"patch insert", `{"l":[1.0,"\u0061"]}`, `{"patch":[{"op":"add","path":"/args/l/1","value":9007199254740993}]}`, `{"l":[1.0,9007199254740993,"\u0061"]}`, "/args/l/1"},
		{"patch remove", `{"l":[1,2,3],"x":1e400}`, `{"patch":[{"op":"remove","path":"/args/l/1"}]}`, `{"l":[1,3],"x":1e400}`, "/args/l/1"},
		{"patch move", `{"a":1.10,"b":{}}`, `{"patch":[{"op":"move","from":"/args/a","path":"/args/b/c"}]}`, `{"b":{"c":1.10}}`, "/args/a /args/b/c"},
		{"patch copy from elsewhere", `{"a":1}`, `{"patch":[{"op":"copy","from":"/name","path":"/args/n"}]}`, `{"a":1,"n":"bash"}`, "/args/n"},
		{"patch test and replace", `{"a":9007199254740993}`, `{"patch":[{"op":"test","path":"/args/a","value":9007199254740993},{"op":"replace","path":"/args/a","value":1}]}`, `{"a":1}`, "/args/a"},
		{"patch add and remove again", `{"a":1 }`, `{"patch":[{"op":"add","path":"/args/b","value":1},{"op":"remove","path":"/args/b"}]}`, `{"a":1 }`, ""},
		{"patch beside an object that begins with a blank", `{"a":1,"o":{ "b":[ {	"c":2.50}]}}`, `{"patch":[{"op":"replace","path":"/args/a","value":2}]}`, `{"a":2,"o":{ "b":[ {	"c":2.50}]}}`, "/args/a"},
		{"empty patch", `{"a":1 }`, `{"patch":[]}`, `{"a":1 }`, ""},
		{"half a surrogate", `{}`, `{"changes":{"args":{"s":"\ufffd"}}}`, `{"s":"\ufffd"}`, "/args/s"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ev := mustDecode(t, toolCall(test.args))
			before := string(ev.Data)
			after, changes, err := apply(t, ev, test.reply)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Replace(before, test.args, test.want, 1); string(after.Data) != want {
				t.Errorf("data is\n%s, want\n%s", after.Data, want)
			}
			if got := strings.Join(changedPaths(changes), " "); got != test.paths {
				t.Errorf("changed %s, want %s", got, test.paths)
			}
			for _, c := range changes {
				if c.By != "h" || c.Before == nil && c.After == nil {
					t.Errorf("change %+v", c)
				}
			}
			if string(ev.Data) != before {
				t.Error("the event that was given was written to")
			}
		})
	}
}

// A reply is applied whole or not at all.
func TestApplyRefuses(t *testing.T) {
	tests := []struct{ name, reply, words string }{
		{"protected field", `{"changes":{"name":"sh"}}`, "/name is not changeable here; changeable: /args"},
		{"one good, one protected", `{"changes":{"args":{"a":1},"kind":"read"}}`, "/kind is not changeable"},
		{"new member of data", `{"changes":{"extra":1}}`, "/extra is not changeable"},
		{"remove the field", `{"changes":{"args":null}}`, "may be changed, not removed"},
		{"wrong type", `{"changes":{"args":"ls"}}`, `"ls" where an object is expected`},
		{"patch of a protected field", `{"patch":[{"op":"add","path":"/args/a","value":1},{"op":"replace","path":"/kind","value":"read"}]}`, "patch/1: /kind is not changeable"},
		{"patch of the whole", `{"patch":[{"op":"replace","path":"","value":{}}]}`, "the whole of data is not changeable"},
		{"patch that moves out", `{"patch":[{"op":"move","from":"/args","path":"/x"}]}`, "is not changeable"},
		{"patch that moves the field into itself", `{"patch":[{"op":"move","from":"/name","path":"/args/name"}]}`, "/name is not changeable"},
		{"patch that removes the field", `{"patch":[{"op":"remove","path":"/args"}]}`, "may be changed, not removed"},
		{"patch with a missing path", `{"patch":[{"op":"replace","path":"/args/none/deep","value":1}]}`, "patch"},
		{"patch removes what is not there", `{"patch":[{"op":"remove","path":"/args/none"}]}`, "patch"},
		{"patch that fails its test", `{"patch":[{"op":"test","path":"/name","value":"x"},{"op":"add","path":"/args/a","value":1}]}`, "patch"},
		{"patch with an unknown operation", `{"patch":[{"op":"merge","path":"/args","value":1}]}`, `unknown operation "merge"`},
		{"patch without value", `{"patch":[{"op":"add","path":"/args/a"}]}`, "add needs value"},
		{"patch without path", `{"patch":[{"op":"add","value":1}]}`, "path must be a JSON Pointer"},
		{"patch with a bad pointer", `{"patch":[{"op":"add","path":"args/a","value":1}]}`, "path must be a JSON Pointer"},
		{"patch with a number for a pointer", `{"patch":[{"op":"add","path":7,"value":1}]}`, "path must be a JSON Pointer"},
		{"patch that is no list of objects", `{"patch":[7]}`, "patch/0: 7 where an operation is expected"},
		{"result of the wrong type", `{"result":{"content":7}}`, "/result/content: 7 where a list is expected"},
		{"result without content", `{"result":{"isError":true}}`, "/result/content: is missing"},
		{"response here", `{"response":{"message":{"role":"assistant","content":"x"}}}`, "response is not possible"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ev := mustDecode(t, toolCall(`{"command":"ls"}`))
			after, changes, err := apply(t, ev, test.reply)
			if err == nil {
				t.Fatalf("applied: %s", after.Data)
			}
			if !strings.Contains(err.Error(), test.words) {
				t.Errorf("error %q does not say %q", err, test.words)
			}
			if string(after.Data) != string(ev.Data) || changes != nil {
				t.Errorf("a refused reply had an effect: %s %v", after.Data, changes)
			}
		})
	}
}

func TestApplyChecksArgs(t *testing.T) {
	ev := mustDecode(t, toolCall(`{"command":"ls"}`))
	asked := 0
	ev.CheckArgs = func(args RawMessage) error {
		asked++
		if jsonspan.Kind(jsonspan.Get(args, "command")) != '"' {
			return fmt.Errorf("command must be a string")
		}
		return nil
	}
	if _, _, err := apply(t, ev, `{"changes":{"args":{"command":42}}}`); err == nil || !strings.Contains(err.Error(), "/args: command must be a string") { // H48
		t.Errorf("args that do not fit: %v", err)
	}
	if _, _, err := apply(t, ev, `{"changes":{"args":{"command":null}}}`); err == nil {
		t.Error("a required member was removed")
	}
	if _, _, err := apply(t, ev, `{"changes":{"args":{"command":"ls -l"}}}`); err != nil || asked != 3 {
		t.Errorf("args that fit: %v, asked %d times", err, asked)
	}
}

func TestApplyHoldsTheLimits(t *testing.T) {
	ev := mustDecode(t, toolCall(`{"a":"`+strings.Repeat("x", 1000)+`"}`))
	r := Reply{Action: Modify, Patch: RawMessage(`[{"op":"copy","from":"/args","path":"/args/b"},{"op":"copy","from":"/args","path":"/args/c"},{"op":"copy","from":"/args","path":"/args/d"}]`)}
	if _, _, err := Apply(ev, HookInfo{Class: CanModify}, r, DecodeLimits{Size: 4000}); err == nil {
		t.Error("a patch that doubles thrice passes a limit of 4000 bytes")
	}
	r = Reply{Action: Modify, Changes: RawMessage(`{"args":{"b":` + strings.Repeat("[", 20) + strings.Repeat("]", 20) + `}}`)}
	if _, _, err := Apply(ev, HookInfo{Class: CanModify}, r, DecodeLimits{Depth: 20}); err == nil {
		t.Error("a change passes a limit of 20 levels")
	}
}
