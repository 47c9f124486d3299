package tool

import (
	"bytes"
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/agentloop/tool/internal/projectfile"
)

// Editor is a program that has files of the project open. The file tools read and write through
// it, so that what a person has not saved yet is seen and not lost. Which file a call may touch
// is decided before, by the tools' own rules and by hooks.
type Editor interface {
	// Read returns the text of a file as the editor has it. known is false if the editor
	// has no such file, and the file on the disk counts. An error is a no: the file is not
	// read past the editor.
	Read(ctx context.Context, path string) (text string, known bool, err error)

	// Write makes text the content of a file. written is false if the editor takes no
	// files, and the file on the disk is written.
	Write(ctx context.Context, path, text string) (written bool, err error)
}

// asEdited returns the content of a file as the editor has it, and of a file that is no text, or
// that the editor does not know, what is on the disk.
func (f *files) asEdited(ctx context.Context, path string, disk []byte) ([]byte, error) {
	if f.Editor == nil || bytes.IndexByte(disk, 0) >= 0 || !utf8.Valid(disk) {
		return disk, nil
	}
	text, known, err := f.Editor.Read(ctx, path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the editor did not read it: %w", err)
	case !known:
		return disk, nil
	case len(text) > maxFile:
		return nil, fmt.Errorf("has %d bytes in the editor, more than %d", len(text), maxFile)
	}
	return []byte(text), nil
}

// replace gives a file a new content, through the editor if there is one. lost says what of the
// old file could not be kept.
func (f *files) replace(ctx context.Context, file *projectfile.LockedFile, content []byte) (lost []string, err error) {
	if f.Editor == nil || !utf8.Valid(content) {
		return file.Replace(content)
	}
	written, err := f.Editor.Write(ctx, file.Path, string(content))
	switch {
	case ctx.Err() != nil:
		return nil, &projectfile.AbortedError{Text: "the editor may have written the file all the same"}
	case err != nil:
		return nil, fmt.Errorf("the editor did not write it: %w", err)
	case !written:
		return file.Replace(content)
	}
	return nil, nil
}
