package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
	"github.com/hookd-dev/hookd/schema/document"
)

// knownSources are the values data.source has at some event.
var knownSources = []string{"startup", "resume", "fork", "user", "follow-up", "recipe", "hook", "sub-agent"}

// toolPatterns notes every pattern of match.tool that does not compile.
func (r *reader) toolPatterns(n *document.Node, path string, match *MatchEntry) bool {
	ok := true
	if match == nil {
		return ok
	}
	node := n.Get("match").Get("tool")
	for i, tool := range match.Tool {
		_, err := toolname.ParsePattern(tool)
		problem := (*toolname.Error)(nil)
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
	for _, tool := range match.Tool {
		if p, err := toolname.ParsePattern(tool); err == nil && !p.FitsKnown() {
			r.at(at, SeverityWarning, CodeUnknownTool, fmt.Sprintf("match.tool %q matches no tool that hookd knows", tool), toolRemedy(tool))
		} else if p.Exact {
			r.elsewhere(at, tool)
		}
	}
	for _, source := range match.Source {
		if !slices.Contains(knownSources, source) {
			r.at(at, SeverityWarning, CodeUnknownSource, fmt.Sprintf("match.source %q is no source that an event has", clip(source)), "the sources are "+strings.Join(knownSources, ", "))
		}
	}
}

// elsewhere notes an exact name that only another agent's tools have.
func (r *reader) elsewhere(at Pos, tool string) {
	if server, isMCP := strings.CutPrefix(tool, "mcp__"); isMCP && !strings.Contains(server, "__") {
		r.at(at, SeverityWarning, CodeUnknownTool, fmt.Sprintf("match.tool %q can match no tool: those of a server are called mcp__SERVER__TOOL", tool),
			fmt.Sprintf("write %s__* for all tools of that server, or @mcp for those of all servers", tool))
		return
	}
	if agents := toolname.Foreign(tool); agents != nil {
		r.at(at, SeverityWarning, CodeUnknownTool,
			fmt.Sprintf("match.tool %q is a tool of %s; the agent of hookd itself has none like it, so the hook never runs there", tool, strings.Join(agents, ", ")),
			kindsRemedy)
	}
}

const kindsRemedy = "for all tools of a kind, whoever has them, write @shell @read @write @net @mcp or @agent"

func toolRemedy(tool string) string {
	var names []string
	for _, t := range toolname.Vocabulary {
		names = append(names, t.Name)
	}
	if meant := text.Nearest(tool, names); meant != "" {
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
