package toolname

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/patterns"
)

// Pattern is one compiled item of match.tool. Exactly one way of matching
// is set.
type Pattern struct {
	Text  string
	Kind  protocol.ToolKind // of an @kind
	Regex *regexp.Regexp    // of a /RE2/, anchored at both ends
	Glob  bool              // Text is a glob
	Exact bool              // Text is the name

	glob *regexp.Regexp
}

// Error says why a text is no pattern, and what to write.
type Error struct{ Message, Remedy string }

func (e *Error) Error() string { return e.Message + ": " + e.Remedy }

// shown cuts a pattern to a length that a message has room for.
func shown(pattern string) string { return text.Shorten(pattern, 60) }

// longestName is the longest name of a tool, in bytes, that is compared with a
// pattern. Any pattern fits a longer one, so that a guard is asked.
const longestName = 1000

// ParsePattern compiles one item of match.tool: an exact name, a glob, a
// /RE2/ or an @kind. The error is a [*Error].
func ParsePattern(pattern string) (Pattern, error) {
	p := Pattern{Text: pattern}
	const longest = 1000
	switch {
	case len(pattern) > longest:
		return p, &Error{fmt.Sprintf("%q has %d characters", shown(pattern), len(pattern)), fmt.Sprintf("write at most %d, or several patterns", longest)}
	case pattern == "":
		return p, &Error{"an empty pattern matches nothing", "write * for every tool"}
	case strings.HasPrefix(pattern, "@"):
		kind, known := Kinds[pattern]
		if !known {
			return p, &Error{fmt.Sprintf("%q is no kind of tool", shown(pattern)), "the kinds are @shell @read @write @net @mcp @agent"}
		}
		p.Kind = kind
	case strings.HasPrefix(pattern, "/"):
		inner, closed := strings.CutSuffix(pattern[1:], "/")
		if !closed || inner == "" {
			return p, &Error{fmt.Sprintf("%q is no regular expression", shown(pattern)), "write one between two slashes: /mcp__.*/"}
		}
		compiled, err := patterns.Compile(`\A(?:` + inner + `)\z`)
		if err != nil {
			return p, &Error{fmt.Sprintf("%q is no regular expression: %s", shown(pattern), regexpProblem(inner, err)), "correct it (RE2 syntax), or list the names"}
		}
		p.Regex = compiled
	case strings.ContainsFunc(pattern, notInNames):
		return p, &Error{fmt.Sprintf("%q is neither a tool's name nor a glob", shown(pattern)), "write several names as a list, a regular expression between slashes (/Edit|Write/), and conditions on arguments in match.when"}
	case strings.ContainsAny(pattern, "*?[{"):
		if !doublestar.ValidatePattern(pattern) {
			return p, &Error{fmt.Sprintf("%q is no valid glob", shown(pattern)), "close the bracket or brace"}
		}
		compiled, err := globExpression(pattern)
		if err != nil {
			return p, &Error{fmt.Sprintf("%q is no valid glob", shown(pattern)), "write it plainly, or list the names"}
		}
		p.Glob, p.glob = true, compiled
	default:
		p.Exact = true
	}
	return p, nil
}

// regexpProblem reports the fault of the expression as it was written.
func regexpProblem(inner string, err error) string {
	if _, own := patterns.Compile(inner); own != nil {
		err = own
	}
	return strings.TrimPrefix(err.Error(), "error parsing regexp: ")
}

// notInNames reports characters that no tool's name or glob has.
func notInNames(c rune) bool {
	return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_-.:/*?[]{},!^@", c)
}

// Match reports whether the pattern matches a tool: the whole name, case
// counting. kind is the tool's own where the event tells it, else "". Names of
// another agent's tools mean those of the same kind here, see [standsFor].
func (p Pattern) Match(name string, kind protocol.ToolKind) bool {
	switch {
	case p.Kind != "":
		kinds := kindsOf(name, kind)
		return len(kinds) == 0 || slices.Contains(kinds, p.Kind)
	case p.Exact:
		return p.Text == name || standsFor(p.Text, name, kind)
	case len(name) > longestName:
		return true // no tool has such a name; whether it fits takes too long to find out
	case strings.HasPrefix(name, "MCP:") && strings.Contains(p.Text, "mcp"):
		return true // Cursor does not say of which server it is
	case p.Regex != nil:
		return slices.ContainsFunc(namesOf(name, kind), p.Regex.MatchString)
	}
	// A star also stands for slashes: a tool's name is no path.
	return p.Glob && slices.ContainsFunc(namesOf(name, kind), p.glob.MatchString)
}

// Seen is the tool of a call as matchers see it.
type Seen struct {
	Name  string // hookd's
	Host  string // as the agent that calls it has it, "" where that is the same
	Kind  protocol.ToolKind
	MayBe []protocol.ToolKind // see [Call]
}

// Fits reports whether the pattern fits a tool by any of its names. One of which nothing
// is proven is what its name looks like, the tool of a server, and a tool of each kind that
// it may be of.
func (p Pattern) Fits(s *Seen) bool {
	if p.Match(s.Name, s.Kind) || s.Host != "" && p.Match(s.Host, s.Kind) {
		return true
	}
	if len(s.MayBe) == 0 {
		return false
	}
	if p.Kind != "" {
		return slices.Contains(s.MayBe, p.Kind)
	}
	theirs := cmp.Or(s.Host, s.Name)
	return p.Match(theirs, protocol.KindOther) || p.Match(theirs, protocol.KindMCP)
}

// FitsKnown reports whether the pattern fits a tool of the vocabulary or could fit
// a tool of an MCP server.
func (p Pattern) FitsKnown() bool {
	if p.Kind != "" || isMCPName(p.Text) || p.Text == "mcp_*" || p.Regex != nil && strings.Contains(p.Text, "mcp") {
		return true
	}
	return slices.ContainsFunc(Vocabulary, func(t Tool) bool { return p.Match(t.Name, t.Kind) })
}

// KnownKinds returns the kinds of the tools of the vocabulary that the pattern fits, nil if
// it fits none of them, or tools of servers, which may be of any kind.
func (p Pattern) KnownKinds() (kinds []protocol.ToolKind) {
	if p.Kind != "" && p.Kind != protocol.KindMCP {
		return []protocol.ToolKind{p.Kind}
	}
	if p.Kind != "" || isMCPName(p.Text) || p.Regex != nil && strings.Contains(p.Text, "mcp") {
		return nil
	}
	for _, t := range knownTools() {
		if p.Match(t.Name, t.Kind) {
			kinds = append(kinds, t.kinds...)
		}
	}
	return kinds
}

// globExpression is the regular expression of a valid glob for tools' names: * is
// any run of characters, ? is one, [a-z] and [!a-z] are classes, {a,b} is either.
// A glob that is tried out word by word takes time that doubles with each pair of
// braces; an expression takes what the name is long.
func globExpression(glob string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString(`(?s)\A(?:`)
	depth, inClass, first := 0, false, false
	for _, c := range glob {
		switch {
		case inClass && c == ']':
			inClass = false
			b.WriteByte(']')
		case inClass && first && (c == '!' || c == '^'):
			b.WriteByte('^')
		case inClass && c == '-':
			b.WriteByte('-')
		case inClass && strings.ContainsRune(`[\^`, c):
			b.WriteString(`\` + string(c))
		case inClass:
			b.WriteRune(c)
		case c == '[':
			inClass, first = true, true
			b.WriteByte('[')
			continue
		case c == '*':
			b.WriteString(`.*`)
		case c == '?':
			b.WriteByte('.')
		case c == '{':
			depth++
			b.WriteString(`(?:`)
		case c == '}' && depth > 0:
			depth--
			b.WriteByte(')')
		case c == ',' && depth > 0:
			b.WriteByte('|')
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
		first = false
	}
	b.WriteString(`)\z`)
	return patterns.Compile(b.String())
}
