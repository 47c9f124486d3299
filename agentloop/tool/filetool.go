package tool

import (
	"context"
	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/realpath"
)

// A FileTool is a tool whose calls are about one file or folder each.
type FileTool interface {
	Tool
	// Touches says which one a call with some args would read or change as things are
	// now. It is the zero value where the args name none.
	Touches(args protocol.RawMessage) protocol.Touched
}

// fileTool is a typed tool of a folder.
type fileTool[A any] struct {
	typed[A]
	folder Folder
	path   func(A) string
}

func newFileTool[A any](folder Folder, name, description string, kind protocol.ToolKind, path func(A) string, run func(context.Context, A) (protocol.Result, error)) Tool {
	d := Description{Name: name, Description: description, Schema: schemaOf[A](name), Kind: kind}
	return &fileTool[A]{typed[A]{d, run}, folder, path}
}

func (t *fileTool[A]) Touches(args protocol.RawMessage) protocol.Touched {
	var decoded A
	if json.Unmarshal(args, &decoded) != nil {
		return protocol.Touched{} // the call fails for its args
	}
	return realpath.Touched(t.folder.Project, t.path(decoded))
}
