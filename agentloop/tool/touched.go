package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

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

type touchedKey struct{}

// WithTouched returns a context under which a [FileTool] works on nothing but what
// hooks were told that it would touch.
func WithTouched(ctx context.Context, touched protocol.Touched) context.Context {
	return context.WithValue(ctx, touchedKey{}, touched)
}

// asJudged is an error where a call has come to lead elsewhere since hooks judged it:
// a link was changed meanwhile, perhaps by a call at the same time.
func asJudged(ctx context.Context, real string) error {
	judged, told := ctx.Value(touchedKey{}).(protocol.Touched)
	if !told || judged.RealPath == real {
		return nil
	}
	return fmt.Errorf("refused: it leads to another file than a moment ago, when hooks judged this call (%s, now %s): call the tool again", judged.RealPath, real)
}

// asManyNames is asJudged for the names (hard links) of a file.
func asManyNames(ctx context.Context, info fs.FileInfo) error {
	judged, told := ctx.Value(touchedKey{}).(protocol.Touched)
	if _, names, known := realpath.Identify(info); !told || !known || info.IsDir() || names <= uint64(max(judged.Links, 1)) {
		return nil
	}
	return errors.New("refused: the file has more names (hard links) than a moment ago, when hooks judged this call: call the tool again")
}

// fileTool is a typed tool of a folder.
type fileTool[A any] struct {
	typed[A]
	folder Folder
	path   func(A) string
}

func newFileTool[A any](folder Folder, name, description string, kind protocol.ToolKind, path func(A) string, run func(context.Context, A) (protocol.Result, error)) Tool {
	d := Description{Tool: protocol.Tool{Name: name, Description: description, Schema: schemaOf[A](name)}, Kind: kind}
	return &fileTool[A]{typed[A]{d, run}, folder, path}
}

func (t *fileTool[A]) Touches(args protocol.RawMessage) protocol.Touched {
	var decoded A
	if json.Unmarshal(args, &decoded) != nil {
		return protocol.Touched{} // the call fails for its args
	}
	return realpath.Touched(t.folder.Project, t.path(decoded))
}
