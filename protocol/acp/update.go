package acp

// UpdateKind says what an update is about.
type UpdateKind string

const (
	UserMessageChunk  UpdateKind = "user_message_chunk"
	AgentMessageChunk UpdateKind = "agent_message_chunk"
	AgentThoughtChunk UpdateKind = "agent_thought_chunk"
	ToolCallBegun     UpdateKind = "tool_call"
	ToolCallChanged   UpdateKind = "tool_call_update"
	PlanChanged       UpdateKind = "plan"
	CommandsChanged   UpdateKind = "available_commands_update"
	ModeChanged       UpdateKind = "current_mode_update"
	OptionsChanged    UpdateKind = "config_option_update"
	SessionChanged    UpdateKind = "session_info_update"
	UsageChanged      UpdateKind = "usage_update"
	NoticeGiven       UpdateKind = "notice"
	CompactionChanged UpdateKind = "compaction_update"
	CompactionChunk   UpdateKind = "compaction_summary_chunk"
)

// UpdateParams are those of session/update. Update is one of the types of this package that have
// an [UpdateKind].
type UpdateParams struct {
	SessionID string `json:"sessionId"`
	Update    any    `json:"update"`
}

// Chunk is a piece of a message. Pieces of one message have one MessageID.
type Chunk struct {
	Kind      UpdateKind   `json:"sessionUpdate"`
	Content   ContentBlock `json:"content"`
	MessageID string       `json:"messageId,omitzero"`
}

// Plan is the whole list of what the agent means to do.
type Plan struct {
	Kind    UpdateKind  `json:"sessionUpdate"` // plan
	Entries []PlanEntry `json:"entries"`
}

// PlanEntry is one task of a [Plan].
type PlanEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"` // high medium low
	Status   string `json:"status"`   // pending in_progress completed
}

// Commands are all that may follow a slash at the begin of a prompt.
type Commands struct {
	Kind              UpdateKind `json:"sessionUpdate"` // available_commands_update
	AvailableCommands []Command  `json:"availableCommands"`
}

// Command is one of [Commands].
type Command struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Input       *CommandInput `json:"input,omitzero"`
}

// CommandInput says what a person may write after a command.
type CommandInput struct {
	Hint string `json:"hint"`
}

// SessionNews is what a session is called from now on.
type SessionNews struct {
	Kind      UpdateKind `json:"sessionUpdate"` // session_info_update
	Title     string     `json:"title,omitzero"`
	UpdatedAt string     `json:"updatedAt,omitzero"` // RFC 3339
}

// Usage is how full the model's context is, in tokens, and what the session has cost.
type Usage struct {
	Kind UpdateKind `json:"sessionUpdate"` // usage_update
	Used int64      `json:"used"`
	Size int64      `json:"size"`
	Cost *Cost      `json:"cost,omitzero"`
}

// Cost is an amount of money.
type Cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

// Notice is a word to the person that is no part of the conversation.
type Notice struct {
	Kind        UpdateKind `json:"sessionUpdate"` // notice
	Severity    string     `json:"severity"`      // info warning error
	Title       string     `json:"title"`
	Description string     `json:"description,omitzero"`
}

// ModeNews is the mode that a session is in from now on.
type ModeNews struct {
	Kind          UpdateKind `json:"sessionUpdate"` // current_mode_update
	CurrentModeID string     `json:"currentModeId"`
}

// OptionNews are all options of a session, as they are from now on.
type OptionNews struct {
	Kind          UpdateKind     `json:"sessionUpdate"` // config_option_update
	ConfigOptions []ConfigOption `json:"configOptions"`
}

// CompactionStatus is how far a compaction is.
type CompactionStatus string

const (
	CompactionRuns      CompactionStatus = "in_progress"
	CompactionCompleted CompactionStatus = "completed"
	CompactionFailed    CompactionStatus = "failed"
	CompactionCancelled CompactionStatus = "cancelled"
)

// Compaction is a compaction of the conversation, for clients that take it. The first update of
// an id begins it, later ones change it.
type Compaction struct {
	Kind         UpdateKind       `json:"sessionUpdate"` // compaction_update
	CompactionID string           `json:"compactionId"`
	Status       CompactionStatus `json:"status"`
	Summary      *[]ContentBlock  `json:"summary,omitzero"` // in the place of what was sent of it; nil: it stays
	Error        string           `json:"error,omitzero"`
}

// CompactionText is a piece of a compaction's summary.
type CompactionText struct {
	Kind         UpdateKind   `json:"sessionUpdate"` // compaction_summary_chunk
	CompactionID string       `json:"compactionId"`
	Content      ContentBlock `json:"content"`
}
