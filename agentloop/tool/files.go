package tool

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/agentloop/tool/internal/projectfile"
	"github.com/hookd-dev/hookd/agentloop/tool/internal/textedit"
	"github.com/hookd-dev/hookd/protocol"
)

// Files returns the tools read_file, write_file, edit_file, list_dir and grep on a
// folder. Paths are relative to the project folder, or absolute in it or in another folder of
// [Folder].Also. Calls may run side by side, in several runs too: each changes its file as a whole
// or not at all.
func Files(folder Folder) []Tool {
	f := &files{Folder: folder}
	also := ""
	if len(folder.Also) > 0 {
		also = " Besides the project, these folders and what is in them may be named by absolute paths: " + strings.Join(folder.Also, ", ") + "."
	}
	return []Tool{
		newFileTool(folder, "read_file", "Reads a text file of the project, at most 2,000 lines at once."+also, protocol.KindRead, func(a readArgs) string { return a.Path }, f.readFile),
		newFileTool(folder, "write_file", "Creates or replaces a file of the project. Missing folders are made. Refused if the file was changed since you read it."+also, protocol.KindWrite, func(a writeArgs) string { return a.Path }, f.writeFile),
		newFileTool(folder, "edit_file", "Replaces a piece of text in a file of the project. The old text must occur exactly once, unless replaceAll is set. The file keeps its line ends."+also, protocol.KindWrite, func(a editArgs) string { return a.Path }, f.editFile),
		newFileTool(folder, "list_dir", "Lists a folder of the project, folders with a slash at the end."+also, protocol.KindRead, listArgs.path, f.listDir),
		newFileTool(folder, "grep", "Searches the project's text files for a regular expression (RE2) and returns path:line:text."+also, protocol.KindRead, grepArgs.path, f.grep),
	}
}

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty" jsonschema:"first line to read, counted from 1"`
	Limit  int    `json:"limit,omitempty" jsonschema:"number of lines to read"`
}

func (f *files) readFile(ctx context.Context, args readArgs) (protocol.Result, error) {
	t, err := f.resolve(ctx, args.Path)
	if err != nil {
		return failed("%s: %v", args.Path, err)
	}
	before := f.known.now()
	data, err := t.Read(maxFile)
	if err != nil {
		return failed("%s: %v", args.Path, err)
	}
	if data, err = f.asEdited(ctx, t.Path(), data); err != nil {
		return failed("%s: %v", args.Path, err)
	}
	f.known.set(ctx, t.Path(), before, data)
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

// joinLines joins lines[first:last] up to the size of a result, and says what is
// missing after them.
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

func (f *files) writeFile(ctx context.Context, args writeArgs) (result protocol.Result, err error) {
	err = f.change(ctx, args.Path, true, func(file *projectfile.LockedFile) error {
		content, kept := []byte(args.Content), []string(nil)
		if file.Info != nil {
			old, err := file.Read(maxFile)
			if err == nil {
				if old, err = f.asEdited(ctx, file.Path, old); err != nil {
					return err
				}
			}
			switch {
			case f.known.has(ctx, file.Path) && (err != nil || f.known.outdated(ctx, file.Path, old)):
				return errors.New(changedSinceRead)
			case err == nil:
				content, kept = textedit.KeepForm(old, content)
			}
			if !f.known.has(ctx, file.Path) {
				kept = append(kept, fmt.Sprintf("a file of %d bytes that you had not read was replaced", file.Info.Size()))
			}
		}
		lost, err := f.replace(ctx, file, content)
		if err != nil {
			return err
		}
		f.known.set(ctx, file.Path, f.known.now(), content)
		result = OK(withRemarks(fmt.Sprintf("wrote %d bytes to %s", len(content), args.Path), append(kept, lost...)))
		return nil
	})
	return changed(result, args.Path, err)
}

const changedSinceRead = "changed since you read it, by another program or agent; nothing was written: read it again, then write what is right now, or edit it"

// withRemarks adds to what was done what a person or a model might not expect of it.
func withRemarks(done string, more []string) string {
	return strings.Join(append([]string{done}, more...), "; ")
}

// changed is the answer of a tool that changes a file.
func changed(result protocol.Result, path string, err error) (protocol.Result, error) {
	var aborted *projectfile.AbortedError
	switch {
	case errors.As(err, &aborted):
		return protocol.Result{}, &Error{Kind: protocol.CallAborted, Text: aborted.Text}
	case err != nil:
		return failed("%s: %v", path, err)
	}
	return result, nil
}

type editArgs struct {
	Path       string `json:"path"`
	OldText    string `json:"oldText" jsonschema:"the text to replace, exactly as it stands in the file"`
	NewText    string `json:"newText"`
	ReplaceAll bool   `json:"replaceAll,omitempty" jsonschema:"replace every occurrence"`
}

func (f *files) editFile(ctx context.Context, args editArgs) (result protocol.Result, err error) {
	if args.OldText == "" {
		return failed("oldText is empty")
	}
	edit := textedit.Edit{Old: args.OldText, New: args.NewText, All: args.ReplaceAll}
	err = f.change(ctx, args.Path, false, func(file *projectfile.LockedFile) error {
		data, err := file.Read(maxFile)
		if err != nil {
			return err
		}
		if data, err = f.asEdited(ctx, file.Path, data); err != nil {
			return err
		}
		outdated := f.known.outdated(ctx, file.Path, data)
		edited, count, err := edit.Apply(data, maxFile)
		if err != nil && outdated {
			err = fmt.Errorf("the file changed since you read it: %w", err)
		}
		if err != nil {
			return err
		}
		lost, err := f.replace(ctx, file, edited)
		if err != nil {
			return err
		}
		if !outdated { // else there is still something that this agent has not read
			f.known.set(ctx, file.Path, f.known.now(), edited)
		}
		result = OK(withRemarks(fmt.Sprintf("replaced %d in %s", count, args.Path), lost))
		return nil
	})
	return changed(result, args.Path, err)
}

type listArgs struct {
	Path string `json:"path,omitempty" jsonschema:"default: the project folder"`
}

func (a listArgs) path() string { return cmp.Or(a.Path, ".") }

func (f *files) listDir(ctx context.Context, args listArgs) (protocol.Result, error) {
	path := args.path()
	t, err := f.resolve(ctx, path)
	if err != nil {
		return failed("%s: %v", path, err)
	}
	entries, err := t.List()
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
