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
