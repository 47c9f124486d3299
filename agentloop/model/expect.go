package model

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
)

// expectation is one thing that a request must hold. In names the place; the
// other members judge its text.
type expectation struct {
	In       string  `yaml:"in"`       // system, messages, lastMessage, tools, model, params, roles, toolResult:ID
	Contains string  `yaml:"contains"` // the text holds this
	Lacks    string  `yaml:"lacks"`    // the text does not hold this
	Equals   *string `yaml:"equals"`   // the text is this
	Matches  string  `yaml:"matches"`  // RE2, found anywhere in the text

	pattern *regexp.Regexp
}

func (e *expectation) check() (err error) {
	if _, known := e.place(Request{}); !known {
		return fmt.Errorf("expect: %q is not one of system, messages, lastMessage, tools, model, params, roles, toolResult:ID", e.In)
	}
	if e.Contains == "" && e.Lacks == "" && e.Equals == nil && e.Matches == "" {
		return fmt.Errorf("expect: %s: one of contains, lacks, equals, matches is needed", e.In)
	}
	if e.Matches != "" {
		if e.pattern, err = regexp.Compile(e.Matches); err != nil {
			return fmt.Errorf("expect: %s: %w", e.In, err)
		}
	}
	return nil
}

// place returns the text that an expectation judges.
func (e *expectation) place(r Request) (text string, known bool) {
	if id, ok := strings.CutPrefix(e.In, "toolResult:"); ok {
		return toolResult(r.Messages, id), true
	}
	switch e.In {
	case "system":
		return r.System, true
	case "model":
		return r.Model, true
	case "params":
		return paramsText(r.Params), true
	case "messages":
		return each(r.Messages, messageText), true
	case "lastMessage":
		if len(r.Messages) == 0 {
			return "", true
		}
		return messageText(r.Messages[len(r.Messages)-1]), true
	case "roles":
		return each(r.Messages, func(m protocol.Message) string { return string(m.Role) }), true
	case "tools":
		return each(r.Tools, func(t protocol.Tool) string { return t.Name }), true
	}
	return "", false
}

func each[T any](list []T, text func(T) string) string {
	lines := make([]string, len(list))
	for i, item := range list {
		lines[i] = text(item)
	}
	return strings.Join(lines, "\n")
}

// messageText is all text of a message, tool calls and results included.
func messageText(m protocol.Message) string {
	return each(m.Content, func(p protocol.Part) string {
		switch p.Type {
		case protocol.PartToolCall:
			return p.Name + " " + string(p.Args)
		case protocol.PartToolResult:
			return p.Content.Text()
		default:
			return p.Text
		}
	})
}

func toolResult(messages []protocol.Message, id string) string {
	for _, m := range messages {
		for _, p := range m.Content {
			if p.Type == protocol.PartToolResult && p.ToolCallID == id {
				return p.Content.Text()
			}
		}
	}
	return ""
}
