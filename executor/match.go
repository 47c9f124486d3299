package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// matcher is a compiled [schema.Match]. Its zero value matches everything.
type matcher struct {
	tool   []schema.ToolPattern
	source []string
	agent  string
	step   string
	when   *vm.Program

	// failed is set when the condition could not be evaluated, so that it is
	// reported once and not with every event.
	failed *atomic.Bool
}

// compileMatch compiles every key of m, or names the key that does not compile.
func compileMatch(m *schema.Match) (matcher, string, error) {
	var out matcher
	for _, pattern := range m.Tool {
		p, err := schema.ParseToolPattern(pattern)
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
		out.when, out.failed = program, new(atomic.Bool)
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

func (m *matcher) toolMatches(f *facts) bool {
	return slices.ContainsFunc(m.tool, func(p schema.ToolPattern) bool { return p.Match(f.tool, f.kind) })
}

// holds reports whether the condition holds on the event as it is now. One that
// fails counts as a match, so that a guard is asked; its first error is returned
// to be reported.
func (m *matcher) holds(ctx context.Context, f *facts) (bool, error) {
	if m.when == nil {
		return true, nil
	}
	hit, err := m.condition(ctx, f)
	if err != nil && m.failed.Swap(true) {
		err = nil
	}
	return hit, err
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

func (m *matcher) condition(ctx context.Context, f *facts) (bool, error) {
	env, err := f.environment()
	var result any
	if err == nil {
		f.meter = newMeter(ctx)
		result, err = expr.Run(m.when, env)
	}
	if err != nil {
		return true, fmt.Errorf("match.when could not be evaluated, which counts as a match: %w", err)
	}
	hit, isBool := result.(bool)
	if !isBool {
		return true, fmt.Errorf("match.when is %T, not bool, which counts as a match", result)
	}
	return hit, nil
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
	for name, f := range new(facts).functions() {
		names[name] = types.TypeOf(f)
	}
	return names
})
