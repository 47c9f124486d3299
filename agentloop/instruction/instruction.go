package instruction

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// File is a file of instructions that may be used: the caller has checked that. Of a
// project's, Path is the copy that was allowed.
type File struct {
	Path   string // absolute: where the text is read
	Origin string // where it was written: texts and problems name it
	Layer  protocol.Layer
	Hash   string // changes when the file does
}

// Text is a file that was read.
type Text struct {
	File
	Text string
}

// Problem is why a file is not used.
type Problem struct {
	Path, Message, Remedy string
}

func (p Problem) Error() string {
	return fmt.Sprintf("instructions %s: not used: %s (%s)", text.Line(p.Path), p.Message, p.Remedy)
}

// ownLimit bounds a file of the user or the machine, in bytes.
const ownLimit = 64 << 10

// Read reads the files, the least specific first: those of the machine, of the user, of the
// project, and of a project those of its root before those of folders below it. Those of
// projects may have limit bytes together; a project's limit changes nothing for the files of
// user and machine. A file that cannot be used, or that no longer fits, does not affect the
// others. With a limit of 0 no file of a project is read.
func Read(files []File, limit int64) (texts []Text, problems []Problem) {
	left := max(limit, 0)
	for _, f := range inOrder(files) {
		most := int64(ownLimit)
		if f.Layer == protocol.Project {
			if most = left; limit <= 0 {
				continue
			}
		}
		body, err := f.read(most)
		switch {
		case errors.Is(err, fsutil.ErrTooLarge) && f.Layer == protocol.Project:
			problems = append(problems, Problem{f.Origin, tooLarge(left, limit), "shorten it, move parts of it into skills, or raise agent.instructions.limit in your own settings"})
		case errors.Is(err, fsutil.ErrTooLarge):
			problems = append(problems, Problem{f.Origin, fmt.Sprintf("it has more than %d bytes", ownLimit), "shorten it, or move parts of it into skills"})
		case err != nil:
			problems = append(problems, Problem{f.Origin, err.Error(), "write it as a plain text file in UTF-8"})
		case body != "":
			if f.Layer == protocol.Project {
				left -= int64(len(body))
			}
			texts = append(texts, Text{f, body})
		}
	}
	return texts, problems
}

func tooLarge(left, limit int64) string {
	if left == limit {
		return fmt.Sprintf("it has more than the %d bytes of agent.instructions.limit", limit)
	}
	return fmt.Sprintf("the files before it left %d of the %d bytes of agent.instructions.limit, and it has more", left, limit)
}

// inOrder sorts files by their layer, and those of projects from the outside in.
func inOrder(files []File) []File {
	layers := []protocol.Layer{protocol.Managed, protocol.User, protocol.Project}
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b File) int {
		return cmp.Or(
			cmp.Compare(slices.Index(layers, a.Layer), slices.Index(layers, b.Layer)),
			cmp.Compare(depth(a.Origin), depth(b.Origin)),
		)
	})
	return files
}

func depth(path string) int { return strings.Count(filepath.Dir(path), string(filepath.Separator)) }

// read returns the text. It never waits for a pipe, and it follows no link out of the file's
// folder.
func (f File) read(limit int64) (string, error) {
	root, err := os.OpenRoot(filepath.Dir(f.Path))
	if err != nil {
		return "", fsutil.WithoutPath(err)
	}
	defer root.Close()
	body, err := fsutil.ReadRegularIn(root, filepath.Base(f.Path), limit)
	if err != nil {
		return "", fsutil.WithoutPath(err)
	}
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if why := text.Flaw(body); why != "" {
		return "", errors.New(why)
	}
	return strings.TrimSpace(string(body)), nil
}
