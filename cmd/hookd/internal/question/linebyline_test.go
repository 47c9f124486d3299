package question

import (
	"testing"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/protocol"
)

func TestTypedAnswers(t *testing.T) {
	q := agentloop.Question{Options: []protocol.PermissionOption{
		{OptionID: "o1", Kind: "allow-once"}, {OptionID: "o2", Kind: "allow-always"}, {OptionID: "o3", Kind: "reject-once"}, {OptionID: "o4", Kind: "reject-always"},
	}}
	for typed, want := range map[string]agentloop.Answer{
		"y": {OptionID: "o1"}, "yes": {OptionID: "o1"}, " a ": {OptionID: "o2"}, "n": {OptionID: "o3"}, "": {OptionID: "o3"},
		"n use make": {OptionID: "o3", Text: "use make"}, "no  why ": {OptionID: "o3", Text: "why"},
		"N not here": {OptionID: "o4", Text: "not here"}, "never": {OptionID: "o4"},
	} {
		if got, known := typedAnswer(&q, typed); got != want || !known {
			t.Errorf("%q: %+v, known %v, want %+v", typed, got, known, want)
		}
	}
	for _, typed := range []string{"yy", "y please", "nope", "ls", "1"} {
		if got, known := typedAnswer(&q, typed); known || got.OptionID != "o3" {
			t.Errorf("%q: %+v, known %v; it is no answer", typed, got, known)
		}
	}
}
