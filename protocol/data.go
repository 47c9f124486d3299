package protocol

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Message is one entry of a conversation.
type Message struct {
	ID      string  `json:"id,omitzero"`
	Role    Role    `json:"role"`
	Content Content `json:"content"`

	Unknown jsontext.Value `json:",embed"` // passed on
}

// Role is who speaks. Hooks may write user and assistant messages.
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Content is a list of parts; in JSON a plain string stands for one text part.
type Content []Part

// PartType says which members of a [Part] are set.
type PartType string

const (
	PartText       PartType = "text"       // Text
	PartThinking   PartType = "thinking"   // Text
	PartImage      PartType = "image"      // MediaType, Data (base64)
	PartToolCall   PartType = "toolCall"   // ToolCallID, Name, Args
	PartToolResult PartType = "toolResult" // ToolCallID, Content, IsError
	PartOpaque     PartType = "opaque"     // Provider, Data: passed through, not to be changed
)

// Part is one piece of a message's content.
type Part struct {
	Type       PartType   `json:"type"`
	Text       string     `json:"text,omitzero"`
	MediaType  string     `json:"mediaType,omitzero"`
	Provider   string     `json:"provider,omitzero"`
	Data       RawMessage `json:"data,omitzero"`
	ToolCallID string     `json:"toolCallId,omitzero"`
	Name       string     `json:"name,omitzero"`
	Args       RawMessage `json:"args,omitzero"`
	Content    Content    `json:"content,omitzero"`
	IsError    bool       `json:"isError,omitzero"`

	// Hook and Layer name the hook that wrote the part, where one did: context
	// that became part of a conversation. A hook of a lower layer may neither
	// change nor remove it.
	Hook  string `json:"hook,omitzero"`
	Layer Layer  `json:"layer,omitzero"`

	Unknown jsontext.Value `json:",embed"` // passed on
}

// Tool is a tool the model may call.
type Tool struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Schema      RawMessage `json:"schema" jsonschema:"JSON Schema of the args"`
}

// ToolKind is what a tool does to the world.
type ToolKind string

const (
	KindShell ToolKind = "shell"
	KindRead  ToolKind = "read"
	KindWrite ToolKind = "write"
	KindNet   ToolKind = "net"
	KindMCP   ToolKind = "mcp"
	KindAgent ToolKind = "agent"
	KindOther ToolKind = "other"
)

// Call is one tool call.
type Call struct {
	ToolCallID string     `json:"toolCallId"`
	Name       string     `json:"name"`
	Kind       ToolKind   `json:"kind"`
	Args       RawMessage `json:"args"`
	Server     string     `json:"server,omitzero" jsonschema:"of an MCP tool"`
	HostTool   string     `json:"hostTool,omitzero" jsonschema:"the tool's name as the calling agent writes it, where hookd has another for it"`
	MayBe      []ToolKind `json:"mayBe,omitzero" jsonschema:"the kinds that the tool may be of, by its name and the members of its args, where its name proves none; match.tool takes it for each of them"`
	Source     string     `json:"source,omitzero" jsonschema:"user: a person made the call; left out: the model"`
	Touched

	// Original are the model's own args, nil where they are Args, and after a sensitive
	// hook changed them.
	Original RawMessage `json:"original,omitzero" jsonschema:"the model's own args, where hooks changed them; left out after a sensitive hook did"`
}

// Result is what a tool returned.
type Result struct {
	Content  Content `json:"content"`
	IsError  bool    `json:"isError"`
	ExitCode *int    `json:"exitCode,omitzero"`

	Left []string `json:"left,omitzero" jsonschema:"names of the processes that a command left running, which were ended"`
}

// CallError is why a tool call has no result.
type CallError struct {
	Kind CallErrorKind `json:"kind"`
	Text string        `json:"text" jsonschema:"what the model reads"`
}

// CallErrorKind classifies a [CallError].
type CallErrorKind string

const (
	CallFailed      CallErrorKind = "failed"
	CallBlocked     CallErrorKind = "blocked"
	CallDenied      CallErrorKind = "denied"
	CallTimeout     CallErrorKind = "timeout"
	CallAborted     CallErrorKind = "aborted"
	CallBadArgs     CallErrorKind = "badArgs"
	CallUnknownTool CallErrorKind = "unknownTool"
)

// CallUsage is what one model call used. Unknown figures are null.
type CallUsage struct {
	InputTokens   *int64   `json:"inputTokens"`
	OutputTokens  *int64   `json:"outputTokens"`
	CachedTokens  *int64   `json:"cachedTokens,omitzero"`
	ContextTokens *int64   `json:"contextTokens"`
	ContextMax    *int64   `json:"contextMax"`
	CostUSD       *float64 `json:"costUsd"`
}

// Params are a model call's parameters. Members that this version does not know
// are the provider's own and pass through.
type Params struct {
	MaxTokens   *int64         `json:"maxTokens,omitzero"`
	Temperature *float64       `json:"temperature,omitzero"`
	TopP        *float64       `json:"topP,omitzero"`
	Stop        []string       `json:"stop,omitzero"`
	ToolChoice  RawMessage     `json:"toolChoice,omitzero"`
	Thinking    RawMessage     `json:"thinking,omitzero"`
	Provider    jsontext.Value `json:",embed"`
}

// Response replaces a model call at inference-start.
type Response struct {
	Message      Message `json:"message"`
	FinishReason string  `json:"finishReason,omitzero" jsonschema:"one of: stop tools length filtered error"`
}

// The data of each event. A member that may be absent is omitted when zero; one
// that may be unknown is a pointer and null then.

type SessionStartData struct {
	Source string   `json:"source" jsonschema:"one of: startup resume fork"`
	Model  string   `json:"model,omitzero"`
	Tools  []string `json:"tools,omitzero" jsonschema:"names of the tools that the model will be offered; absent where the host does not say"`
}

type SessionEndData struct {
	Reason string `json:"reason" jsonschema:"one of: exit interrupted closed error"`
}

type PromptSubmitData struct {
	Prompt      string `json:"prompt"`
	Source      string `json:"source" jsonschema:"one of: user follow-up recipe hook sub-agent"`
	Attachments []Part `json:"attachments"`
}

type AgentStartData struct {
	Prompt   string    `json:"prompt"`
	System   string    `json:"system"`
	Messages []Message `json:"messages"`
	Tools    []Tool    `json:"tools"`
	Model    string    `json:"model"`
}

type StepStartData struct {
	Messages  []Message `json:"messages"`
	StepsLeft *int      `json:"stepsLeft"`
}

type InferenceStartData struct {
	Model    string    `json:"model"`
	System   string    `json:"system"`
	Messages []Message `json:"messages"`
	Tools    []Tool    `json:"tools"`
	Params   Params    `json:"params"`
	Attempt  int       `json:"attempt" jsonschema:"1 = first try"`
}

type InferenceEndData struct {
	Message      Message   `json:"message"`
	FinishReason string    `json:"finishReason" jsonschema:"one of: stop tools length filtered error"`
	Usage        CallUsage `json:"usage" jsonschema:"of this call"`
	Type         string    `json:"type" jsonschema:"one of: final tools"`
	DurationMs   float64   `json:"durationMs"`
	Synthetic    bool      `json:"synthetic" jsonschema:"a hook answered in the model's place"`
}

type ToolCallStartData struct {
	Call
	Parallel int `json:"parallel" jsonschema:"calls in this step"`
}

type PermissionRequestData struct {
	Call
	AskedBy      string             `json:"askedBy" jsonschema:"one of: policy tool hook:NAME"`
	AskedByLayer Layer              `json:"askedByLayer,omitzero" jsonschema:"of a hook that asks: hooks of one name in different layers are different hooks"`
	Text         string             `json:"text,omitzero"`
	Options      []PermissionOption `json:"options"`
}

// PermissionOption is one answer a person may give.
type PermissionOption struct {
	OptionID string `json:"optionId"`
	Name     string `json:"name"`
	Kind     string `json:"kind" jsonschema:"one of: allow-once allow-always reject-once reject-always"`
}

type ToolCallEndData struct {
	Call
	Result     Result  `json:"result"`
	DurationMs float64 `json:"durationMs"`
	Synthetic  bool    `json:"synthetic" jsonschema:"a hook answered in the tool's place"`
}

type ToolCallErrorData struct {
	Call
	Error      CallError `json:"error"`
	BlockedBy  *string   `json:"blockedBy"`
	DurationMs float64   `json:"durationMs"`
}

type StepStopData struct {
	Messages   []Message  `json:"messages"`
	Type       string     `json:"type" jsonschema:"one of: final tools"`
	Calls      []StepCall `json:"calls"`
	DurationMs float64    `json:"durationMs"`
}

// StepCall is a tool call of a finished step.
type StepCall struct {
	Call
	Outcome string `json:"outcome" jsonschema:"one of: ok error blocked"`
}

type AgentStopData struct {
	Reason         string    `json:"reason" jsonschema:"one of: done length"`
	Response       string    `json:"response"`
	Messages       []Message `json:"messages"`
	Continued      int       `json:"continued" jsonschema:"forced continuations in a row"`
	ContinuedTotal int       `json:"continuedTotal" jsonschema:"since the prompt"`
}

type AgentEndData struct {
	Response   string  `json:"response"`
	StopReason string  `json:"stopReason" jsonschema:"one of: done length steps tokens time budget hook aborted"`
	DurationMs float64 `json:"durationMs"`
	Continued  int     `json:"continued"`
}

type AgentErrorData struct {
	Message string  `json:"message"`
	Cause   string  `json:"cause" jsonschema:"one of: blocked failure model tool limit internal"`
	By      *string `json:"by"`
}

type CompactStartData struct {
	Trigger      string   `json:"trigger" jsonschema:"one of: threshold manual hook"`
	Recipe       string   `json:"recipe"`
	Instructions string   `json:"instructions"`
	Before       Measures `json:"before"`
}

type CompactEndData struct {
	Trigger string   `json:"trigger"`
	Recipe  string   `json:"recipe"`
	Before  Measures `json:"before"`
	After   Measures `json:"after"`
	Summary string   `json:"summary"`
}

// Measures is the size of a conversation.
type Measures struct {
	Messages int    `json:"messages"`
	Tokens   *int64 `json:"tokens"`
}

type SubagentStartData struct {
	AgentID    string   `json:"agentId" jsonschema:"the child's"`
	Name       string   `json:"name,omitzero"`
	Prompt     string   `json:"prompt"`
	Tools      []string `json:"tools"`
	ToolCallID string   `json:"toolCallId"`
}

type SubagentStopData struct {
	AgentID    string    `json:"agentId"`
	Response   string    `json:"response"`
	StopReason string    `json:"stopReason" jsonschema:"as of agent-end, or error"`
	Continued  int       `json:"continued" jsonschema:"forced continuations of the sub-agent"`
	Usage      CallUsage `json:"usage"`
	ToolCallID string    `json:"toolCallId"`
}

type DeltaStartData struct {
	Role      string `json:"role" jsonschema:"assistant"`
	MessageID string `json:"messageId"`
}

type DeltaEndData struct {
	Role      string `json:"role" jsonschema:"assistant"`
	MessageID string `json:"messageId"`
	Content   string `json:"content"`
}

type NotificationData struct {
	Kind  string `json:"kind" jsonschema:"one of: permission idle error hook info"`
	Title string `json:"title,omitzero"`
	Text  string `json:"text"`
}

// UnmarshalJSONFrom reads a list of parts, or a string as one text part.
func (c *Content) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		var text string
		if err := json.UnmarshalDecode(dec, &text); err != nil {
			return err
		}
		*c = Content{{Type: PartText, Text: text}}
		return nil
	}
	var parts []Part
	if err := json.UnmarshalDecode(dec, &parts); err != nil {
		return err
	}
	*c = parts
	return nil
}

// TextContent is a content of one text part.
func TextContent(text string) Content { return Content{{Type: PartText, Text: text}} }

// Text joins the text parts of a content with newlines.
func (c Content) Text() string {
	text := ""
	for _, p := range c {
		if p.Type != PartText {
			continue
		}
		if text != "" {
			text += "\n"
		}
		text += p.Text
	}
	return text
}

// Touched is the file or folder that a call of a file tool reads or changes: what its
// path leads to, whatever that is called in args. Of another agent's call it may be
// several. The host finds it out, and does so again after a hook has changed args. No hook
// can change it.
type Touched struct {
	RealPath   string   `json:"realPath,omitzero" jsonschema:"file tools: absolute, all links followed; may not exist yet; of list_dir and grep where they begin"`
	Links      int      `json:"links,omitzero" jsonschema:"names (hard links) of the file, where it has more than one"`
	RealPaths  []string `json:"realPaths,omitzero" jsonschema:"the same of a call that names several files (args.paths), or one by a path that leads to two (a link stands before ..), in place of realPath"`
	OtherPaths []string `json:"otherPaths,omitzero" jsonschema:"those other names that lie in the project, as far as a bounded search found them"`
}
