package schema

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/document"
)

// ToolPattern is one compiled item of match.tool. Exactly one way of matching
// is set.
type ToolPattern struct {
	Text  string
	Kind  protocol.ToolKind // of an @kind
	Regex *regexp.Regexp    // of a /RE2/, anchored at both ends
	Glob  bool              // Text is a glob
	Exact bool              // Text is the name

	glob *regexp.Regexp
}

// PatternError says why an item of match.tool is no pattern.
type PatternError struct{ Message, Remedy string }

func (e *PatternError) Error() string { return e.Message + ": " + e.Remedy }

// longestName is the longest name of a tool, in bytes, that is compared with a
// pattern. Any pattern fits a longer one, so that a guard is asked.
const longestName = 1000

// ParseToolPattern compiles one item of match.tool: an exact name, a glob, a
// /RE2/ or an @kind. The error is a [*PatternError].
func ParseToolPattern(text string) (ToolPattern, error) {
	p := ToolPattern{Text: text}
	const longest = 1000
	switch {
	case len(text) > longest:
		return p, &PatternError{fmt.Sprintf("%q has %d characters", clip(text), len(text)), fmt.Sprintf("write at most %d, or several patterns", longest)}
	case text == "":
		return p, &PatternError{"an empty pattern matches nothing", "write * for every tool"}
	case strings.HasPrefix(text, "@"):
		kind, known := MatcherKinds[text]
		if !known {
			return p, &PatternError{fmt.Sprintf("%q is no kind of tool", clip(text)), "the kinds are @shell @read @write @net @mcp @agent"}
		}
		p.Kind = kind
	case strings.HasPrefix(text, "/"):
		inner, closed := strings.CutSuffix(text[1:], "/")
		if !closed || inner == "" {
			return p, &PatternError{fmt.Sprintf("%q is no regular expression", clip(text)), "write one between two slashes: /mcp__.*/"}
		}
		compiled, err := protocol.CompileExpression(`\A(?:` + inner + `)\z`)
		if err != nil {
			return p, &PatternError{fmt.Sprintf("%q is no regular expression: %s", clip(text), regexpProblem(inner, err)), "correct it (RE2 syntax), or list the names"}
		}
		p.Regex = compiled
	case strings.ContainsFunc(text, notInNames):
		return p, &PatternError{fmt.Sprintf("%q is neither a tool's name nor a glob", clip(text)), "write several names as a list, a regular expression between slashes (/Edit|Write/), and conditions on arguments in match.when"}
	case strings.ContainsAny(text, "*?[{"):
		if !doublestar.ValidatePattern(text) {
			return p, &PatternError{fmt.Sprintf("%q is no valid glob", clip(text)), "close the bracket or brace"}
		}
		compiled, err := globExpression(text)
		if err != nil {
			return p, &PatternError{fmt.Sprintf("%q is no valid glob", clip(text)), "write it plainly, or list the names"}
		}
		p.Glob, p.glob = true, compiled
	default:
		p.Exact = true
	}
	return p, nil
}

// regexpProblem reports the fault of the expression as it was written.
func regexpProblem(inner string, err error) string {
	if _, own := protocol.CompileExpression(inner); own != nil {
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
func (p ToolPattern) Match(name string, kind protocol.ToolKind) bool {
	switch {
	case p.Kind != "":
		known := true
		if kind == "" || kind == protocol.KindOther {
			kind, known = KnownTool(name)
		}
		return !known || kind == p.Kind
	case p.Exact:
		return p.Text == name || standsFor(p.Text, name, kind)
	case len(name) > longestName:
		return true // no tool has such a name; whether it fits takes too long to find out
	case p.Regex != nil:
		return slices.ContainsFunc(namesOf(name, kind), p.Regex.MatchString)
	}
	// A star also stands for slashes: a tool's name is no path.
	return p.Glob && slices.ContainsFunc(namesOf(name, kind), p.glob.MatchString)
}

// toolPatterns notes every pattern of match.tool that does not compile.
func (r *reader) toolPatterns(n *document.Node, path string, match *MatchEntry) bool {
	ok := true
	if match == nil {
		return ok
	}
	node := n.Get("match").Get("tool")
	for i, text := range match.Tool {
		_, err := ParseToolPattern(text)
		problem := (*PatternError)(nil)
		if !errors.As(err, &problem) {
			continue
		}
		ok = false
		at, place := join(join(path, "match"), "tool"), node
		if place != nil && place.Kind == document.List && i < len(place.Items) {
			at, place = index(at, i), place.Items[i]
		}
		if place == nil {
			place = n
		}
		r.fault(place, at, CodeBadMatcher, problem.Message, problem.Remedy)
	}
	return ok
}

// matchWarnings notes what a matcher does other than its author probably
// thinks.
func (r *reader) matchWarnings(at Pos, match Match, events []protocol.EventName) {
	restricts := []struct {
		key   string
		given bool
		has   func(*protocol.Spec) bool
	}{
		{"tool", len(match.Tool) > 0, func(s *protocol.Spec) bool { return s.Tool }},
		{"source", len(match.Source) > 0, func(s *protocol.Spec) bool { return s.Source }},
		{"step", match.Step != "", func(s *protocol.Spec) bool { return s.StepType }},
	}
	for _, key := range restricts {
		if !key.given {
			continue
		}
		var without []string
		for _, event := range events {
			if s := protocol.Lookup(event); s != nil && !key.has(s) {
				without = append(without, string(event))
			}
		}
		if len(without) > 0 {
			r.at(at, SeverityWarning, CodeMatchNoMeaning, fmt.Sprintf("match.%s does not restrict at %s: the hook runs there whatever it says", key.key, some(without)),
				fmt.Sprintf("remove match.%s, or describe the hook for other events", key.key))
		}
	}
	for _, text := range match.Tool {
		if p, err := ParseToolPattern(text); err == nil && !p.known() {
			r.at(at, SeverityWarning, CodeUnknownTool, fmt.Sprintf("match.tool %q matches no tool that hookd knows", text), toolRemedy(text))
		} else if p.Exact {
			r.elsewhere(at, text)
		}
	}
	for _, source := range match.Source {
		if !slices.Contains(KnownSources, source) {
			r.at(at, SeverityWarning, CodeUnknownSource, fmt.Sprintf("match.source %q is no source that an event has", clip(source)), "the sources are "+strings.Join(KnownSources, ", "))
		}
	}
}

// known reports whether the pattern fits a tool of the vocabulary or could fit
// a tool of an MCP server.
func (p ToolPattern) known() bool {
	if p.Kind != "" || isMCPName(p.Text) || p.Text == "mcp_*" || p.Regex != nil && strings.Contains(p.Text, "mcp") {
		return true
	}
	return slices.ContainsFunc(Vocabulary, func(t ToolName) bool { return p.Match(t.Name, t.Kind) })
}

// elsewhere notes an exact name that only another agent's tools have.
func (r *reader) elsewhere(at Pos, text string) {
	if server, isMCP := strings.CutPrefix(text, "mcp__"); isMCP && !strings.Contains(server, "__") {
		r.at(at, SeverityWarning, CodeUnknownTool, fmt.Sprintf("match.tool %q can match no tool: those of a server are called mcp__SERVER__TOOL", text),
			fmt.Sprintf("write %s__* for all tools of that server, or @mcp for those of all servers", text))
		return
	}
	known := knownTools()[text]
	if known == nil || slices.Contains(known.agents, ourAgent) || hasOurs(known.Kind) {
		return
	}
	r.at(at, SeverityWarning, CodeUnknownTool,
		fmt.Sprintf("match.tool %q is a tool of %s; the agent of hookd itself has none like it, so the hook never runs there", text, strings.Join(known.agents, ", ")),
		kindsRemedy)
}

const kindsRemedy = "for all tools of a kind, whoever has them, write @shell @read @write @net @mcp or @agent"

func toolRemedy(text string) string {
	var names []string
	for _, t := range Vocabulary {
		names = append(names, t.Name)
	}
	if meant := nearest(text, names); meant != "" {
		return fmt.Sprintf("did you mean %q? The whole name must match and case counts; %s", meant, kindsRemedy)
	}
	return "check the name: the whole name must match and case counts; leave it if the tool is one of your own; " + kindsRemedy
}

// some lists names, the first few if there are many.
func some(names []string) string {
	const few = 4
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
