package acp

import "github.com/hookd-dev/hookd/protocol"

// OpenParams are those of session/new, session/load and session/resume; only the first has no
// SessionID.
type OpenParams struct {
	SessionID  string      `json:"sessionId,omitzero"`
	Cwd        string      `json:"cwd"`
	MCPServers []MCPServer `json:"mcpServers"`

	AdditionalDirectories []string `json:"additionalDirectories,omitzero"` // absolute paths, for agents that announce them
}

// MCPServer is a server whose tools the client wants the session to have.
type MCPServer struct {
	Type    string          `json:"type,omitzero"` // http sse; "": stdio
	Name    string          `json:"name"`
	Command string          `json:"command,omitzero"`
	Args    []string        `json:"args,omitzero"`
	Env     []NamedVariable `json:"env,omitzero"`
	URL     string          `json:"url,omitzero"`
	Headers []NamedVariable `json:"headers,omitzero"`
}

// NamedVariable is a variable of the environment, or a header.
type NamedVariable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// NewResult is the result of session/new.
type NewResult struct {
	SessionID string      `json:"sessionId"`
	Modes     *ModeState  `json:"modes,omitzero"`
	Meta      *ResultMeta `json:"_meta,omitzero"`

	ConfigOptions []ConfigOption `json:"configOptions,omitzero"`
}

// LoadResult is the result of session/load and session/resume.
type LoadResult struct {
	Modes         *ModeState     `json:"modes,omitzero"`
	ConfigOptions []ConfigOption `json:"configOptions,omitzero"`
}

// ModeState is which modes a session has, and the one that it is in.
type ModeState struct {
	CurrentModeID  string `json:"currentModeId"`
	AvailableModes []Mode `json:"availableModes"`
}

// Mode is one way in which a session works.
type Mode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
}

// SessionParams name a session, and nothing else.
type SessionParams struct {
	SessionID string `json:"sessionId"`
}

// SetModeParams are those of session/set_mode.
type SetModeParams struct {
	SessionID string `json:"sessionId"`
	ModeID    string `json:"modeId"`
}

// ConfigOption is something that a person may choose for a session: one of some values.
type ConfigOption struct {
	ID           string         `json:"id"`
	Name         string         `json:"name"`
	Description  string         `json:"description,omitzero"`
	Category     string         `json:"category,omitzero"` // mode model
	Type         string         `json:"type"`              // select
	CurrentValue string         `json:"currentValue"`
	Options      []ConfigChoice `json:"options"`
}

// ConfigChoice is a value of a [ConfigOption].
type ConfigChoice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
}

// SetConfigParams are those of session/set_config_option. Value is a text, and true or false for
// a switch, of which hookd has none.
type SetConfigParams struct {
	SessionID string `json:"sessionId"`
	ConfigID  string `json:"configId"`
	Value     any    `json:"value"`
}

// SetConfigResult is the result of session/set_config_option: all options as they are now.
type SetConfigResult struct {
	ConfigOptions []ConfigOption `json:"configOptions"`
}

// ListParams are those of session/list.
type ListParams struct {
	Cwd    *string `json:"cwd,omitzero"`
	Cursor *string `json:"cursor,omitzero"`
}

// ListResult is one page of sessions.
type ListResult struct {
	Sessions   []SessionInfo `json:"sessions"`
	NextCursor string        `json:"nextCursor,omitzero"`
}

// SessionInfo describes a session in a list.
type SessionInfo struct {
	SessionID string `json:"sessionId"`
	Cwd       string `json:"cwd"`
	Title     string `json:"title,omitzero"`
	UpdatedAt string `json:"updatedAt,omitzero"` // RFC 3339
}

// PromptParams are those of session/prompt.
type PromptParams struct {
	SessionID string         `json:"sessionId"`
	Prompt    []ContentBlock `json:"prompt"`
}

// StopReason is why a turn ended.
type StopReason string

const (
	EndTurn         StopReason = "end_turn"
	MaxTokens       StopReason = "max_tokens"
	MaxTurnRequests StopReason = "max_turn_requests"
	Refusal         StopReason = "refusal"
	Cancelled       StopReason = "cancelled"
)

// PromptResult is the result of session/prompt.
type PromptResult struct {
	StopReason StopReason  `json:"stopReason"`
	Meta       *ResultMeta `json:"_meta,omitzero"`
}

// ResultMeta is what hookd adds to a result.
type ResultMeta struct {
	Hookd ResultExtras `json:"hookd"`
}

// ResultExtras say more of a result than the protocol has words for.
type ResultExtras struct {
	StopReason string             `json:"stopReason,omitzero"` // as agent-end has it
	Refused    bool               `json:"refused,omitzero"`    // hooks ended the turn
	By         string             `json:"by,omitzero"`         // the hook
	Reason     string             `json:"reason,omitzero"`
	Usage      *protocol.RunUsage `json:"usage,omitzero"`
}

// CancelParams are those of session/cancel.
type CancelParams = SessionParams

// CancelRequestParams are those of $/cancel_request.
type CancelRequestParams struct {
	RequestID protocol.RawMessage `json:"requestId"`
}
