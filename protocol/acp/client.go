package acp

// ReadFileParams are those of fs/read_text_file.
type ReadFileParams struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"` // absolute
}

// ReadFileResult is a file's text as the editor has it, unsaved changes included.
type ReadFileResult struct {
	Content *string `json:"content"`
}

// WriteFileParams are those of fs/write_text_file.
type WriteFileParams struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"` // absolute
	Content   string `json:"content"`
}

// CreateTerminalParams are those of terminal/create: a command that the client is to run in a
// terminal of its own.
type CreateTerminalParams struct {
	SessionID       string          `json:"sessionId"`
	Command         string          `json:"command"`
	Args            []string        `json:"args"`
	Env             []NamedVariable `json:"env"` // besides the client's own
	Cwd             string          `json:"cwd"` // absolute
	OutputByteLimit int             `json:"outputByteLimit"`
}

// CreateTerminalResult names the terminal.
type CreateTerminalResult struct {
	TerminalID string `json:"terminalId"`
}

// TerminalParams are those of the other methods of terminals.
type TerminalParams struct {
	SessionID  string `json:"sessionId"`
	TerminalID string `json:"terminalId"`
}
