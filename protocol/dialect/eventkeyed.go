package dialect

import (
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// crush is Crush. It fires one event, for tools of its top agent.
var crush = &Agent{
	Name: "crush", Title: "Crush", Tier: FromDocuments, mergesArgs: true,
	Rows: []Row{
		{"PreToolUse", protocol.ToolCallStart, Can{Block: carried, Change: translated("changed args are merged into the old ones: none can be taken away"), Context: carried, Stop: carried}, 30 * time.Second, true},
	},
	write: func(c *Call, v *Verdict) Answer {
		top := object{}
		switch {
		case v.Stop:
			top = append(top, member{"decision", "deny"}, member{"halt", true}, member{"reason", v.Reason})
		case v.Refuse:
			top = append(top, member{"decision", "deny"}, member{"reason", v.Reason})
		}
		top = append(top, member{"context", v.Context}, member{"updated_input", v.Changed})
		return Answer{Stdout: top.line()}
	},
}

// goose is Goose. Anything on stdout but a decision is a failure of the hook there.
var goose = &Agent{
	Name: "goose", Title: "Goose", Tier: FromDocuments,
	Rows: []Row{
		{"PreToolUse", protocol.ToolCallStart, Can{Block: carried}, 30 * time.Second, true},
		{"PostToolUse", protocol.ToolCallEnd, Can{}, 30 * time.Second, true},
		{"PostToolUseFailure", protocol.ToolCallError, Can{}, 30 * time.Second, true},
		{"UserPromptSubmit", protocol.PromptSubmit, Can{}, 30 * time.Second, true},
		{"SessionStart", protocol.SessionStart, Can{}, 30 * time.Second, true},
		{"SessionEnd", protocol.SessionEnd, Can{}, 30 * time.Second, true},
		{"Stop", protocol.AgentStop, Can{}, 30 * time.Second, true},
	},
	write: func(c *Call, v *Verdict) Answer {
		if !v.Refuse {
			return Answer{}
		}
		return Answer{Stdout: object{{"decision", "block"}, {"reason", v.Reason}}.line()}
	},
}

// openhands is the OpenHands SDK.
var openhands = &Agent{
	Name: "openhands", Title: "OpenHands", Tier: FromDocuments,
	Rows: []Row{
		{"PreToolUse", protocol.ToolCallStart, Can{Block: carried, Context: carried, Stop: translated("the call is refused, and the run ends")}, 60 * time.Second, true},
		{"PostToolUse", protocol.ToolCallEnd, Can{Context: carried}, 60 * time.Second, true},
		{"UserPromptSubmit", protocol.PromptSubmit, Can{Block: carried, Context: carried, Stop: translated("the prompt is refused")}, 60 * time.Second, true},
		{"SessionStart", protocol.SessionStart, Can{}, 60 * time.Second, true},
		{"SessionEnd", protocol.SessionEnd, Can{}, 60 * time.Second, true},
		{"Stop", protocol.AgentStop, Can{Continue: carried}, 60 * time.Second, true},
	},
	write: func(c *Call, v *Verdict) Answer {
		top := object{}
		if v.Refuse || v.Continue {
			top = append(top, member{"decision", "deny"}, member{"reason", v.Reason})
		}
		if v.Stop {
			top = append(top, member{"continue", no{}})
		}
		a := Answer{Stdout: append(top, member{"additionalContext", v.Context}).line()}
		if v.Refuse || v.Continue {
			a.Exit, a.Stderr = 2, v.Reason
		}
		return a
	},
}

// hermes is Hermes Agent. Changed args are merged there.
var hermes = &Agent{
	Name: "hermes", Title: "Hermes Agent", Tier: FromDocuments, mergesArgs: true,
	Rows: []Row{
		{"pre_tool_call", protocol.ToolCallStart, Can{Block: carried, Change: translated("changed args are merged into the old ones: none can be taken away")}, 60 * time.Second, true},
		{"post_tool_call", protocol.ToolCallEnd, Can{Context: carried}, 60 * time.Second, true},
		{"pre_llm_call", protocol.PromptSubmit, Can{Context: carried}, 60 * time.Second, true},
		{"pre_verify", protocol.AgentStop, Can{Continue: carried}, 60 * time.Second, true},
		{"on_session_start", protocol.SessionStart, Can{}, 60 * time.Second, true},
		{"on_session_end", protocol.SessionEnd, Can{}, 60 * time.Second, true},
		{"subagent_start", protocol.SubagentStart, Can{}, 60 * time.Second, true},
		{"subagent_stop", protocol.SubagentStop, Can{}, 60 * time.Second, true},
	},
	write: func(c *Call, v *Verdict) Answer {
		top := object{}
		switch {
		case v.Refuse:
			top = append(top, member{"action", "block"}, member{"message", v.Reason})
		case v.Continue:
			top = append(top, member{"action", "continue"}, member{"message", v.Reason})
		case v.Changed != nil:
			top = append(top, member{"action", "modify"}, member{"args", v.Changed})
		default:
			top = append(top, member{"context", v.Context})
		}
		return Answer{Stdout: top.line()}
	},
}

func init() {
	crush.read = readClaudeFamily(crush)
	goose.read = lenientPrompt(readClaudeFamily(goose), "message")
	openhands.read = lenientPrompt(readClaudeFamily(openhands), "message")
	hermes.read = lenientPrompt(readClaudeFamily(hermes), "/extra/user_message")
}

// lenientPrompt reads the prompt where an agent has it under another name.
func lenientPrompt(read func(in *input, row *Row) (reading, error), where string) func(in *input, row *Row) (reading, error) {
	return func(in *input, row *Row) (reading, error) {
		if row.Event == protocol.PromptSubmit && in.at("prompt") == nil {
			in = &input{object: set(in.object, "prompt", jsonspan.Quote(in.text(where)))}
		}
		return read(in, row)
	}
}
