package instructions

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/report"
)

// OfProject are the names of a project's file in one folder, OwnName that of the file of user
// and machine. The first that is there counts.
var OfProject = []string{OwnName, "CLAUDE.md"}

// OwnName is the name of the file that agents share.
const OwnName = "AGENTS.md"

// MaxSize bounds one file, in bytes. How much of all files reaches the model is a setting
// (agent.instructions.limit).
const MaxSize = 256 << 10

// maxDepth bounds how many folders below the root are looked into.
const maxDepth = 32

// File is a file of instructions that is there.
type File struct {
	Name    string          // relative to the root, with slashes
	Path    string          // where it was found
	Real    string          // with links followed; "" with a problem
	Problem *report.Problem // why it cannot be used, nil if it can
}

// Folders returns the folders from a root down to a working directory, relative to the root,
// with slashes, the root (".") first. Those at or below inner, the root of an inner project,
// are not among them.
func Folders(root, cwd, inner string) []string {
	folders := []string{"."}
	way, err := filepath.Rel(root, cwd)
	if err != nil || way == "." || !filepath.IsLocal(way) {
		return folders
	}
	at := "."
	for part := range strings.SplitSeq(filepath.ToSlash(way), "/") {
		at = path.Join(at, part)
		if inner != "" && files.Within(inner, filepath.Join(root, filepath.FromSlash(at))) || len(folders) > maxDepth {
			break
		}
		folders = append(folders, at)
	}
	return folders
}

// Find returns the file of one folder below a root that counts, nil if there is none. With
// anywhere a link may lead out of the root: the root is the user's own. see is called with
// each path that is looked at.
func Find(root, folder string, names []string, anywhere bool, see func(string)) *File {
	for _, name := range names {
		f := &File{Name: path.Join(folder, name)}
		f.Path = filepath.Join(root, filepath.FromSlash(f.Name))
		see(f.Path)
		if _, err := files.Lstat(f.Path); files.Missing(err) {
			continue
		}
		f.judge(root, anywhere)
		if f.Real != f.Path {
			see(f.Real)
		}
		return f
	}
	return nil
}

// judge follows links and says what is wrong with the file.
func (f *File) judge(root string, anywhere bool) {
	real, err := filepath.EvalSymlinks(f.Path)
	if err != nil {
		f.Problem = &report.Problem{Why: "it cannot be read: " + files.Cause(err), Remedy: "make it a readable regular file"}
		return
	}
	st, err := files.Stat(real)
	switch {
	case err != nil:
		f.Problem = &report.Problem{Why: "it cannot be read: " + files.Cause(err), Remedy: "make it a readable regular file"}
	case !anywhere && !files.Within(files.RealPath(root), real):
		f.Problem = &report.Problem{Why: "it is a link that leaves the project, to " + real, Remedy: "put the text into the file itself"}
	case !anywhere && real != filepath.Join(files.RealPath(root), filepath.FromSlash(f.Name)) && !isMarkdown(real):
		f.Problem = &report.Problem{Why: "it is a link to " + real + ", which is no Markdown file", Remedy: "have it lead to a file that ends in .md, or put the text into the file itself"}
	case !st.Mode.IsRegular():
		f.Problem = &report.Problem{Why: "it is not a regular file", Remedy: "make it a text file"}
	case st.Size > MaxSize:
		f.Problem = &report.Problem{Why: fmt.Sprintf("it has %d bytes; instructions may have %d", st.Size, MaxSize), Remedy: "shorten it; skills are read only when they are needed, and can hold the rest"}
	default:
		f.Real = real
	}
}

func isMarkdown(name string) bool {
	return slices.Contains([]string{".md", ".mdc", ".markdown"}, strings.ToLower(filepath.Ext(name)))
}
