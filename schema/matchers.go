package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/protocol/rule"
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
		{"command", len(match.Command) > 0, func(s *protocol.Spec) bool { return s.Tool }},
		{"path", len(match.Path) > 0, func(s *protocol.Spec) bool { return s.Tool }},
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
	r.matchesNever(at, match)
	for _, source := range match.Source {
		if !slices.Contains(knownSources, source) {
			r.at(at, SeverityWarning, CodeUnknownSource, fmt.Sprintf("match.source %q is no source that an event has", clip(source)), "the sources are "+strings.Join(knownSources, ", "))
		}
	}
}

// matchesNever notes keys that are about calls of other kinds than each other, or than
// match.tool admits: no call holds all of them, and the hook does nothing.
func (r *reader) matchesNever(at Pos, match Match) {
	if len(match.Command) > 0 && len(match.Path) > 0 {
		r.at(at, SeverityWarning, CodeMatchNever, "match.command is about calls of shells, and match.path about calls that read or write files: no call is both, and the hook is never asked",
			"write a hook for each of the two")
		return
	}
	for _, key := range []struct {
		name  string
		given bool
		what  string
		kinds []protocol.ToolKind
		words string
	}{
		{"command", len(match.Command) > 0, "calls of shells", []protocol.ToolKind{protocol.KindShell}, "@shell"},
		{"path", len(match.Path) > 0, "calls that read or write files", []protocol.ToolKind{protocol.KindRead, protocol.KindWrite}, "@read, @write or both"},
	} {
		if !key.given || len(match.Tool) == 0 || slices.ContainsFunc(match.Tool, func(tool string) bool { return mayBeOf(tool, key.kinds) }) {
			continue
		}
		r.at(at, SeverityWarning, CodeMatchNever, fmt.Sprintf("match.%s is about %s, and match.tool %s is none of these: the hook is never asked", key.name, key.what, some(match.Tool)),
			fmt.Sprintf("leave match.tool out, or write %s", key.words))
	}
}

// mayBeOf reports whether a pattern for tools admits one of some kinds, or one of which
// nobody knows the kind.
func mayBeOf(tool string, kinds []protocol.ToolKind) bool {
	p, err := toolname.ParsePattern(tool)
	if err != nil {
		return true // said where it is read
	}
	known := p.KnownKinds()
	return known == nil || slices.ContainsFunc(known, func(kind protocol.ToolKind) bool { return slices.Contains(kinds, kind) })
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

// foreignOf is the protocol of another agent that a description names, nil if it names
// none. It is looked up before all else, because names of events, bare numbers and
// commands mean what they mean there.
func foreignOf(n *document.Node) *foreignhooks.Agent {
	named := n.Get("dialect")
	if named == nil || named.Kind != document.String && named.Kind != document.Word {
		return nil
	}
	return foreignhooks.Find(named.Text)
}

// setEvents fills in what a hook's dialect decides: its events by their names there, and
// how long it may take.
func (m *merged) setEvents(h *Hook, defaults Defaults) {
	f := h.Foreign()
	h.Matcher = or(m.Matcher, "")
	if f == nil {
		h.Events = canonical(m.Events)
		return
	}
	h.Named = m.Events
	named := map[protocol.EventName]bool{}
	for _, name := range m.Events {
		if event, err := f.Resolve(name); err == nil {
			named[event] = true
		}
	}
	for _, e := range f.Events {
		named[e.Event] = named[e.Event] || e.Event != "" && slices.Contains(m.Events, AllEvents)
	}
	for i := range protocol.Table {
		if named[protocol.Table[i].Name] {
			h.Events = append(h.Events, protocol.Table[i].Name)
		}
	}
	if m.Timeout == nil && defaults.Timeout == builtInTimeout {
		h.Timeout = f.Limit
		if defaults.Budget > 0 {
			h.Timeout = min(f.Limit, defaults.Budget)
		}
	}
}

// builtInTimeout is hooks.timeout where no settings say another one.
const builtInTimeout = 30 * time.Second

// refusesElsewhere reports whether the hook could refuse an event in its own agent's
// meaning, although it says nothing of it here.
func (h *Hook) refusesElsewhere() bool {
	f := h.Foreign()
	return f != nil && h.Can == protocol.CanModify && f.CanRefuse(h.Events, h.Named)
}

// foreign checks what only a hook of another agent's dialect may say, and what such a
// hook may not.
func (m *merged) foreign(r *reader, h *Hook) (ok bool) {
	f := h.Foreign()
	if f == nil {
		if m.Matcher != nil {
			r.at(m.at("matcher"), SeverityError, CodeConflict, "matcher is compared as another agent does, and no dialect says which", `write match.tool, or "dialect" with one of `+strings.Join(Dialects[1:], ", "))
		}
		return m.Matcher == nil
	}
	ok = true
	if h.Run != Once {
		r.at(m.at("run"), SeverityError, CodeConflict, fmt.Sprintf("a hook of %s is started for each event: run %s has no meaning for it", f.Title, h.Run), "leave run out")
		ok = false
	}
	for _, name := range m.Events {
		if name == AllEvents {
			continue
		}
		_, err := f.Resolve(name)
		wrong, is := errors.AsType[*foreignhooks.EventError](err)
		switch {
		case !is:
		case wrong.Known && len(h.Events) > 0:
			r.at(m.at("events"), SeverityWarning, CodeUnknownEvent, wrong.Error(), "take it off events")
		default:
			r.at(m.at("events"), SeverityError, CodeUnknownEvent, wrong.Error(), "the events of "+f.Title+" that hookd has are "+strings.Join(mapped(f), ", "))
			ok = false
		}
	}
	return ok
}

// mapped are the names of an agent's events that hookd has, too.
func mapped(f *foreignhooks.Agent) (names []string) {
	for _, e := range f.Events {
		if e.Event != "" {
			names = append(names, e.Name)
		}
	}
	return names
}

// foreignWarnings says what is different with a hook of another agent from what its
// author, or the person who relies on it, may think.
func (m *merged) foreignWarnings(r *reader, h *Hook) {
	f := h.Foreign()
	if f == nil {
		return
	}
	if _, err := f.Select(h.Named, h.Matcher); err != nil {
		r.at(m.at("matcher"), SeverityWarning, CodeBadMatcher, err.Error()+": the hook is asked about every tool", "write a regular expression without look-around and back-references")
	}
	if h.ByDialect && f.FailsOpen != "" {
		r.at(m.at("dialect"), SeverityWarning, CodeFailsOpen, f.FailsOpen+", and so it is here", `add onFailure: block, or write onFailure: continue to say that it is meant`)
	}
}

// setReply fills in what a rule answers. It is asked with the blockers, about the final
// event, whatever it answers.
func (m *merged) setReply(h *Hook) {
	if m.Reply == nil && !m.unknown("reply") {
		return
	}
	h.Can = protocol.CanBlock
	if m.Reply == nil {
		return
	}
	h.Reply = &rule.Reply{
		Action: protocol.Action(or(m.Reply.Action, "")), Reason: or(m.Reply.Reason, ""),
		Context: or(m.Reply.Context, ""), Notice: or(m.Reply.Notice, ""),
	}
}

// noRule are the fields of an entry that say how a program is asked.
var noRule = []string{"args", "protocol", "matcher", "run", "env", "files", "inPlace", "dir", "dialect"}

// reply checks what a rule says, and that it says nothing of a program.
func (m *merged) reply(r *reader, h *Hook) (ok bool) {
	if m.Reply == nil {
		return true
	}
	ok = true
	fault := func(at Pos, code Code, message, remedy string) {
		r.at(at, SeverityError, code, message, remedy)
		ok = false
	}
	for _, field := range noRule {
		if m.by(field) != nil {
			fault(m.at(field), CodeConflict, field+" is about a program, and an entry with a reply starts none", "leave "+field+" out")
		}
	}
	if m.Can != nil && *m.Can != string(protocol.CanBlock) {
		fault(m.at("can"), CodeConflict, fmt.Sprintf("can %s does not fit a rule: it answers what its reply says, about the final event", *m.Can), "leave can out")
	}
	for _, key := range ofCalls(&h.Match) {
		for _, event := range h.Events {
			if spec := protocol.Lookup(event); spec != nil && !spec.Tool {
				fault(m.at("match"), CodeMatchNoMeaning, fmt.Sprintf("match.%s is about calls of tools, and %s is none: the rule would answer every such event", key, event), "take "+string(event)+" off its events")
			}
		}
	}
	_, problems := rule.Compile(h.Reply, h.Events)
	for _, p := range problems {
		at := m.at("reply")
		if at.Path != "" && p.Field != "" {
			at.Path = join(at.Path, p.Field)
		}
		fault(at, CodeBadValue, p.Message, p.Remedy)
	}
	return ok
}

// ofCalls are the keys of match that are about the args of a call.
func ofCalls(match *Match) (keys []string) {
	if len(match.Command) > 0 {
		keys = append(keys, "command")
	}
	if len(match.Path) > 0 {
		keys = append(keys, "path")
	}
	return keys
}
