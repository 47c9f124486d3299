package rpc_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol/rpc"
)

func TestParse(t *testing.T) {
	type message struct{ ID, Method, Params, Result, Invalid string }
	const v = `"jsonrpc":"2.0",`
	tests := []struct {
		name, line string
		want       message
		failed     string
	}{
		{"request", `{` + v + `"id":1,"method":"m","params":{"a": 1.10}}`, message{ID: "1", Method: "m", Params: `{"a": 1.10}`}, ""},
		{"any order, unknown members", `{"x":[1],"params":[],"method":"m","id":"a",` + v + `"y":0}`, message{ID: `"a"`, Method: "m", Params: "[]"}, ""},
		{"notification", `{` + v + `"method":"m"}`, message{Method: "m"}, ""},
		{"big number as id", `{` + v + `"id":123456789012345678901234567890,"method":"m"}`, message{ID: "123456789012345678901234567890", Method: "m"}, ""},
		{"odd number as id", `{` + v + `"id":-1.50e3,"method":"m"}`, message{ID: "-1.50e3", Method: "m"}, ""},
		{"empty string as id", `{` + v + `"id":"","method":"m"}`, message{ID: `""`, Method: "m"}, ""},
		{"null as id", `{` + v + `"id":null,"method":"m"}`, message{Method: "m", Invalid: "id must be a string or a number"}, ""},
		{"true as id", `{` + v + `"id":true,"method":"m"}`, message{Method: "m", Invalid: "id must be a string or a number"}, ""},
		{"object as id", `{` + v + `"id":{},"method":"m"}`, message{Method: "m", Invalid: "id must be a string or a number"}, ""},
		{"lone surrogate as id", `{` + v + `"id":"\ud800","method":"m"}`, message{Method: "m", Invalid: "id must be a string or a number"}, ""},
		{"lone surrogate in params passes", `{` + v + `"id":1,"method":"m","params":["\ud800"]}`, message{ID: "1", Method: "m", Params: `["\ud800"]`}, ""},
		{"repeated names in params pass", `{` + v + `"id":1,"method":"m","params":{"a":1,"a":2}}`, message{ID: "1", Method: "m", Params: `{"a":1,"a":2}`}, ""},
		{"repeated method", `{` + v + `"id":1,"method":"m","method":"n"}`, message{ID: "1", Method: "n", Invalid: `member "method" is repeated`}, ""},
		{"no version", `{"id":1,"method":"m"}`, message{ID: "1", Method: "m", Invalid: `jsonrpc must be "2.0"`}, ""},
		{"number as version", `{"jsonrpc":2.0,"id":1,"method":"m"}`, message{ID: "1", Method: "m", Invalid: `jsonrpc must be "2.0"`}, ""},
		{"no method", `{` + v + `"id":1}`, message{ID: "1", Invalid: "method is missing"}, ""},
		{"number as method", `{` + v + `"id":1,"method":5}`, message{ID: "1", Invalid: "method must be a string that is not empty"}, ""},
		{"other case is another member", `{` + v + `"id":1,"Method":"m"}`, message{ID: "1", Invalid: "method is missing"}, ""},
		{"string as params", `{` + v + `"id":1,"method":"m","params":"p"}`, message{ID: "1", Method: "m", Params: `"p"`, Invalid: "params must be an object or an array"}, ""},
		{"answer", `{` + v + `"id":1,"result":null}`, message{ID: "1", Result: "null"}, ""},
		{"answer that is a request too", `{` + v + `"id":1,"result":1,"method":"m"}`, message{ID: "1", Method: "m", Result: "1", Invalid: "a message is a request or a response, not both"}, ""},
		{"not an object", `42`, message{Invalid: "a message must be an object"}, ""},
		{"batch", `[{` + v + `"id":1,"method":"m"},{` + v + `"id":2,"method":"m"}]`, message{}, "batches are not taken: send one message a line (-32600)"},
		{"empty batch", ` []`, message{}, "batches are not taken: send one message a line (-32600)"},
		{"rubbish", `hello`, message{}, "invalid JSON at byte 0: invalid character 'h' at start of value (-32700)"},
		{"half an object", `{` + v + `"id":1,"meth`, message{}, "invalid JSON at byte 29: unexpected EOF (-32700)"},
		{"half a batch", `[{` + v + `"id":1,"method":"m"}`, message{}, "invalid JSON at byte 38: unexpected EOF (-32700)"},
		{"two messages", `{` + v + `"id":1,"method":"m"} {}`, message{}, "invalid JSON at byte 39: more than one message on the line (-32700)"},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", message{}, "invalid JSON at byte 34: invalid UTF-8 (-32700)"},
		{"NaN", `{` + v + `"id":1,"method":"m","params":[NaN]}`, message{}, "invalid JSON at byte 47: invalid character 'N' at start of value (-32700)"},
		{"too deep for anyone", `{` + v + `"id":1,"params":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, message{},
			"invalid JSON at byte 10032: exceeded max depth (-32700)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, failure := rpc.Parse([]byte(tt.line))
			if tt.failed != "" {
				if failure == nil || failure.Error() != tt.failed {
					t.Errorf("failed with %v, want %s", failure, tt.failed)
				}
				return
			}
			if failure != nil {
				t.Fatal(failure)
			}
			got := message{ID: string(m.ID), Method: m.Method, Params: string(m.Params), Result: string(m.Result)}
			if m.Invalid != nil {
				got.Invalid = m.Invalid.Message
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestKey(t *testing.T) {
	key := func(id string) string { m := rpc.Message{ID: json.RawMessage(id)}; return m.Key() }
	if key(`"a"`) != key(`"\u0061"`) {
		t.Error("the same string, escaped otherwise, is another id")
	}
	seen := map[string]string{}
	for _, id := range []string{`1`, `"1"`, `""`, `1.0`, ``, `"\"1"`} {
		if other, ok := seen[key(id)]; ok {
			t.Errorf("%s and %s are the same id", id, other)
		}
		seen[key(id)] = id
	}
}

// What is written is read back, with the bytes of raw values as they were.
func TestAppend(t *testing.T) {
	failure := rpc.Errorf(rpc.InvalidParams, "bad \xff <%s>", "x").With("path", "/a~1b").With("n", 1)
	tests := []struct {
		name, got, want string
	}{
		{"request", string(rpc.AppendRequest(nil, json.RawMessage(`"<é>"`), "a/b", json.RawMessage(`{"n":1.10,"h":"<&>"}`))),
			`{"jsonrpc":"2.0","id":"<é>","method":"a/b","params":{"n":1.10,"h":"<&>"}}`},
		{"notification", string(rpc.AppendRequest(nil, nil, "a\"b", nil)), `{"jsonrpc":"2.0","method":"a\"b"}`},
		{"result", string(rpc.AppendResult(nil, json.RawMessage("1"), json.RawMessage(`[1e400]`))), `{"jsonrpc":"2.0","id":1,"result":[1e400]}`},
		{"error", string(rpc.AppendError(nil, nil, failure)),
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"bad ` + "\ufffd" + ` <x>","data":{"n":1,"path":"/a~1b"}}}`},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, tt.got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
		if m, err := rpc.Parse([]byte(tt.got)); err != nil || m.Invalid != nil {
			t.Errorf("%s: not read back: %v %v", tt.name, err, m)
		}
	}
	if failure.Path() != "/a~1b" {
		t.Errorf("path %q", failure.Path())
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,"\ud800"]}}`))
	f.Add([]byte(`[{"jsonrpc":"2.0","id":"x","result":1},{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}},3]`))
	f.Fuzz(func(t *testing.T, line []byte) {
		kept := bytes.Clone(line)
		m, failure := rpc.Parse(line)
		if !bytes.Equal(kept, line) {
			t.Fatal("the line was changed")
		}
		if failure != nil {
			answer := rpc.AppendError(nil, nil, failure)
			if m, err := rpc.Parse(answer); err != nil || m.Invalid != nil {
				t.Fatalf("the answer %s cannot be read: %v", answer, err)
			}
			return
		}
		if m.Invalid != nil || m.ID == nil {
			return
		}
		// Whatever can be asked can be answered, and the answer finds back.
		answer := rpc.AppendResult(nil, m.ID, json.RawMessage("null"))
		back, err := rpc.Parse(answer)
		if err != nil || back.Invalid != nil || back.Key() != m.Key() {
			t.Fatalf("the answer %q cannot be read: %v %v", answer, err, back)
		}
	})
}
