package eventcmd

import (
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// sampleCalls are tool calls by the tool's kind, for hooks that match one.
var sampleCalls = map[string]string{
	"bash":              `"toolCallId":"call-1","name":"bash","kind":"shell","args":{"command":"ls -la"}`,
	"read_file":         `"toolCallId":"call-1","name":"read_file","kind":"read","args":{"path":"README.md"}`,
	"write_file":        `"toolCallId":"call-1","name":"write_file","kind":"write","args":{"path":"notes.md","content":"hello\n"}`,
	"edit_file":         `"toolCallId":"call-1","name":"edit_file","kind":"write","args":{"path":"README.md","oldText":"a","newText":"b"}`,
	"list_dir":          `"toolCallId":"call-1","name":"list_dir","kind":"read","args":{"path":"."}`,
	"grep":              `"toolCallId":"call-1","name":"grep","kind":"read","args":{"pattern":"release","path":"."}`,
	"fetch":             `"toolCallId":"call-1","name":"fetch","kind":"net","args":{"url":"https://example.org/"}`,
	"mcp":               `"toolCallId":"call-1","name":"mcp__demo__search","kind":"mcp","args":{"query":"hello"},"server":"demo"`,
	"read_mcp_resource": `"toolCallId":"call-1","name":"read_mcp_resource","kind":"mcp","args":{"server":"demo","uri":"file:///README.md"},"server":"demo"`,
	"get_mcp_prompt":    `"toolCallId":"call-1","name":"get_mcp_prompt","kind":"mcp","args":{"server":"demo","name":"review","arguments":{"file":"README.md"}},"server":"demo"`,
	"agent":             `"toolCallId":"call-1","name":"agent","kind":"agent","args":{"prompt":"look around"}`,
}

// sampleOrder is the order in which samples are looked through for a hook whose matcher is in
// another agent's names.
var sampleOrder = []string{"bash", "write_file", "edit_file", "read_file", "grep", "list_dir", "fetch", "mcp", "read_mcp_resource", "get_mcp_prompt", "agent"}

var kindSamples = map[string]string{
	"@shell": "bash", "@read": "read_file", "@write": "write_file", "@net": "fetch", "@mcp": "mcp", "@agent": "agent",
}

const (
	sampleMessages = `[{"role":"user","content":"List the files."},{"role":"assistant","content":[{"type":"toolCall","toolCallId":"call-1","name":"bash","args":{"command":"ls -la"}}]},{"role":"tool","content":[{"type":"toolResult","toolCallId":"call-1","content":[{"type":"text","text":"README.md"}],"isError":false}]}]`
	sampleTools    = `[{"name":"bash","description":"Run a shell command.","schema":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}]`
	sampleAnswer   = `{"role":"assistant","content":"There is one file, README.md."}`
	sampleUsage    = `{"inputTokens":120,"outputTokens":18,"contextTokens":null,"contextMax":null,"costUsd":null}`
	sampleResult   = `{"content":[{"type":"text","text":"README.md\n"}],"isError":false,"exitCode":0}`
)

// samples are the data of an event each, for `hookd try` and for `hookd fire`
// without --data. CALL stands for the members of a tool call.
var samples = map[protocol.EventName]string{
	protocol.SessionStart:      `{"source":"startup","model":"sample","tools":["read_file","bash"]}`,
	protocol.SessionEnd:        `{"reason":"exit"}`,
	protocol.PromptSubmit:      `{"prompt":"List the files.","source":"user","attachments":[]}`,
	protocol.AgentStart:        `{"prompt":"List the files.","system":"You are a careful engineer.","messages":` + sampleMessages + `,"tools":` + sampleTools + `,"model":"sample"}`,
	protocol.StepStart:         `{"messages":` + sampleMessages + `,"stepsLeft":19}`,
	protocol.InferenceStart:    `{"model":"sample","system":"You are a careful engineer.","messages":` + sampleMessages + `,"tools":` + sampleTools + `,"params":{"maxTokens":1024},"attempt":1}`,
	protocol.InferenceEnd:      `{"message":` + sampleAnswer + `,"finishReason":"stop","usage":` + sampleUsage + `,"type":"final","durationMs":850,"synthetic":false}`,
	protocol.ToolCallStart:     `{CALL,"parallel":1}`,
	protocol.PermissionRequest: `{CALL,"askedBy":"policy","options":[{"optionId":"yes","name":"Allow once","kind":"allow-once"},{"optionId":"no","name":"Reject","kind":"reject-once"}]}`,
	protocol.ToolCallEnd:       `{CALL,"result":` + sampleResult + `,"durationMs":12,"synthetic":false}`,
	protocol.ToolCallError:     `{CALL,"error":{"kind":"failed","text":"no such file"},"blockedBy":null,"durationMs":12}`,
	protocol.StepStop:          `{"messages":` + sampleMessages + `,"type":"tools","calls":[{CALL,"outcome":"ok"}],"durationMs":900}`,
	protocol.AgentStop:         `{"reason":"done","response":"There is one file, README.md.","messages":` + sampleMessages + `,"continued":0,"continuedTotal":0}`,
	protocol.AgentEnd:          `{"response":"There is one file, README.md.","stopReason":"done","durationMs":1800,"continued":0}`,
	protocol.AgentError:        `{"message":"the model could not be reached","cause":"model","by":null}`,
	protocol.CompactStart:      `{"trigger":"threshold","recipe":"compact","instructions":"Keep what was decided.","before":{"messages":40,"tokens":90000}}`,
	protocol.CompactEnd:        `{"trigger":"threshold","recipe":"compact","before":{"messages":40,"tokens":90000},"after":{"messages":4,"tokens":9000},"summary":"One file was listed."}`,
	protocol.SubagentStart:     `{"agentId":"sub-1","prompt":"Look around.","tools":["bash"],"toolCallId":"call-1"}`,
	protocol.SubagentStop:      `{"agentId":"sub-1","response":"Nothing found.","stopReason":"done","continued":0,"usage":` + sampleUsage + `,"toolCallId":"call-1"}`,
	protocol.ThinkingStart:     `{"role":"assistant","messageId":"m-1"}`,
	protocol.ThinkingEnd:       `{"role":"assistant","messageId":"m-1","content":"I should list the files."}`,
	protocol.MessageStart:      `{"role":"assistant","messageId":"m-1"}`,
	protocol.MessageEnd:        `{"role":"assistant","messageId":"m-1","content":"There is one file, README.md."}`,
	protocol.Notification:      `{"kind":"info","title":"hookd","text":"hello"}`,
}

// sampleData returns a sample of an event's data that a hook with such a tool matcher
// would be asked about.
func sampleData(event protocol.EventName, tools []string) protocol.RawMessage {
	call := sampleCalls["bash"]
	for _, tool := range tools {
		if name, isKind := kindSamples[tool]; isKind {
			tool = name
		}
		if sample, known := sampleCalls[tool]; known {
			call = sample
			break
		}
		if !strings.ContainsAny(tool, `*?[]{}/@"\`) {
			call = strings.Replace(call, `"name":"bash","kind":"shell"`, `"name":"`+tool+`","kind":"other"`, 1)
			break
		}
	}
	return protocol.RawMessage(strings.ReplaceAll(samples[event], "CALL", call))
}

// sampleForRule changes a sample so that it is of a call which the rule is about: with a
// command and a path as its first patterns say. A regular expression has no sample.
func sampleForRule(data protocol.RawMessage, match *schema.Match) protocol.RawMessage {
	set := func(name string, patterns []string, instead string) {
		if len(patterns) == 0 || strings.HasPrefix(patterns[0], "/") && strings.HasSuffix(patterns[0], "/") {
			return
		}
		text := strings.NewReplacer("**/", "", "*", instead, "?", "x").Replace(patterns[0])
		args := jsonspan.With(jsonspan.Without(jsonspan.Get(data, "args"), name), name, jsonspan.Quote(text))
		data = jsonspan.With(jsonspan.Without(data, "args"), "args", args)
	}
	if len(match.Path) > 0 && len(match.Tool) == 0 {
		data = protocol.RawMessage(strings.Replace(string(data), sampleCalls["bash"], sampleCalls["write_file"], 1))
	}
	set("command", match.Command, "x")
	set("path", match.Path, "x")
	return data
}
