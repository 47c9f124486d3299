package tool

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
)

// Limits of the file tools: bytes of a file that is read or edited, bytes and
// lines of a result.
const (
	maxFile    = 16 << 20
	maxResult  = 256 << 10
	maxLines   = 2000
	maxEntries = 1000
)

// Files are the tools read_file, write_file, edit_file, list_dir and grep on a
// folder. Paths are relative to the project folder or absolute inside it.
func Files(folder Folder) []Tool {
	return []Tool{
		newTyped("read_file", "Reads a text file of the project, at most 2,000 lines at once.", protocol.KindRead, folder.readFile),
		newTyped("write_file", "Creates or replaces a file of the project. Missing folders are made.", protocol.KindWrite, folder.writeFile),
		newTyped("edit_file", "Replaces a piece of text in a file of the project. The old text must occur exactly once, unless replaceAll is set.", protocol.KindWrite, folder.editFile),
		newTyped("list_dir", "Lists a folder of the project, folders with a slash at the end.", protocol.KindRead, folder.listDir),
		newTyped("grep", "Searches the project's text files for a regular expression (RE2) and returns path:line:text.", protocol.KindRead, folder.grep),
	}
}

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty" jsonschema:"first line to read, counted from 1"`
	Limit  int    `json:"limit,omitempty" jsonschema:"number of lines to read"`
}

func (f Folder) readFile(_ context.Context, args readArgs) (protocol.Result, error) {
	data, err := f.read(args.Path, maxFile)
	if err != nil {
		return failed("%s: %v", args.Path, err)
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return failed("%s: is a binary file of %d bytes", args.Path, len(data))
	}
	if len(data) == 0 {
		return ok("the file is empty")
	}
	lines := strings.SplitAfter(utf8Only(string(data)), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	first := max(args.Offset, 1) - 1
	if first >= len(lines) {
		return failed("%s: has only %d lines", args.Path, len(lines))
	}
	count := maxLines
	if args.Limit > 0 {
		count = min(args.Limit, maxLines)
	}
	return ok(joinLines(lines, first, min(first+count, len(lines))))
}

// joinLines joins lines[first:last] up to the size of a result, and says what
// is missing behind them.
func joinLines(lines []string, first, last int) string {
	var text strings.Builder
	for i := first; i < last; i++ {
		if text.Len()+len(lines[i]) > maxResult {
			if i == first {
				text.WriteString(utf8Only(lines[i][:maxResult]))
				return text.String() + fmt.Sprintf("\n… line %d is cut at %d bytes …", i+1, maxResult)
			}
			last = i
			break
		}
		text.WriteString(lines[i])
	}
	if last < len(lines) {
		fmt.Fprintf(&text, "… %d more lines; go on with offset %d …", len(lines)-last, last+1)
	}
	return text.String()
}

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (f Folder) writeFile(_ context.Context, args writeArgs) (protocol.Result, error) {
	if err := f.write(args.Path, []byte(args.Content)); err != nil {
		return failed("%s: %v", args.Path, err)
	}
	return ok(fmt.Sprintf("wrote %d bytes to %s", len(args.Content), args.Path))
}

type editArgs struct {
	Path       string `json:"path"`
	OldText    string `json:"oldText" jsonschema:"the text to replace, exactly as it stands in the file"`
	NewText    string `json:"newText"`
	ReplaceAll bool   `json:"replaceAll,omitempty" jsonschema:"replace every occurrence"`
}

func (f Folder) editFile(_ context.Context, args editArgs) (protocol.Result, error) {
	if args.OldText == "" {
		return failed("oldText is empty")
	}
	data, err := f.read(args.Path, maxFile)
	if err != nil {
		return failed("%s: %v", args.Path, err)
	}
	count := bytes.Count(data, []byte(args.OldText))
	switch {
	case count == 0:
		return failed("%s: oldText does not occur", args.Path)
	case count > 1 && !args.ReplaceAll:
		return failed("%s: oldText occurs %d times; give more of its surroundings or set replaceAll", args.Path, count)
	}
	data = bytes.ReplaceAll(data, []byte(args.OldText), []byte(args.NewText))
	if err := f.write(args.Path, data); err != nil {
		return failed("%s: %v", args.Path, err)
	}
	return ok(fmt.Sprintf("replaced %d in %s", count, args.Path))
}

type listArgs struct {
	Path string `json:"path,omitempty" jsonschema:"default: the project folder"`
}

func (f Folder) listDir(_ context.Context, args listArgs) (protocol.Result, error) {
	path := args.Path
	if path == "" {
		path = "."
	}
	t, err := f.resolve(path, false)
	if err != nil {
		return failed("%s: %v", path, err)
	}
	entries, err := t.list(f)
	if err != nil {
		return failed("%s: %v", path, err)
	}
	var text strings.Builder
	for i, entry := range entries {
		if i == maxEntries {
			fmt.Fprintf(&text, "… %d more …\n", len(entries)-i)
			break
		}
		text.WriteString(utf8Only(entry.Name()))
		if entry.IsDir() {
			text.WriteByte('/')
		}
		text.WriteByte('\n')
	}
	if len(entries) == 0 {
		return ok("the folder is empty")
	}
	return ok(text.String())
}
