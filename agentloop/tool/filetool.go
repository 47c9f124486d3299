package tool

import (
	"context"
	"path/filepath"
	"slices"

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
	return t.folder.touched(t.path(decoded))
}

// Folder is the part of the file system that the file tools may touch: a project
// without what rules the hooks and without what git runs.
type Folder struct {
	Project   string   // absolute path
	Also      []string // absolute paths of other folders, which may be touched as the project may
	Refused   []string // absolute paths, refused with all below: .acai of user and machine
	State     string   // hookd's own folder, absolute, refused with all below
	Unwritten []string // absolute paths that may be read, with all below: git's own settings
	Locks     string   // absolute path of a folder for lock files, where folders cannot be locked; default: in the user's cache

	Editor Editor // has files open; nil: there is none
}

// Mentions returns the protected place that the words of a command name, "" if none
// does. A word is taken as a path, relative to the project.
func (f Folder) Mentions(words []string) string {
	mentioned := f.part(f.Project, nil).Mentions(words)
	for _, other := range f.Also {
		if mentioned != "" {
			break
		}
		absolute := slices.Clone(words)
		for i, word := range words {
			if word != "" && !filepath.IsAbs(word) {
				absolute[i] = filepath.Join(f.Project, word)
			}
		}
		mentioned = f.part(other, nil).Mentions(absolute)
	}
	return mentioned
}

// part is the project, or one of the other folders. The hooks of each, and those of projects further
// up, are refused in all of them: links of one may lead into another.
func (f Folder) part(root string, judged *protocol.Touched) *projectfile.Folder {
	refused := f.Refused
	if len(f.Also) > 0 {
		refused = slices.Clone(refused)
		for _, each := range append([]string{f.Project}, f.Also...) {
			refused = append(refused, hooksAbove(each)...)
		}
	}
	return &projectfile.Folder{Project: root, Refused: refused, State: f.State, Unwritten: f.Unwritten, Locks: f.Locks, Judged: judged}
}

// hooksAbove are the folders of hooks in a folder and above it.
func hooksAbove(folder string) (list []string) {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	for ; ; folder = filepath.Dir(folder) {
		if list = append(list, filepath.Join(folder, ".acai")); folder == filepath.Dir(folder) {
			return list
		}
	}
}

// partOf returns the part of the folder that a path leads to, links followed, and the path as it
// is resolved there. What leads to none of the other folders is for the project to refuse.
func (f Folder) partOf(path string, judged *protocol.Touched) (part *projectfile.Folder, resolved string) {
	if root, absolute := f.otherRoot(path); root != "" {
		return f.part(root, judged), absolute
	}
	return f.part(f.Project, judged), path
}

// otherRoot returns the folder besides the project that a path leads into, "" if it leads into
// none, and the path, made absolute.
func (f Folder) otherRoot(path string) (root, absolute string) {
	if len(f.Also) == 0 {
		return "", ""
	}
	at, err := realpath.Look(f.Project, path)
	if err != nil || isBelow(at.Real, at.Project) {
		return "", ""
	}
	for _, other := range f.Also {
		if real, err := filepath.EvalSymlinks(other); err == nil && isBelow(at.Real, real) {
			return other, at.Absolute
		}
	}
	return "", ""
}

func isBelow(path, folder string) bool {
	relative, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(relative)
}

// touched says what a call on a path would read or change. Other names of a file are looked for in
// all folders.
func (f Folder) touched(path string) protocol.Touched {
	t := realpath.Touched(f.Project, path)
	for _, other := range f.Also {
		if t.Links <= len(t.OtherPaths)+1 {
			break
		}
		for _, name := range realpath.Touched(other, t.RealPath).OtherPaths {
			if !slices.Contains(t.OtherPaths, name) {
				t.OtherPaths = append(t.OtherPaths, name)
			}
		}
	}
	return t
}

// files are the file tools of one run.
type files struct {
	Folder
	known knownContent
}

// of returns the part of the folder that a path of a call leads to, as the call may use it, and
// the path there.
func (f *files) of(ctx context.Context, path string) (*projectfile.Folder, string) {
	return f.partOf(path, judgedFile(ctx))
}

// resolve looks up the path of a call that reads.
func (f *files) resolve(ctx context.Context, path string) (*projectfile.Target, error) {
	part, path := f.of(ctx, path)
	return part.Resolve(path, false)
}

// change changes the file of a call, under the lock of its folder.
func (f *files) change(ctx context.Context, path string, creates bool, work func(*projectfile.LockedFile) error) error {
	part, path := f.of(ctx, path)
	return part.Change(ctx, path, creates, work)
}
