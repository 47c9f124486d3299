package report

import (
	"github.com/go-json-experiment/json"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// ArgsText shows all of a call's arguments, texts as they are.
func ArgsText(args protocol.RawMessage) string {
	var members map[string]protocol.RawMessage
	if json.Unmarshal(args, &members) != nil || len(members) != 1 {
		return show.Pretty(args)
	}
	for key, value := range members {
		var text string
		if json.Unmarshal(value, &text) == nil {
			return key + ": " + text
		}
	}
	return show.Pretty(args)
}

// ArgsLine shows a call's arguments: the one that says it all, else all.
func ArgsLine(args protocol.RawMessage) string {
	var members map[string]protocol.RawMessage
	if json.Unmarshal(args, &members) != nil {
		return show.Compact(args)
	}
	for _, key := range []string{"command", "path"} {
		var text string
		if json.Unmarshal(members[key], &text) == nil && text != "" {
			if len(members) > 1 && key == "path" {
				if pattern := members["pattern"]; len(pattern) > 0 {
					return text + " " + string(pattern)
				}
			}
			return text
		}
	}
	return show.Compact(args)
}
