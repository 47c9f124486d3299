package bundle

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/interpreter"
)

// noteList says that a list of paths leads into the project: which of them counts
// when is the program's own.
func (c *Code) noteList(in *Builder, word string) {
	value := word
	if before, after, ok := strings.Cut(word, "="); ok && strings.HasPrefix(before, "-") {
		value = after
	}
	if strings.Contains(value, "://") || !strings.ContainsAny(value, ":,") {
		return
	}
	for _, path := range strings.FieldsFunc(value, func(c rune) bool { return c == ':' || c == ',' }) {
		if at := in.Locate(path); at.Name != "" && at.Exists && (strings.ContainsAny(path, "/.") || filepath.IsAbs(path)) {
			c.Note("%q names %s", word, at.Name)
			return
		}
	}
}

// Note notes code of the project that runs and is not part of what is allowed.
func (c *Code) Note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(c.Unwatched, text) {
		c.Unwatched = append(c.Unwatched, text)
	}
}

// NoteKind notes what the words of a command line say by themselves.
func (c *Code) NoteKind(words []string) {
	name := filepath.Base(words[0])
	switch of := interpreter.KindOf(words[0]); of {
	case interpreter.KindRunner:
		c.Note("%s runs what the project says", name)
	case interpreter.KindLauncher:
		if name == "git" && len(words) > 1 && words[1] == "rev-parse" { // it only tells where things are
			return
		}
		c.Note("%s starts another program in the project", name)
	case interpreter.KindOther:
		if interpreter.Sealed(words) {
			return
		}
		c.Note("%s reads settings and modules from the working directory", name)
	default:
		for _, word := range words[1:] {
			if !strings.HasPrefix(word, "-") || word == "--" {
				break // the script; what comes after it is the script's own
			}
			if of.TakesCode(word) {
				c.Note("%s %s takes code from the command line, or finds it by a name", name, strings.SplitN(word, "=", 2)[0])
			}
		}
	}
}

// NoteShim notes an interpreter that is a script itself: version managers put such
// in front of the real one, and choose that by files of the working directory.
func (c *Code) NoteShim(s interpreter.Starter) {
	if s.Shim {
		c.Note("%s is a script that chooses the real %s, perhaps by files of the project", s.Pin.Real, filepath.Base(s.Pin.Real))
	}
}
