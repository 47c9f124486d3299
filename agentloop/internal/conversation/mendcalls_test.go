//go:build !concurrent

// These tests only compute: test/progress/goroutines.go says who runs them.

package conversation

import (
	"testing"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
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
		part := protocol.Part{Type: protocol.PartToolCall, Args: protocol.RawMessage(args)}
		err := mendArgs(&part)
		if string(part.Args) != want {
			t.Errorf("%s became %s, want %s", args, part.Args, want)
		}
		if bad := len(want) > 10 && want[:10] == `{"invalid"`; bad != (err != nil) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// A model may ask for very many calls, and give them all one id.
func TestMendManyCalls(t *testing.T) {
	const many = 100_000
	message := protocol.Message{Role: protocol.RoleAssistant}
	for range many {
		message.Content = append(message.Content, protocol.Part{Type: protocol.PartToolCall, Name: "x"})
	}
	began := time.Now()
	mendCalls(nil, &message)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
	ids := map[string]bool{}
	for _, part := range message.Content {
		ids[part.ToolCallID] = true
	}
	if len(ids) != many || !ids["call"] || !ids["call-2"] {
		t.Errorf("%d ids", len(ids))
	}
}

func FuzzMendArgs(f *testing.F) {
	f.Add([]byte(`{"a":"\ud99c","b":1e400}`))
	f.Fuzz(func(t *testing.T, args []byte) {
		part := protocol.Part{Type: protocol.PartToolCall, Args: args}
		mendArgs(&part)
		if jsonspan.Kind(part.Args) != '{' || !jsonspan.Valid(part.Args) {
			t.Errorf("%q became %q", args, part.Args)
		}
	})
}
