package schema

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/protocol/rule"
	"github.com/hookd-dev/hookd/schema/units"
)

// Hook is a hook's description with every field resolved: settings entry over
// comment header over side file over what the program said of itself.
type Hook struct {
	Name        string
	Layer       protocol.Layer
	Path        string   // absolute path of the hook's own file; "" for a command found on PATH or a built-in
	Command     []string // a program in place of a file
	Args        []string
	Description string
	Protocol    int
	Events      []protocol.EventName
	Match       Match
	Reply       *rule.Reply // of a rule: its answer, in place of a program
	Can         protocol.Class
	Mode        protocol.Mode
	Priority    int // -1000 to 1000, higher first within class and layer
	Timeout     time.Duration
	OnFailure   protocol.Rule
	Required    bool
	Run         RunMode
	Env         []string // names passed in addition to the allow list
	Files       []string // helpers, relative to the hook's folder
	InPlace     bool
	InProject   bool // dir: project, of a hook of user or machine
	Sensitive   bool
	Dialect     string // "hookd" for our own protocol
	Enabled     bool

	// Of a hook of another agent's dialect: the names of its events as they are written,
	// and its matcher in that agent's form.
	Named   []string
	Matcher string

	// ByDialect says that nothing but its own agent says what a failure of the hook does.
	// OnFailure is then for a hook that could not be asked at all; see
	// [foreignhooks.Agent.Rule].
	ByDialect bool
}

// Foreign is the protocol of another agent that the hook speaks, nil if it speaks
// hookd's.
func (h *Hook) Foreign() *foreignhooks.Agent { return foreignhooks.Find(h.Dialect) }

// Match narrows the events a hook is asked about; see [protocol.Match].
type Match = protocol.Match

// CouldGuard reports whether the hook may refuse an event, so that its absence
// must not go unnoticed.
func (h *Hook) CouldGuard() bool {
	return h.Required || h.Can == protocol.CanBlock && (h.Reply == nil || h.Reply.Refuses())
}

// Guards reports whether the hook is there to refuse: it judges, or must answer,
// or was given a rule that refuses. When it cannot run it must fail in its
// place.
func (h *Hook) Guards() bool {
	if h.Mode == protocol.Audit && !h.Required {
		return false
	}
	return h.CouldGuard() || h.Can == protocol.CanModify && (h.OnFailure == protocol.RuleBlock || h.OnFailure == protocol.RuleStop)
}

// Defaults are what the settings say about every hook of a layer, and what the
// folder says about this one.
type Defaults struct {
	Layer     protocol.Layer
	Name      string        // the file's name, or the name of a command entry
	Path      string        // absolute path of the hook's file; "" for a command
	Timeout   time.Duration // hooks.timeout
	Budget    time.Duration // hooks.budget; 0 is not compared
	OnFailure protocol.Rule // hooks.onFailure of the layer, "" for by class
	Least     protocol.Rule // the weakest rule that the managed layer allows; "" for any
	Required  bool          // hooks.required names the hook
}

// DefaultsFor takes the defaults of a hook from the effective settings.
func DefaultsFor(s *Settings, layer protocol.Layer, name, path string) Defaults {
	return Defaults{
		Layer: layer, Name: name, Path: path,
		Timeout: s.Hooks.Timeout, Budget: s.Hooks.Budget,
		OnFailure: s.Hooks.OnFailure[layer],
		Required:  slices.Contains(s.Hooks.Required, name),
		Least:     LeastRule(s, layer),
	}
}

// LeastRule is the managed layer's rule, which binds the hooks of all others: what
// that layer writes for one of its own hooks is its own affair.
func LeastRule(s *Settings, layer protocol.Layer) protocol.Rule {
	if layer == protocol.Managed {
		return ""
	}
	return s.Hooks.OnFailure[protocol.Managed]
}

// AtLeast is a rule, or another one where that is stricter.
func AtLeast(rule, least protocol.Rule) protocol.Rule {
	if slices.Index(rules, string(rule)) < slices.Index(rules, string(least)) {
		return least
	}
	return rule
}

// Resolution is one hook with every field decided.
type Resolution struct {
	// Hook is complete also if it is rejected: then it holds what could be read,
	// and for the rest what is safe, so that its gates can fail in its place.
	Hook Hook

	// Rejected says that some source is faulty, or that the whole makes no
	// sense. The hook does not run.
	Rejected bool

	// Guards says of a rejected hook that it could be a guard: its gates fail
	// with failure settings, under Hook.OnFailure.
	Guards bool

	// DescribedBy is the source that named the events, "" if none did.
	DescribedBy Source

	// Tests are those that the settings entry carries, nil if it has none.
	Tests *Tests
}

// Resolve merges the descriptions of one hook field by field: settings entry
// over header over side file over the program's answer, in whatever order they
// are given. The findings do not repeat what reading the descriptions found.
func Resolve(defaults Defaults, described ...Described) (Resolution, []Finding) {
	m := merge(described)
	r := &reader{hook: defaults.Name}
	res := Resolution{Rejected: m.faulty, DescribedBy: m.describedBy(), Tests: m.Tests}
	res.Hook = m.hook(defaults)
	h := &res.Hook

	if !m.foreign(r, h) {
		res.Rejected = true
	}
	if !m.faulty && !res.Rejected && len(h.Events) == 0 {
		r.at(m.at("events"), SeverityError, CodeNoEvents, "nothing says which events the hook is for", "add a line `hook: events=tool-call-start` to its header, or events to its settings entry; if it is no hook but a helper, begin its name with _")
		res.Rejected = true
	}
	if !m.rule(r, defaults, h) || !m.reply(r, h) {
		res.Rejected = true
	}
	if res.Rejected {
		m.guard(&res)
		return res, r.findings
	}
	r.matchWarnings(m.at("match"), h.Match, h.Events)
	m.foreignWarnings(r, h)
	if h.Layer == protocol.Project && m.Dir != nil {
		r.at(m.at("dir"), SeverityWarning, CodeNoEffect, "dir has no meaning for a hook of a project: it starts in the project's root", "leave dir out")
	}
	if defaults.Budget > 0 && h.Timeout > defaults.Budget && m.Timeout != nil {
		r.at(m.at("timeout"), SeverityWarning, CodeOverBudget, fmt.Sprintf("timeout %s is over the event's budget of %s, which ends the hook first", units.FormatDuration(h.Timeout), units.FormatDuration(defaults.Budget)), "lower timeout or raise hooks.budget")
	}
	return res, r.findings
}

// merged is the one description that several come to.
type merged struct {
	Entry
	fields []field
	from   []*Described // which description counts for each of fields; nil = none
	faulty bool
	first  Pos
}

func merge(described []Described) *merged {
	ranked := make([]*Described, len(described))
	for i := range described {
		ranked[i] = &described[i]
	}
	rank := func(d *Described) int {
		for i := range sources {
			if sources[i].source == d.From {
				return i
			}
		}
		return -1
	}
	slices.SortStableFunc(ranked, func(a, b *Described) int { return rank(a) - rank(b) })

	m := &merged{}
	target := reflect.ValueOf(&m.Entry).Elem()
	m.fields = fieldsOf(target.Type())
	m.from = make([]*Described, len(m.fields))
	for i, d := range ranked {
		m.faulty = m.faulty || len(d.Faults) > 0
		if i == 0 {
			m.first = d.Pos
		}
		source := reflect.ValueOf(&d.Entry).Elem()
		for k, f := range m.fields {
			if m.from[k] != nil {
				continue
			}
			if slices.Contains(d.Faults, f.name) {
				m.from[k] = d
			} else if value := source.Field(f.index); !value.IsNil() {
				target.Field(f.index).Set(value)
				m.from[k] = d
			}
		}
	}
	return m
}

// by is the description that counts for a field, nil if none names it.
func (m *merged) by(field string) *Described {
	for k := range m.fields {
		if m.fields[k].name == field {
			return m.from[k]
		}
	}
	return nil
}

func (m *merged) at(field string) Pos {
	if d := m.by(field); d != nil {
		return d.At(field)
	}
	return m.first
}

// unknown reports whether the description that counts for a field says it so
// that it cannot be read.
func (m *merged) unknown(field string) bool {
	d := m.by(field)
	return d != nil && slices.Contains(d.Faults, field)
}

func (m *merged) describedBy() Source {
	if d := m.by("events"); d != nil {
		return d.From
	}
	return ""
}

// hook fills in every field, by default or as written.
func (m *merged) hook(defaults Defaults) Hook {
	h := Hook{
		Name:        defaults.Name,
		Layer:       defaults.Layer,
		Path:        defaults.Path,
		Command:     m.Command,
		Args:        m.Args,
		Description: or(m.Description, ""),
		Protocol:    or(m.Protocol, knownProtocol),
		Can:         protocol.Class(or(m.Can, string(protocol.CanModify))),
		Mode:        protocol.Mode(or(m.Mode, string(protocol.Enforce))),
		Priority:    or(m.Priority, 0),
		Timeout:     time.Duration(or(m.Timeout, units.Duration(defaults.Timeout))),
		Required:    or(m.Required, false) || defaults.Required,
		Run:         RunMode(or(m.Run, string(Once))),
		Env:         m.Env,
		Files:       m.Files,
		InPlace:     or(m.InPlace, false),
		InProject:   or(m.Dir, "own") == "project" && defaults.Layer != protocol.Project,
		Sensitive:   or(m.Sensitive, false),
		Dialect:     or(m.Dialect, Dialects[0]),
		Enabled:     or(m.Enabled, true),
	}
	m.setEvents(&h, defaults)
	m.setReply(&h)
	if m.Match != nil {
		h.Match = Match{
			Tool: m.Match.Tool, Source: m.Match.Source,
			Agent: or(m.Match.Agent, ""), Step: or(m.Match.Step, ""), When: or(m.Match.When, ""),
			Command: m.Match.Command, Path: m.Match.Path,
		}
	}
	return h
}

// rule settles what a failure of the hook does, and reports fields that exclude
// each other.
func (m *merged) rule(r *reader, defaults Defaults, h *Hook) (ok bool) {
	ok = true
	switch {
	case m.OnFailure != nil:
		h.OnFailure = protocol.Rule(*m.OnFailure)
	case h.Required && (defaults.OnFailure == "" || defaults.OnFailure == protocol.RuleContinue):
		h.OnFailure = protocol.RuleBlock
	case defaults.OnFailure != "":
		h.OnFailure = defaults.OnFailure
	case h.Can == protocol.CanBlock && h.CouldGuard():
		h.OnFailure = protocol.RuleBlock
	case h.refusesElsewhere():
		h.OnFailure = protocol.RuleBlock
		h.ByDialect = AtLeast(protocol.RuleContinue, defaults.Least) == protocol.RuleContinue
	default:
		h.OnFailure = protocol.RuleContinue
	}
	if stricter := AtLeast(h.OnFailure, defaults.Least); stricter != h.OnFailure {
		if m.OnFailure != nil {
			r.at(m.at("onFailure"), SeverityWarning, CodeOverridden, fmt.Sprintf("onFailure %s counts for nothing: the managed settings' hooks.onFailure %s is the least for all", h.OnFailure, defaults.Least), "write a stricter rule, or none")
		}
		h.OnFailure = stricter
	}
	if h.Required && h.OnFailure == protocol.RuleContinue {
		ok = m.excluded(r, h, "onFailure", "continue", "block or stop")
		h.OnFailure = protocol.RuleBlock
	}
	if h.Required && h.Mode == protocol.Audit {
		ok = m.excluded(r, h, "mode", "audit", "enforce") && ok
		h.Mode = protocol.Enforce
	}
	if h.Can == protocol.CanObserve && !h.Required && m.OnFailure != nil && h.OnFailure != protocol.RuleContinue {
		r.at(m.at("onFailure"), SeverityWarning, CodeNoEffect, fmt.Sprintf("onFailure %s has no effect: nothing waits for an observer that is not required", h.OnFailure), "add required, or change can to block")
	}
	return ok
}

// excluded reports a field that a required hook cannot have. Where the hook is
// required by its own description that rejects it; where hooks.required names
// it, possibly from another layer, the field merely counts for nothing.
func (m *merged) excluded(r *reader, h *Hook, field, value, instead string) (ok bool) {
	if or(m.Required, false) {
		r.at(m.at(field), SeverityError, CodeConflict, fmt.Sprintf("required excludes %s %s: the event must not pass without this hook's answer", field, value), fmt.Sprintf("remove required, or write %s %s", field, instead))
		return false
	}
	r.at(m.at(field), SeverityWarning, CodeOverridden, fmt.Sprintf("%s %s counts for nothing: hooks.required names %s", field, value, h.Name), fmt.Sprintf("write %s %s", field, instead))
	return true
}

// guard decides whether a rejected hook could be a guard, and makes its fault
// reach at least as far as the hook would have: what cannot be read counts as
// the strictest it could have been.
func (m *merged) guard(res *Resolution) {
	h := &res.Hook
	unsure := m.unknown("can") || m.unknown("reply") || m.unknown("required") || m.unknown("onFailure") || m.unknown("dialect")
	if m.unknown("can") || m.unknown("reply") {
		h.Can = protocol.CanBlock
	}
	if m.OnFailure == nil && unsure && h.OnFailure == protocol.RuleContinue {
		h.OnFailure = protocol.RuleBlock
	}
	if m.unknown("events") {
		h.Events = canonical(Events{AllEvents})
	}
	if m.unknown("match") {
		h.Match = Match{}
	}
	res.Guards = h.Enabled && len(h.Events) > 0 && (h.Mode != protocol.Audit || h.Required) &&
		(unsure || h.CouldGuard() || h.Can == protocol.CanModify && h.OnFailure != protocol.RuleContinue)
}

// canonical turns names and aliases into our names, each once, in the order of
// the events table; * is all gates and points. Unknown names are left out.
func canonical(written Events) []protocol.EventName {
	named := map[protocol.EventName]bool{}
	for _, name := range written {
		if event, _, ok := protocol.Canonical(name); ok {
			named[event] = true
		}
	}
	all := slices.Contains(written, AllEvents)
	var events []protocol.EventName
	for i := range protocol.Table {
		s := &protocol.Table[i]
		if named[s.Name] || all && s.Kind != protocol.Notice {
			events = append(events, s.Name)
		}
	}
	return events
}

func or[T any](written *T, otherwise T) T {
	if written == nil {
		return otherwise
	}
	return *written
}
