package examples

import (
	"bufio"
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Hook is a hook to take: a file of the folder hooks that says of itself, in its first
// lines, what it is for.
//
//	# why: one line for a person who chooses
//	# group: one of Groups
//	# needs: python3, notify-send
//	# option HOOKD_ALLOWED_HOSTS: hosts that are allowed, with commas
//
// Its tests lie beside it and are taken with it.
type Hook struct {
	Name    string   // without an ending: what hookd new --from takes
	File    string   // its name in a hooks folder
	Why     string   // one line
	Group   string   // one of Groups
	Rules   bool     // a file of rules, which starts no program
	Events  []string // in the order in which they are written
	Needs   []string // programs that must be on PATH
	Options []Option
	Text    []byte

	TestFile string
	Tests    []byte
}

// Option is something that a person may set about a hook.
type Option struct{ Name, Meaning string }

// Groups are the groups of hooks, in the order in which they are listed.
var Groups = []string{"commands", "files", "secrets", "network", "quality", "context", "watching"}

// rulesEnding is the ending of a file of rules.
const rulesEnding = ".rules.yaml"

// headLines bounds the lines in which a hook says what it is for.
const headLines = 40

// Hooks returns the hooks to take, by group and name.
func Hooks() []Hook {
	entries, _ := fs.ReadDir(Files, "hooks") // embedded: it cannot fail
	var hooks []Hook
	for _, entry := range entries {
		if strings.Contains(entry.Name(), ".test.") {
			continue
		}
		text, _ := Files.ReadFile("hooks/" + entry.Name())
		if h, is := readHook(entry.Name(), text); is {
			hooks = append(hooks, h)
		}
	}
	slices.SortStableFunc(hooks, func(a, b Hook) int {
		return slices.Index(Groups, a.Group) - slices.Index(Groups, b.Group)
	})
	return hooks
}

// Find returns the hook of a name, which may have the ending of its file.
func Find(name string) (Hook, bool) {
	hooks := Hooks()
	i := slices.IndexFunc(hooks, func(h Hook) bool { return h.Name == name || h.File == name })
	if i < 0 {
		return Hook{}, false
	}
	return hooks[i], true
}

// readHook reads what a file says of itself. A file without a why is an example of how
// something is written, and none to take.
func readHook(file string, text []byte) (h Hook, is bool) {
	h = Hook{File: file, Name: strings.TrimSuffix(file, path.Ext(file)), Text: text}
	tests := file
	if name, rules := strings.CutSuffix(file, rulesEnding); rules {
		h.Name, h.Rules, tests = name, true, name
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for n := 0; lines.Scan(); n++ {
		line, comment := strings.CutPrefix(lines.Text(), "# ")
		if !comment {
			line, comment = strings.CutPrefix(lines.Text(), "// ")
		}
		if comment && n < headLines {
			h.readLine(line)
		}
		if events, found := strings.CutPrefix(strings.TrimSpace(lines.Text()), "events: ["); found && h.Rules {
			h.addEvents(strings.Split(strings.TrimSuffix(events, "]"), ","))
		}
	}
	if h.Why == "" {
		return h, false
	}
	h.TestFile = tests + ".test.yaml"
	h.Tests, _ = Files.ReadFile("hooks/" + h.TestFile)
	return h, true
}

func (h *Hook) readLine(line string) {
	key, value, said := strings.Cut(line, ": ")
	value = strings.TrimSpace(value)
	option, isOption := strings.CutPrefix(key, "option ")
	switch {
	case !said:
	case key == "why":
		h.Why = value
	case key == "group":
		h.Group = value
	case key == "needs":
		h.Needs = strings.Split(value, ", ")
	case isOption:
		h.Options = append(h.Options, Option{option, value})
	case key == "hook":
		for word := range strings.FieldsSeq(value) {
			if events, is := strings.CutPrefix(word, "events="); is {
				h.addEvents(strings.Split(events, ","))
			}
		}
	}
}

func (h *Hook) addEvents(names []string) {
	for _, name := range names {
		if name = strings.TrimSpace(name); !slices.Contains(h.Events, name) {
			h.Events = append(h.Events, name)
		}
	}
}

// Markdown returns an entry for each hook to take, by group, for the documentation.
func Markdown() string {
	var b strings.Builder
	group := ""
	for _, h := range Hooks() {
		if h.Group != group {
			group = h.Group
			b.WriteString("## " + strings.ToUpper(group[:1]) + group[1:] + "\n\n")
		}
		what := "a program"
		if h.Rules {
			what = "rules"
		}
		b.WriteString("### " + h.Name + "\n\n" + strings.ToUpper(h.Why[:1]) + h.Why[1:] + ".\n\n")
		b.WriteString("- [" + h.File + "](../examples/hooks/" + h.File + "), " + what + ", asked at `" + strings.Join(h.Events, "` `") + "`\n")
		if len(h.Needs) > 0 {
			b.WriteString("- needs " + strings.Join(h.Needs, ", ") + "\n")
		}
		for _, o := range h.Options {
			b.WriteString("- option `" + o.Name + "`: " + strings.ReplaceAll(o.Meaning, "*", `\*`) + "\n")
		}
		b.WriteString("- [its tests](../examples/hooks/" + h.TestFile + ")\n\n")
	}
	return b.String()
}
