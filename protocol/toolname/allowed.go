package toolname

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// Allowed is one word of agent.approval.tools or of --allow: tools that run
// without the loop's own question. It is written as an item of match.tool, and a
// kind also without its @. It matches more strictly than a matcher, which asks a
// guard when it is in doubt: what is in doubt here is not allowed.
type Allowed struct {
	Text string

	kind    protocol.ToolKind
	pattern Pattern
}

// allowedKinds are the words for a kind. A tool that no table knows is of kind other.
var allowedKinds = []protocol.ToolKind{
	protocol.KindShell, protocol.KindWrite, protocol.KindMCP, protocol.KindNet, protocol.KindOther, protocol.KindRead, protocol.KindAgent,
}

// ParseAllowed compiles one word. The error is a [*Error].
func ParseAllowed(item string) (Allowed, error) {
	a := Allowed{Text: item}
	word, isKind := strings.CutPrefix(item, "@")
	if slices.Contains(allowedKinds, protocol.ToolKind(word)) {
		a.kind = protocol.ToolKind(word)
		return a, nil
	}
	switch {
	case isKind:
		return a, &Error{fmt.Sprintf("%q is no kind of tool", shown(item)), nearestAllowed(word)}
	case strings.ContainsAny(item, "( ") && !strings.HasPrefix(item, "/"):
		return a, &Error{fmt.Sprintf("%q is no name of a tool", shown(item)), "the setting agent.tools.bash.allow lists single commands; here write bash for all of them"}
	}
	p, err := ParsePattern(item)
	if err != nil {
		return a, err
	}
	if !p.FitsKnown() {
		return a, &Error{fmt.Sprintf("%q is no tool that hookd knows", shown(item)), nearestAllowed(item)}
	}
	a.pattern = p
	if p.Exact {
		a.kind = kindElsewhere(item)
	}
	return a, nil
}

// kindElsewhere is the kind that a name stands for which only other agents have: Bash
// is any shell. It is "" for our own names and those of MCP servers.
func kindElsewhere(name string) protocol.ToolKind {
	kind := protocol.ToolKind("")
	for _, t := range Vocabulary {
		if t.Name != name {
			continue
		}
		if slices.Contains(strings.Fields(t.Of), "hookd") {
			return ""
		}
		kind = t.Kind
	}
	if kind == protocol.KindOther || kind == protocol.KindMCP {
		return "" // it says nothing of another tool
	}
	return kind
}

// Match reports whether a tool may run without the loop's own question.
func (a Allowed) Match(name string, kind protocol.ToolKind) bool {
	if kind == "" {
		kind = protocol.KindOther
	}
	switch p := &a.pattern; {
	case a.kind != "":
		return kind == a.kind
	case len(name) > longestName:
		return false
	case p.Exact:
		return p.Text == name
	default:
		return p.Match(name, kind)
	}
}

// nearestAllowed is the remedy for a word that nobody knows.
func nearestAllowed(item string) string {
	var kinds, known []string
	for _, kind := range allowedKinds {
		kinds = append(kinds, string(kind))
	}
	known = append(known, kinds...)
	for _, t := range Vocabulary {
		known = append(known, t.Name)
	}
	words := "write a tool's name (bash, write_file, mcp__SERVER__TOOL), a glob (mcp__github__*), or a kind (" + strings.Join(kinds, ", ") + ")"
	if meant := text.Nearest(item, known); meant != "" {
		return fmt.Sprintf("did you mean %s? Else %s", meant, words)
	}
	return words
}

// SplitAllowed splits a list of words at its commas, but not inside a regular
// expression, braces or brackets.
func SplitAllowed(list string) (words []string) {
	depth, begin := 0, 0
	inRegexp := false
	for i, c := range list {
		switch {
		case c == '/' && strings.TrimSpace(list[begin:i]) == "":
			inRegexp = true
		case c == '/' && inRegexp && (i+1 == len(list) || list[i+1] == ','):
			inRegexp = false
		case inRegexp:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth <= 0:
			words, begin, depth = append(words, strings.TrimSpace(list[begin:i])), i+1, 0
		}
	}
	return append(words, strings.TrimSpace(list[begin:]))
}
