package executor

import (
	"os"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/schema"
)

// longestLooked is how much data is looked through for what a call is about.
const longestLooked = 1 << 20

// longestAsked is how much of it a record holds, in bytes.
const longestAsked = 160

// asking is what a tool call is about, in a line for the record: its command, or the
// file that it names. Where records hold no values it is no more than the program that a
// command begins with, if this machine has it: whatever else stands there may be a
// secret. Of what a sensitive hook saw it is nothing.
func (t *trip) asking(values schema.RecordValues, sensitive bool) string {
	if !t.spec.Tool || sensitive || values == schema.ValuesNone || len(t.first.Data) > longestLooked {
		return ""
	}
	args := jsonspan.Get(t.first.Data, "args")
	text := func(names ...string) string {
		for _, name := range names {
			var text string
			if json.Unmarshal(jsonspan.Get(args, name), &text) == nil && text != "" {
				return text
			}
		}
		return ""
	}
	command := text("command", "cmd")
	switch {
	case values != schema.ValuesFull:
		return programOf(command)
	case command != "":
		return cutText(command)
	}
	return cutText(text("path", "file_path", "file"))
}

func cutText(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= longestAsked {
		return text
	}
	return strings.ToValidUTF8(text[:longestAsked], "") + "…"
}

// shellWords are commands of shells that are no programs.
var shellWords = []string{"cd", "export", "source", "set", "eval", "exec", "unset", "alias", "trap", "wait"}

// programOf is the program that a command begins with, "" where its first word is none
// of this machine's.
func programOf(command string) string {
	words := strings.Fields(command)
	if len(words) == 0 {
		return ""
	}
	name := path.Base(words[0])
	if !slices.Contains(shellWords, name) && !isProgram(name) {
		return ""
	}
	if len(words) > 1 {
		name += " …"
	}
	return name
}

// longestName is longer than the names of most programs, and shorter than most keys.
const longestName = 32

func isProgram(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_+"
	if len(name) > longestName || name == "." || name == ".." || strings.Trim(name, letters) != "" {
		return false
	}
	return slices.ContainsFunc(hookenv.FixedPath, func(folder string) bool {
		info, err := os.Stat(path.Join(folder, name))
		return err == nil && info.Mode().IsRegular()
	})
}
