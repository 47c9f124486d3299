package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Digest stands for a value in a record.
type Digest struct {
	Hash  string              `json:"hash,omitzero"` // sha256:…
	Bytes int                 `json:"bytes"`
	Value protocol.RawMessage `json:"value,omitzero"` // only with records.values full
}

// maxValue is the size up to which a record holds a value itself, in bytes.
const maxValue = 64 << 10

// NewDigest returns what a record keeps of a value, nil for a value that does not exist.
// It keeps only the hash of a sensitive value. Hash, size and value are of the value as
// hooks read it, with plain strings: they can be compared with what a hook keeps, and a
// search in a record finds what a hook found.
func NewDigest(v protocol.RawMessage, keep schema.RecordValues, sensitive bool) *Digest {
	if v == nil {
		return nil
	}
	v = jsonspan.Plain(v)
	d := &Digest{Bytes: len(v)}
	if keep != schema.ValuesNone {
		d.Hash = hashOf(v)
	}
	if keep == schema.ValuesFull && !sensitive && len(v) <= maxValue && jsonspan.Valid(v) {
		d.Value = v
	}
	return d
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Redact returns a run without what may repeat its event, for a record that is not to
// hold values of events. It keeps the length and the hash of stderr, and no quotation in
// a message that is longer than a word. The reason of a verdict stays, because people
// are to read it.
func Redact(run protocol.Run, values schema.RecordValues) protocol.Run {
	if values == schema.ValuesFull || run.Sensitive { // of a sensitive one nothing is left to take out
		return run
	}
	if run.Hash != "" && run.Stderr != "" { // a Go hook has no stderr, but a stack
		text := fmt.Sprintf("[%d bytes", len(run.Stderr))
		if values != schema.ValuesNone {
			text += ", " + hashOf([]byte(run.Stderr))
		}
		run.Stderr = text + "]"
	}
	run.Detail = unquoted(run.Detail)
	var warnings []string
	for _, w := range run.Warnings {
		warnings = append(warnings, unquoted(protocol.WithoutOutput(w)))
	}
	run.Warnings = warnings
	return run
}

// quote is a quotation, as %q writes it.
var quote = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(?:[^"\\]|\\.)*"`) })

// maxQuote is that of a word, with its quotes.
const maxQuote = 14

func unquoted(text string) string {
	return quote().ReplaceAllStringFunc(text, func(quoted string) string {
		if len(quoted) <= maxQuote {
			return quoted
		}
		return `"…"`
	})
}

const (
	maxSearched = 1 << 20 // bytes of data that are searched for what a call is about
	maxHead     = 4 << 10 // bytes of a text that are looked at for it
	maxSubject  = 160     // bytes of it that a record holds
)

// Subject returns what a tool call is about, as a line for [Event.Asked]: its command, or
// the file that it names. If records hold no values, it is only the program that a
// command begins with, and only if that lies in one of the folders: any other word may be
// a secret. It is empty for what a sensitive hook saw.
func Subject(data protocol.RawMessage, values schema.RecordValues, sensitive bool, folders []string) string {
	if sensitive || values == schema.ValuesNone || len(data) > maxSearched {
		return ""
	}
	args := jsonspan.Get(data, "args")
	text := func(names ...string) string {
		for _, name := range names {
			if text := head(jsonspan.Get(args, name)); text != "" {
				return text
			}
		}
		return ""
	}
	command := text("command", "cmd")
	switch {
	case values != schema.ValuesFull:
		return programOf(command, folders)
	case command != "":
		return cutSubject(command)
	}
	return cutSubject(text("path", "file_path", "file"))
}

// head returns the text of a value that is a string, or the beginning of a long one.
func head(value protocol.RawMessage) string {
	if len(value) > 2*maxHead {
		value = append(bytes.ToValidUTF8(value[:wholeEscapes(value, maxHead)], nil), '"')
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// wholeEscapes returns where a JSON string twice as long as size may be cut: at about size,
// and in no escape, nor between the two of one character.
func wholeEscapes(quoted []byte, size int) int {
	i := 1
	for i < size {
		switch {
		case quoted[i] != '\\':
			i++
		case quoted[i+1] != 'u':
			i += 2
		case quoted[i+2]|0x20 == 'd' && quoted[i+3] >= '8': // the first of two
			i += 12
		default:
			i += 6
		}
	}
	return i
}

func cutSubject(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxSubject {
		return text
	}
	return strings.ToValidUTF8(text[:maxSubject], "") + "…"
}

// shellWords are commands of shells that are no programs.
var shellWords = []string{"cd", "export", "source", "set", "eval", "exec", "unset", "alias", "trap", "wait"}

// programOf returns the program that a command begins with, "" if its first word is no
// program of this machine.
func programOf(command string, folders []string) string {
	words := strings.Fields(command)
	if len(words) == 0 {
		return ""
	}
	name := filepath.Base(words[0])
	if !slices.Contains(shellWords, name) && !isProgram(name, folders) {
		return ""
	}
	if len(words) > 1 {
		name += " …"
	}
	return name
}

// maxName is longer than the names of most programs, and shorter than most keys.
const maxName = 32

func isProgram(name string, folders []string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_+"
	if len(name) > maxName || name == "." || name == ".." || strings.Trim(name, letters) != "" {
		return false
	}
	key := knownProgram{name, strings.Join(folders, ":")}
	if _, known := knownPrograms.Load(key); known {
		return true
	}
	found := slices.ContainsFunc(folders, func(folder string) bool {
		info, err := os.Stat(filepath.Join(folder, name))
		return err == nil && info.Mode().IsRegular()
	})
	if found {
		knownPrograms.Store(key, nil)
	}
	return found
}

// knownPrograms are names of programs that were found, so that the few that an agent
// calls over and over are not looked for each time. There are no more of them than files
// in the folders. What was a program once is no secret, even if it is removed.
var knownPrograms sync.Map // of knownProgram

type knownProgram struct{ name, folders string }
