package agentloop

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/hookd-dev/hookd/protocol"
)

func TestMendArgs(t *testing.T) {
	for args, want := range map[string]string{
		``: `{}`,
		`{"id":9007199254740993,"x":1.10,"e":1e400,"n":-0}`: `{"id":9007199254740993,"x":1.10,"e":1e400,"n":-0}`, // H28
		`{"a":"\ud99c"}`:   "{\"a\":\"\uFFFD\"}", // H29
		"{\"a\":\"\xff\"}": "{\"a\":\"\uFFFD\"}",
		`{"a":1,"a":2}`:    `{"invalid":"{\"a\":1,\"a\":2}"}`,
		`{"a":NaN}`:        `{"invalid":"{\"a\":NaN}"}`, // H50
		`{"comm`:           `{"invalid":"{\"comm"}`,
		`[1]`:              `{"invalid":"[1]"}`,
		`{} {}`:            `{"invalid":"{} {}"}`,
	} {
		part := protocol.Part{Type: protocol.PartToolCall, Args: jsontext.Value(args)}
		err := mendArgs(&part)
		if string(part.Args) != want {
			t.Errorf("%s became %s, want %s", args, part.Args, want)
		}
		if bad := len(want) > 10 && want[:10] == `{"invalid"`; bad != (err != nil) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func FuzzMendArgs(f *testing.F) {
	f.Add([]byte(`{"a":"\ud99c","b":1e400}`))
	f.Fuzz(func(t *testing.T, args []byte) {
		part := protocol.Part{Type: protocol.PartToolCall, Args: args}
		mendArgs(&part)
		if part.Args.Kind() != '{' || !part.Args.IsValid() {
			t.Errorf("%q became %q", args, part.Args)
		}
	})
}
