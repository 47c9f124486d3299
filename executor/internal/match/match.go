package match

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
	"github.com/hookd-dev/hookd/schema"
)

// Matcher is a compiled [schema.Match]. Its zero value matches everything.
type Matcher struct {
	tool   []toolname.Pattern
	source []string
	agent  string
	step   string
	when   *condition

	// reported is set when the condition was undecided, so that it is reported once
	// and not with every event.
	reported *atomic.Bool
}

// Compile compiles every key of m. With an error it also returns the key that does
// not compile.
func Compile(m *schema.Match) (Matcher, string, error) {
	var out Matcher
	for _, pattern := range m.Tool {
		p, err := toolname.ParsePattern(pattern)
		if err != nil {
			return Matcher{}, "tool", err
		}
		out.tool = append(out.tool, p)
	}
	if slices.Contains(m.Source, "") {
		return Matcher{}, "source", errors.New("a source is empty; leave the key out to match all")
	}
	out.source = slices.Clone(m.Source)
	if out.agent = m.Agent; !slices.Contains([]string{"", "main", "sub"}, m.Agent) {
		return Matcher{}, "agent", fmt.Errorf("%q is neither main nor sub", m.Agent)
	}
	if out.step = m.Step; !slices.Contains([]string{"", "final", "tools"}, m.Step) {
		return Matcher{}, "step", fmt.Errorf("%q is neither final nor tools", m.Step)
	}
	if m.When != "" {
		program, err := compileCondition(m.When)
		if err != nil {
			return Matcher{}, "when", err
		}
		out.when, out.reported = program, new(atomic.Bool)
	}
	return out, "", nil
}

// Compares reports whether the matcher compares a member of data at such events.
func (m *Matcher) Compares(spec *protocol.Spec) bool {
	return len(m.tool) > 0 && spec.Tool || len(m.source) > 0 && spec.Source || m.step != "" && spec.StepType
}

// Fits reports whether every key but the condition matches. It depends on the event's
// [Key] alone. Data that cannot be read fits, so that a guard is asked.
func (m *Matcher) Fits(in *Input) bool {
	if !m.agentFits(in.event) {
		return false
	}
	if !m.Compares(in.spec) || !in.Scan() {
		return true
	}
	return (len(m.tool) == 0 || !in.spec.Tool || m.toolFits(in)) &&
		(len(m.source) == 0 || !in.spec.Source || slices.Contains(m.source, in.Source)) &&
		(m.step == "" || !in.spec.StepType || in.Step == m.step)
}

// toolFits reports whether the tool matches. An event that names no tool fits, so that
// a guard is asked. Of another agent's event both names count: ours and that agent's own.
func (m *Matcher) toolFits(in *Input) bool {
	return in.Tool == "" || slices.ContainsFunc(m.tool, func(p toolname.Pattern) bool {
		return p.Match(in.Tool, in.Kind) || in.HostTool != "" && p.Match(in.HostTool, in.Kind)
	})
}

func (m *Matcher) agentFits(ev *protocol.Event) bool {
	return m.agent == "" || (m.agent == "sub") == (ev.Agent.Depth > 0)
}

// MayFit reports whether the matcher could match an event of which only the agent,
// and the tool if data names one, is known.
func (m *Matcher) MayFit(ev *protocol.Event) bool {
	if !m.agentFits(ev) || len(m.tool) == 0 || len(ev.Data) == 0 {
		return m.agentFits(ev)
	}
	in := NewInput(ev, nil)
	return !in.spec.Tool || !in.Scan() || m.toolFits(in)
}

// HasCondition reports whether the matcher has a condition to [Matcher.Decide].
func (m *Matcher) HasCondition() bool { return m.when != nil }

// ConditionTime bounds the evaluation of a condition, besides the hook's own limit.
const ConditionTime = maxConditionTime

// Decide evaluates the condition on the event as it is now. The error says why it is
// undecided.
func (m *Matcher) Decide(ctx context.Context, in *Input) (Decision, error) {
	if m.when == nil {
		return Yes, nil
	}
	env, err := in.environment()
	if err != nil {
		return Undecided, err
	}
	in.meter = newMeter(ctx)
	return m.when.decide(in, env)
}

// FirstReport reports whether this is the first time that the condition is reported as
// undecided.
func (m *Matcher) FirstReport() bool { return !m.reported.Swap(true) }
