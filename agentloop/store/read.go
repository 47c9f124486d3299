package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/internal/lines"
	"github.com/hookd-dev/hookd/protocol"
)

// Transcript is all that a session's file holds.
type Transcript struct {
	Header  Header
	Entries []Entry
}

// State returns what the entries add up to: the session as it would be resumed.
func (t *Transcript) State() State {
	state := State{Model: t.Header.Model}
	for i, entry := range t.Entries {
		state.apply(i+2, entry)
	}
	return state
}

// Read reads a session without opening it: another process may have it open. It leaves out
// a last line that has no end yet.
func Read(folder, id string) (*Transcript, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	t := &Transcript{}
	for line, err := range fileLines(folder, id) {
		if err == nil {
			err = t.add(line, id)
		}
		if err != nil {
			return nil, damaged(folder, id, line.number, err)
		}
	}
	return t, nil
}

func (t *Transcript) add(l line, id string) (err error) {
	if l.number == 1 {
		t.Header, err = decodeHeader(l.text, id)
		return err
	}
	entry, err := decodeEntry(l.text)
	if err == nil {
		t.replaceArgs(&entry)
		t.Entries = append(t.Entries, entry)
	}
	return err
}

// replaceArgs puts what ran into the entries before this one.
func (t *Transcript) replaceArgs(entry *Entry) {
	if entry.Kind != Args {
		return
	}
	for i := len(t.Entries) - 1; i >= 0; i-- {
		earlier := t.Entries[i].Messages
		if m := t.Entries[i].Message; m != nil {
			earlier = []protocol.Message{*m}
		}
		if !slices.ContainsFunc(earlier, func(m protocol.Message) bool { return hasCall(m, entry.ToolCallID) }) {
			continue
		}
		ReplaceArgs(earlier, entry.ToolCallID, entry.Args)
		if t.Entries[i].Message != nil {
			t.Entries[i].Message = &earlier[0]
		}
		return
	}
}

func hasCall(m protocol.Message, id string) bool {
	return slices.ContainsFunc(m.Content, func(p protocol.Part) bool { return p.Type == protocol.PartToolCall && p.ToolCallID == id })
}

// line is a whole line of a session's file.
type line struct {
	number int    // 1 = the header
	text   []byte // valid until the next line is read
}

// fileLines reads a session's file. An error comes last, with the line it is about.
func fileLines(folder, id string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		file, err := fsutil.OpenRegular(filepath.Join(folder, id+extension))
		if err != nil {
			yield(line{number: 1}, err)
			return
		}
		defer file.Close()
		in := lines.NewReader(file, lines.Options{Reuse: true})
		for number := 1; ; number++ {
			text, ended, err := in.Next()
			if errors.Is(err, io.EOF) || err == nil && !ended { // a crash cut it off, or it is being written
				if number > 1 {
					return
				}
				err = errNoHeader
			}
			if !yield(line{number, bytes.TrimRight(text, "\r")}, err) || err != nil {
				return
			}
		}
	}
}

// ErrNotFound means that no session of a folder has the id or prefix.
var ErrNotFound = errors.New("there is no such session")

// AmbiguousError means that several sessions have ids with the prefix.
type AmbiguousError struct {
	Prefix string
	IDs    []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%d sessions begin with %s", len(e.IDs), e.Prefix)
}

// Find returns the id that prefix stands for: the whole id, or any unique prefix of it.
// Letters may be of either case.
func Find(folder, prefix string) (string, error) {
	ids, err := IDs(folder)
	if err != nil {
		return "", err
	}
	var found []string
	for _, id := range ids {
		if id == prefix {
			return id, nil
		}
		if prefix != "" && len(id) >= len(prefix) && strings.EqualFold(id[:len(prefix)], prefix) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("session %q: %w", prefix, ErrNotFound)
	case 1:
		return found[0], nil
	}
	return "", &AmbiguousError{prefix, found}
}

// ShortLength returns how many characters of each id tell the sessions apart, at least
// least.
func ShortLength(ids []string, least int) int {
	ids = slices.Sorted(slices.Values(ids))
	length := least
	for i := 1; i < len(ids); i++ {
		same := 0
		for same < min(len(ids[i]), len(ids[i-1])) && ids[i][same] == ids[i-1][same] {
			same++
		}
		length = max(length, same+1)
	}
	return length
}

// HeaderOf reads the first line of a session. Another process may have it open.
func HeaderOf(folder, id string) (header Header, err error) {
	if err := checkID(id); err != nil {
		return header, err
	}
	for line, err := range fileLines(folder, id) {
		if err == nil {
			header, err = decodeHeader(line.text, id)
		}
		if err != nil {
			return header, damaged(folder, id, line.number, err)
		}
		break
	}
	return header, nil
}

// First returns the text of the first prompt, "" without one.
func (t *Transcript) First() string {
	for _, entry := range t.Entries {
		if entry.Kind == Message && entry.Message != nil && entry.Turn > 0 {
			return promptText(*entry.Message)
		}
	}
	return ""
}

// promptText returns what a person wrote: the first text of a message, before the context
// from hooks.
func promptText(message protocol.Message) string {
	for _, part := range message.Content {
		if part.Type == protocol.PartText && part.Hook == "" {
			return part.Text
		}
	}
	return ""
}

// IDs returns the ids of a folder's sessions, sorted.
func IDs(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sessions folder: %w", err)
	}
	var ids []string
	for _, e := range entries {
		id, isSession := strings.CutSuffix(e.Name(), extension)
		if isSession && e.Type().IsRegular() && checkID(id) == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
