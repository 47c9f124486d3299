package imports

import (
	"strings"

	"github.com/hookd-dev/hookd/schema/document"
)

// Some agents have members for what a shell line can say itself: variables with their
// values, and a folder. They become a part of the line, so that the person sees and
// allows them.

// withEnvironment returns a command line that sets variables first.
func (e *entry) withEnvironment(env *document.Node, line string) string {
	if env == nil || env.Kind == document.Null || len(env.Members) == 0 && env.Kind == document.Object {
		return line
	}
	if env.Kind != document.Object {
		e.wrong(env, "env is "+env.Kind.String()+", not an object")
		return line
	}
	var b strings.Builder
	b.WriteString("export")
	for _, m := range env.Members {
		if m.Value.Kind != document.String || !isVariable(m.Key) || strings.ContainsRune(m.Value.Text, 0) {
			e.wrong(m.Value, "env."+shown(m.Key)+" is no variable with a text")
			return line
		}
		b.WriteString(" " + m.Key + "=" + quoted(m.Value.Text))
	}
	return b.String() + "; " + line
}

func isVariable(name string) bool {
	return name != "" && onlyOf(name, "_") && (name[0] < '0' || name[0] > '9')
}

// onlyOf reports whether a text has letters, digits and some other characters only.
func onlyOf(text, others string) bool {
	return strings.IndexFunc(text, func(c rune) bool {
		word := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !word && !strings.ContainsRune(others, c)
	}) < 0
}

// quoted writes a text as one word of a shell line.
func quoted(text string) string {
	if text != "" && onlyOf(text, "_-./:@%+=,") {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
