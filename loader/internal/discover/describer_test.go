package discover

import (
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

func FuzzAnswer(f *testing.F) {
	f.Add(`{"events":["agent-stop"],"can":"block"}`)
	f.Add("before_tool_call\n")
	f.Add("\ufeff{}")
	f.Fuzz(func(t *testing.T, text string) {
		d, _, why := rawAnswer{Stdout: text}.describe("/x/hook", "hook")
		if why == "" && len(d.Faults) == 0 {
			if r, _ := schema.Resolve(schema.Defaults{Layer: protocol.User, Name: "hook"}, d); r.Hook.Can == "" {
				t.Error("an accepted answer without a class")
			}
		}
	})
}
