package tool

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop/tool/internal/projectfile"
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

// Folder is the part of the file system that the file tools may touch: a project
// without what rules the hooks and without what git runs.
type Folder struct {
	Project   string   // absolute path
	Refused   []string // absolute paths, refused with all below: .acai of user and machine
	State     string   // hookd's own folder, absolute, refused with all below
	Unwritten []string // absolute paths that may be read, with all below: git's own settings
	Locks     string   // absolute path of a folder for lock files, where folders cannot be locked; default: in the user's cache

	Editor Editor // has files open; nil: there is none
}

// Mentions returns the protected place that the words of a command name, "" if none
// does. A word is taken as a path, relative to the project.
func (f Folder) Mentions(words []string) string {
	return f.files(nil).Mentions(words)
}

func (f Folder) files(judged *protocol.Touched) *projectfile.Folder {
	return &projectfile.Folder{Project: f.Project, Refused: f.Refused, State: f.State, Unwritten: f.Unwritten, Locks: f.Locks, Judged: judged}
}

// files are the file tools of one run.
type files struct {
	Folder
	known knownContent
}

// of returns the folder as a call may use it.
func (f *files) of(ctx context.Context) *projectfile.Folder { return f.files(judgedFile(ctx)) }
