package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/expr-lang/expr/types"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/toolname"
)

// matcher is a compiled [schema.Match]. Its zero value matches everything.
type matcher struct {
	tool   []toolname.Pattern
	source []string
	agent  string
	step   string
	when   *condition

	// told is set when the condition was undecided, so that it is reported once and not
	// with every event.
	told *atomic.Bool
}

// compileMatch compiles every key of m, or names the key that does not compile.
func compileMatch(m *schema.Match) (matcher, string, error) {
	var out matcher
	for _, pattern := range m.Tool {
		p, err := toolname.ParsePattern(pattern)
		if err != nil {
			return matcher{}, "tool", err
		}
		out.tool = append(out.tool, p)
	}
	if slices.Contains(m.Source, "") {
		return matcher{}, "source", errors.New("a source is empty; leave the key out to match all")
	}
	out.source = slices.Clone(m.Source)
	if out.agent = m.Agent; !slices.Contains([]string{"", "main", "sub"}, m.Agent) {
		return matcher{}, "agent", fmt.Errorf("%q is neither main nor sub", m.Agent)
	}
	if out.step = m.Step; !slices.Contains([]string{"", "final", "tools"}, m.Step) {
		return matcher{}, "step", fmt.Errorf("%q is neither final nor tools", m.Step)
	}
	if m.When != "" {
		program, err := compileCondition(m.When)
		if err != nil {
			return matcher{}, "when", err
		}
		out.when, out.told = program, new(atomic.Bool)
	}
	return out, "", nil
}

// shortProblem is what is wrong with a condition and where, without the drawing
// of it: a finding is one line.
func shortProblem(err error) error {
	message, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(message)
}

// fits compares the event's traits, which no hook changes. Data that cannot be
// read fits, so that a guard is asked.
func (m *matcher) fits(f *facts) bool {
	if !m.agentMatches(f.event) {
		return false
	}
	if !m.looks(f.spec) || !f.scan() {
		return true
	}
	return (len(m.tool) == 0 || !f.spec.Tool || m.toolMatches(f)) &&
		(len(m.source) == 0 || !f.spec.Source || slices.Contains(m.source, f.source)) &&
		(m.step == "" || !f.spec.StepType || f.step == m.step)
}

// toolMatches compares the tool. Which one it is where the event names none, nobody
// knows, so that a guard is asked.
func (m *matcher) toolMatches(f *facts) bool {
	return f.tool == "" || slices.ContainsFunc(m.tool, func(p toolname.Pattern) bool { return p.Match(f.tool, f.kind) })
}

// holds decides the condition on the event as it is now. The error says why it is
// undecided.
func (m *matcher) holds(ctx context.Context, f *facts) (decision, error) {
	if m.when == nil {
		return yes, nil
	}
	env, err := f.environment()
	if err != nil {
		return undecided, err
	}
	f.meter = newMeter(ctx)
	return m.when.decide(f, env)
}

// mayMatch is the part of match that what is known before an event decides: the
// agent, and the tool if the data names it already.
func (m *matcher) mayMatch(ev *protocol.Event) bool {
	if len(m.tool) == 0 || len(ev.Data) == 0 {
		return m.agentMatches(ev)
	}
	f := newFacts(ev)
	if !m.agentMatches(ev) || !f.spec.Tool || !f.scan() || f.tool == "" {
		return m.agentMatches(ev)
	}
	return m.toolMatches(f)
}

// agentMatches is the part of match that needs no data.
func (m *matcher) agentMatches(ev *protocol.Event) bool {
	return m.agent == "" || (m.agent == "sub") == (ev.Agent.Depth > 0)
}

// whenTypes are the names a condition may use, so that a misspelt one is an
// error at load and not a match at run time.
var whenTypes = sync.OnceValue(func() types.Map {
	names := types.Map{
		"event": types.String, "id": types.String, "seq": types.Any, "time": types.TypeOf(someTime),
		"session": types.Map{"id": types.String, "transcript": types.String},
		"agent":   types.Map{"id": types.String, "parent": types.Any, "depth": types.Int, "host": types.String},
		"project": types.String, "cwd": types.String, "turn": types.Int, "step": types.Int,
		"recipe":     types.Any,
		"compaction": types.Map{"auto": types.Bool, "threshold": types.Float64},
		"usage": types.Map{
			"inputTokens": types.Any, "outputTokens": types.Any,
			"contextTokens": types.Any, "contextMax": types.Any, "costUsd": types.Any,
		},
		"data":     types.Any,
		"metadata": types.Any,
	}
	for _, functions := range []map[string]function{new(facts).functions(), new(facts).memberFunctions()} {
		for name, f := range functions {
			names[name] = types.TypeOf(f)
		}
	}
	return names
})
