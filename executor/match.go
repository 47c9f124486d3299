package executor

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// matcher is a compiled [schema.Match]. Its zero value matches everything.
type matcher struct {
	tool   []toolPattern
	source []string
	agent  string
	step   string
	when   *vm.Program
}

// toolPattern is one way of naming a tool; exactly one member is set.
type toolPattern struct {
	name string
	glob string
	re   *regexp.Regexp
	kind protocol.ToolKind
	any  bool
}

// compileMatch compiles every key of m, or names the key that does not compile.
func compileMatch(m *schema.Match) (matcher, string, error) {
	var out matcher
	for _, pattern := range m.Tool {
		p, err := compileTool(pattern)
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
		program, err := expr.Compile(m.When, expr.Env(whenTypes), expr.AsBool())
		if err != nil {
			return matcher{}, "when", err
		}
		out.when = program
	}
	return out, "", nil
}

var matchKinds = []protocol.ToolKind{
	protocol.KindShell, protocol.KindRead, protocol.KindWrite,
	protocol.KindNet, protocol.KindMCP, protocol.KindAgent,
}

func compileTool(pattern string) (toolPattern, error) {
	switch {
	case pattern == "":
		return toolPattern{}, errors.New("a tool pattern is empty; use * for all tools")
	case pattern == "*":
		return toolPattern{any: true}, nil
	case pattern[0] == '@':
		kind := protocol.ToolKind(pattern[1:])
		if !slices.Contains(matchKinds, kind) {
			return toolPattern{}, fmt.Errorf("unknown tool kind %q; known are @shell @read @write @net @mcp @agent", pattern)
		}
		return toolPattern{kind: kind}, nil
	case len(pattern) > 1 && pattern[0] == '/' && pattern[len(pattern)-1] == '/':
		re, err := regexp.Compile(`^(?:` + pattern[1:len(pattern)-1] + `)$`)
		if err != nil {
			return toolPattern{}, fmt.Errorf("%q: %w", pattern, err)
		}
		return toolPattern{re: re}, nil
	case strings.ContainsAny(pattern, `*?[{\`):
		if !doublestar.ValidatePattern(pattern) {
			return toolPattern{}, fmt.Errorf("%q is not a valid glob", pattern)
		}
		return toolPattern{glob: pattern}, nil
	case strings.ContainsAny(pattern, "()|^$"):
		// Never a tool's name: a regular expression without its slashes, or the
		// tool(args) form of other agents, which would silently match nothing.
		return toolPattern{}, fmt.Errorf("%q is no tool name; write a regular expression as /RE2/ and a condition on args in match.when", pattern)
	}
	return toolPattern{name: pattern}, nil
}

func (p *toolPattern) matches(name string, kind protocol.ToolKind) bool {
	switch {
	case p.any:
		return true
	case p.kind != "":
		// A tool that no row of the vocabulary knows belongs to every kind.
		return p.kind == kind || !slices.Contains(matchKinds, kind)
	case p.re != nil:
		return p.re.MatchString(name)
	case p.glob != "":
		hit, _ := doublestar.Match(p.glob, name) // validated when it was compiled
		return hit
	default:
		return p.name == name
	}
}

// match reports whether the hook is asked about the event. Data that cannot be
// read and a condition that fails count as a match, so that a guard is asked;
// the error of a condition is returned to be reported.
func (m *matcher) match(f *facts) (bool, error) {
	if m.agent != "" && (m.agent == "sub") != (f.event.Agent.Depth > 0) {
		return false, nil
	}
	if len(m.tool) > 0 && f.spec.Tool && f.scan() {
		matches := func(p toolPattern) bool { return p.matches(f.tool, f.kind) }
		if !slices.ContainsFunc(m.tool, matches) {
			return false, nil
		}
	}
	if len(m.source) > 0 && f.spec.Source && f.scan() && !slices.Contains(m.source, f.source) {
		return false, nil
	}
	if m.step != "" && f.spec.StepType && f.scan() && f.step != m.step {
		return false, nil
	}
	if m.when == nil {
		return true, nil
	}
	result, err := expr.Run(m.when, f.environment())
	if err != nil {
		return true, fmt.Errorf("match.when: %w", err)
	}
	hit, isBool := result.(bool)
	if !isBool {
		return true, fmt.Errorf("match.when: the result is %T, not bool", result)
	}
	return hit, nil
}

// whenTypes are the names a condition may use, so that a misspelt one is an
// error at load and not a match at run time.
var whenTypes = types.Map{
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
