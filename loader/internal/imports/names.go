package imports

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/hookd-dev/hookd/internal/shellwords"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/schema"
)

// A hook of another agent's settings has no name there. It gets one of the agent, the
// event and the script that it starts: claude:PreToolUse:guard.sh. Where the agent has names
// for its hooks, theirs stands in the script's place. So a hook keeps its name,
// and with it what a person decided about it, wherever it stands in the file and whatever
// its other members say. Hooks that would have one name are numbered in the order of the
// files: claude:PreToolUse:guard.sh#2.

// giveNames gives each hook its name.
func giveNames(hooks []Hook) {
	taken := map[string]int{}
	for i := range hooks {
		h := &hooks[i]
		name := h.Agent + ":"
		if h.Event != "" {
			name += h.Event + ":"
		}
		if h.Called != "" {
			name += text.Shorten(h.Called, longestName)
		} else {
			name += scriptOf(h)
		}
		name = plain(name)
		if taken[name]++; taken[name] > 1 {
			name += fmt.Sprintf("#%d", taken[name])
		}
		h.Name = name
	}
}

// longestName bounds what of a script's name is taken over.
const longestName = 80

// plain leaves in a name what every terminal and file system takes.
func plain(name string) string {
	return strings.Map(func(c rune) rune {
		if c == '/' || c == '\\' || unicode.IsControl(c) || unicode.IsSpace(c) || !unicode.IsPrint(c) {
			return '-'
		}
		return c
	}, strings.ToValidUTF8(name, "-"))
}

// scriptOf is what the hook's command starts, in one word.
func scriptOf(h *Hook) string {
	words := h.Argv
	switch {
	case h.File != "":
		words = []string{h.File}
	case h.Shell != "":
		words = firstCommand(h.Shell)
	}
	if len(words) == 0 {
		return "entry"
	}
	word := words[0]
	if interpreter.KindOf(word) != interpreter.KindUnknown {
		word = startedBy(words)
	}
	word = strings.Trim(path.Base(strings.Trim(word, `"'`)), `"'`)
	if word == "" || word == "." || word == "/" {
		word = "entry"
	}
	return text.Shorten(word, longestName)
}

// startedBy is what a program that starts others is given to start: the first word that may
// be a file, else the first that may be the name of a program.
func startedBy(words []string) string {
	var names []string
	for _, word := range words[1:] {
		if !strings.HasPrefix(word, "-") && !strings.ContainsAny(word, "= \t\n") && strings.Trim(word, "./") != "" {
			names = append(names, word)
		}
	}
	if i := slices.IndexFunc(names, func(word string) bool { return strings.ContainsAny(word, "/.") }); i >= 0 {
		return names[i]
	}
	ofIts := []string{"run", "exec", "x", "tool", "script", "test"} // what a runner does, no program
	i := slices.IndexFunc(names, func(word string) bool { return !slices.Contains(ofIts, word) })
	if i < 0 || path.Base(words[0]) == "git" {
		return words[0]
	}
	return names[i]
}

// setUp are commands that only prepare for the one that a line is there for.
var setUp = []string{"cd", "export", "set", "source", ".", "exit", "test", "[", "[["}

// firstCommand is the first command of a line that does not only prepare for another.
func firstCommand(line string) []string {
	commands := shellwords.Split(line).Commands
	commands = slices.DeleteFunc(commands, func(c shellwords.Command) bool { return len(c.Words) == 0 })
	if len(commands) == 0 {
		return nil
	}
	at := max(0, slices.IndexFunc(commands, func(c shellwords.Command) bool { return !slices.Contains(setUp, c.Words[0].Text) }))
	words := make([]string, len(commands[at].Words))
	for i, w := range commands[at].Words {
		words[i] = withoutSubstitutions(w.Text)
	}
	return words
}

// withoutSubstitutions leaves out commands that stand in a word for a folder:
// "$(git rev-parse --show-toplevel)/guard.py" is /guard.py.
func withoutSubstitutions(word string) string {
	for {
		before, rest, is := strings.Cut(word, "$(")
		inner, after, ends := strings.Cut(rest, ")")
		if !is || !ends || strings.Contains(inner, "(") {
			return word
		}
		word = before + after
	}
}

// withoutRepeats leaves out entries that are equal to an earlier one but for their
// matcher, as an agent does that runs such a hook once. The first one then fits whatever
// either fits.
func withoutRepeats(hooks []Hook) []Hook {
	var kept []Hook
	first := map[string]int{}
	for _, h := range hooks {
		key := h
		key.Pos, key.Description, key.Argv = schema.Pos{}, "", nil
		if h.Dialect == "copilot" {
			key.Matcher = h.Matcher
		} else {
			key.Matcher = ""
		}
		id := fmt.Sprintf("%q %q", fmt.Sprintf("%+v", key), h.Argv)
		at, seen := first[id]
		if h.Faulty || !seen {
			first[id] = len(kept)
			kept = append(kept, h)
			continue
		}
		if kept[at].Matcher != h.Matcher {
			kept[at].Matcher = either(h.Dialect, kept[at].Matcher, h.Matcher)
		}
	}
	return kept
}

// either is a matcher that fits what one of two fits.
func either(dialect, a, b string) string {
	for _, m := range []string{a, b} {
		if m == "" || m == "*" {
			return ""
		}
	}
	one := func(m string) string {
		if dialect == "claude" && onlyOf(m, "_- ,|") { // a list of names, which fit as a whole
			names := strings.FieldsFunc(m, func(c rune) bool { return c == ',' || c == '|' || c == ' ' })
			return "^(?:" + strings.Join(names, "|") + ")$"
		}
		return "(?:" + m + ")"
	}
	return one(a) + "|" + one(b)
}

// skipOurs leaves out entries that start hookd: the hooks that they would ask are asked
// anyway.
func (r *reader) skipOurs() {
	r.hooks = slices.DeleteFunc(r.hooks, func(h Hook) bool {
		if h.Faulty || !StartsHookd(&h, func(string) bool { return false }) {
			return false
		}
		r.findings = append(r.findings, Ours(&h))
		return true
	})
}

// StartsHookd reports whether a hook's command has hookd ask hooks: by its name, or by a
// path of which is says that it is hookd. One that only uses hookd (hookd get) does not.
func StartsHookd(h *Hook, is func(path string) bool) bool {
	starts := func(words []string) bool {
		return len(words) > 0 && (asksHooks(words, is) || interpreter.KindOf(words[0]) != interpreter.KindUnknown && asksAfter(words, is))
	}
	if h.Shell == "" {
		return starts(h.Argv)
	}
	for _, c := range shellwords.Split(h.Shell).Commands {
		words := make([]string, len(c.Words))
		for i, word := range c.Words {
			words[i] = word.Text
		}
		if starts(words) {
			return true
		}
	}
	return false
}

// asksAfter reports whether a program that starts others is given hookd to start.
func asksAfter(words []string, is func(path string) bool) bool {
	for i := range words[1:] {
		if asksHooks(words[i+1:], is) {
			return true
		}
	}
	return false
}

// uses are subcommands of hookd that hooks use, and that ask none.
var uses = []string{"get", "reply", "schema", "version", "--version", "help", "--help", "log", "check", "list"}

func asksHooks(words []string, is func(path string) bool) bool {
	if len(words) == 0 {
		return false
	}
	name, _, _ := strings.Cut(path.Base(strings.ReplaceAll(strings.Trim(words[0], `"'`), `\`, "/")), "@")
	switch name = strings.TrimSuffix(name, ".exe"); {
	case name == "hookd-bridge":
		return true
	case name != "hookd" && name != "$HOOKD" && name != "${HOOKD}" && !is(words[0]):
		return false
	}
	return len(words) < 2 || !slices.Contains(uses, words[1])
}

// Ours says that an entry starts hookd and is left out.
func Ours(h *Hook) schema.Finding {
	remedy := "nothing need be done: the hooks that it would ask are asked anyway"
	if doesMore(h) {
		remedy = "the hooks that it would ask are asked anyway; what else the line does is not done here: write it as an entry of its own"
	}
	return report.New(report.ImportOurs, h.Pos.File, h.Pos.Line, "", Find(h.Agent).Title+": "+h.Event+": the entry starts hookd itself, and is not imported", remedy)
}

// doesMore reports whether a line has a command besides hookd that may be a hook.
func doesMore(h *Hook) bool {
	if h.Shell == "" {
		return false
	}
	for _, c := range shellwords.Split(h.Shell).Commands {
		if len(c.Words) == 0 || c.Given {
			continue
		}
		program := c.Words[0].Text
		if !slices.Contains(setUp, program) && !slices.Contains([]string{"echo", "printf", "true", ":", "command", "exec", "env"}, program) && !strings.Contains(program, "hookd") && interpreter.KindOf(program) == interpreter.KindUnknown {
			return true
		}
	}
	return false
}
