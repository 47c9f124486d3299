package acp

import "github.com/hookd-dev/hookd/protocol"

// ToolKind is what a tool does, for the sign that a client shows.
type ToolKind string

const (
	KindRead    ToolKind = "read"
	KindEdit    ToolKind = "edit"
	KindSearch  ToolKind = "search"
	KindExecute ToolKind = "execute"
	KindThink   ToolKind = "think"
	KindFetch   ToolKind = "fetch"
	KindOther   ToolKind = "other"
)

// ToolStatus is how far a tool call is.
type ToolStatus string

const (
	ToolPending   ToolStatus = "pending"
	ToolRuns      ToolStatus = "in_progress"
	ToolCompleted ToolStatus = "completed"
	ToolFailed    ToolStatus = "failed"
)

// ToolCall is a tool call, or what of it has changed. As a part of a question it has no
// UpdateKind.
type ToolCall struct {
	UpdateKind UpdateKind          `json:"sessionUpdate,omitzero"` // tool_call tool_call_update
	ToolCallID string              `json:"toolCallId"`
	Title      string              `json:"title,omitzero"`
	Name       string              `json:"name,omitzero"`
	Kind       ToolKind            `json:"kind,omitzero"`
	Status     ToolStatus          `json:"status,omitzero"`
	Content    []ToolContent       `json:"content,omitzero"` // all of it, as it is now
	Locations  []Location          `json:"locations,omitzero"`
	RawInput   protocol.RawMessage `json:"rawInput,omitzero"`
	RawOutput  protocol.RawMessage `json:"rawOutput,omitzero"`
}

// Location is a file that a tool call is about.
type Location struct {
	Path string `json:"path"` // absolute
	Line int    `json:"line,omitzero"`
}

// ToolContent is one piece of what a client shows of a tool call: a block, a diff, or a terminal.
type ToolContent struct {
	Type       string        `json:"type"` // content diff terminal
	Content    *ContentBlock `json:"content,omitzero"`
	Path       string        `json:"path,omitzero"` // absolute
	OldText    *string       `json:"oldText,omitzero"`
	NewText    *string       `json:"newText,omitzero"`
	TerminalID string        `json:"terminalId,omitzero"`
}

// ToolText returns text as a piece of a tool call.
func ToolText(text string) ToolContent {
	block := Text(text)
	return ToolContent{Type: "content", Content: &block}
}

// ToolDiff returns a change of a file as a piece of a tool call. oldText is nil for a new file.
func ToolDiff(path string, oldText *string, newText string) ToolContent {
	return ToolContent{Type: "diff", Path: path, OldText: oldText, NewText: &newText}
}

// ToolTerminal returns a terminal of the client's as a piece of a tool call.
func ToolTerminal(id string) ToolContent { return ToolContent{Type: "terminal", TerminalID: id} }

// PermissionParams are those of session/request_permission.
type PermissionParams struct {
	SessionID string             `json:"sessionId"`
	ToolCall  ToolCall           `json:"toolCall"`
	Options   []PermissionOption `json:"options"`
}

// PermissionOption is one answer that the person may give.
type PermissionOption struct {
	OptionID string `json:"optionId"`
	Name     string `json:"name"`
	Kind     string `json:"kind"` // allow_once allow_always reject_once reject_always
}

// PermissionResult is the person's answer.
type PermissionResult struct {
	Outcome PermissionOutcome `json:"outcome"`
}

// PermissionOutcome is selected with an OptionID, or cancelled.
type PermissionOutcome struct {
	Outcome  string `json:"outcome"`
	OptionID string `json:"optionId,omitzero"`
}
