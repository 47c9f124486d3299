package executor

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// longestLooked is how much data is looked through for what a call is about.
const longestLooked = 1 << 20

// longestAsked is how much of it a record holds, in bytes.
const longestAsked = 160

// asking is what a tool call is about, in a line for the record: its command, or the
// file that it names. Where records hold no values it is a word of that: the program,
// the file's own name. Of what a sensitive hook saw it is nothing.
func (t *trip) asking(values schema.RecordValues, sensitive bool) string {
	if !t.spec.Tool || sensitive || values == schema.ValuesNone || len(t.first.Data) > longestLooked {
		return ""
	}
	args := protocol.Member(t.first.Data, "args")
	text := func(names ...string) string {
		for _, name := range names {
			var text string
			if json.Unmarshal(protocol.Member(args, name), &text) == nil && text != "" {
				return text
			}
		}
		return ""
	}
	command, file := text("command", "cmd"), text("path", "file_path", "file")
	switch {
	case values == schema.ValuesFull && command != "":
		return cutText(command)
	case values == schema.ValuesFull:
		return cutText(file)
	case command != "":
		return programOf(command)
	}
	return plainWord(path.Base(strings.ReplaceAll(file, `\`, "/")))
}

func cutText(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= longestAsked {
		return text
	}
	return strings.ToValidUTF8(text[:longestAsked], "") + "…"
}

// programOf is the program that a command begins with, "" where its first word is none
// that can be told: a value for a variable, say.
func programOf(command string) string {
	words := strings.Fields(command)
	if len(words) == 0 {
		return ""
	}
	word := plainWord(path.Base(words[0]))
	if word != "" && len(words) > 1 {
		word += " …"
	}
	return word
}

// longestWord is longer than the names of most programs and files, and shorter than
// most keys.
const longestWord = 24

// plainWord is a word that is the name of something, "" for any other.
func plainWord(word string) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_+"
	if utf8.RuneCountInString(word) > longestWord || word == "." || strings.Trim(word, letters) != "" {
		return ""
	}
	return word
}
