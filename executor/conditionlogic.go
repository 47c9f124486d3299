package executor

import (
	"errors"
	"fmt"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// A condition has three values: yes, no, and undecided, where it reads a member that
// is not there or fails. What is undecided does not decide the rest: "no and
// undecided" is no, "yes or undecided" is yes. The language has two values, so the
// logic on top of a condition is done here, and each part of it that has none is a
// program of its own.
type condition struct {
	program *vm.Program // of a part without logic; else parts by operator
	op      logic
	parts   []*condition
}

type logic byte

const (
	logicAnd logic = iota + 1
	logicOr
	logicNot
	logicIf // condition, then, else
)

// decision is what a condition comes to.
type decision byte

const (
	undecided decision = iota
	no
	yes
)

func decisionOf(hit bool) decision {
	if hit {
		return yes
	}
	return no
}

// mostParts of one condition are evaluated apart. A condition with more is evaluated
// as one, and is undecided when any of its parts that is looked at is.
const mostParts = 64

// compileCondition compiles a condition with its bounds in it.
func compileCondition(text string) (*condition, error) {
	if len(text) > longestCondition {
		return nil, fmt.Errorf("it has %d bytes, the most is %d", len(text), longestCondition)
	}
	whole, err := compilePart(text, func(n ast.Node) ast.Node { return n })
	if err != nil {
		return nil, err
	}
	var parts []ast.Node
	split := func(n ast.Node) *condition {
		parts = nil
		return splitLogic(n, nil, &parts)
	}
	tree, err := parser.ParseWithConfig(text, conditionConfig(&metering{}))
	if err != nil {
		return nil, shortProblem(err)
	}
	logic := split(tree.Node)
	if parts[0] == tree.Node || len(parts) > mostParts {
		return &condition{program: whole}, nil
	}
	// Compiling changes the nodes, so that each part has a tree of its own.
	programs := make([]*vm.Program, len(parts))
	for i := range programs {
		if programs[i], err = compilePart(text, func(n ast.Node) ast.Node { split(n); return parts[i] }); err != nil {
			return nil, err
		}
	}
	logic.fill(&programs)
	return logic, nil
}

// compilePart compiles the part of a condition that pick returns.
func compilePart(text string, pick func(ast.Node) ast.Node) (*vm.Program, error) {
	meter := &metering{}
	config := conditionConfig(meter)
	tree, err := parser.ParseWithConfig(text, config)
	if err == nil {
		tree.Node = pick(tree.Node)
		_, err = new(checker.Checker).PatchAndCheck(tree, config)
	}
	if meter.err != nil {
		return nil, meter.err
	}
	if err != nil {
		return nil, shortProblem(err)
	}
	program, err := compiler.Compile(tree, config)
	if err != nil {
		return nil, shortProblem(err)
	}
	return program, nil
}

func conditionConfig(meter *metering) *conf.Config {
	config := conf.CreateNew()
	for _, option := range conditionOptions(meter) {
		option(config)
	}
	for name := range config.Disabled {
		delete(config.Builtins, name)
	}
	config.Check()
	return config
}

// splitLogic takes the logic on top of a condition apart. Each part is appended to
// parts, with the variables that it uses.
func splitLogic(n ast.Node, lets []*ast.VariableDeclaratorNode, parts *[]ast.Node) *condition {
	part := func(n ast.Node) *condition { return splitLogic(n, lets, parts) }
	switch n := n.(type) {
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&", "and":
			return &condition{op: logicAnd, parts: []*condition{part(n.Left), part(n.Right)}}
		case "||", "or":
			return &condition{op: logicOr, parts: []*condition{part(n.Left), part(n.Right)}}
		}
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			return &condition{op: logicNot, parts: []*condition{part(n.Node)}}
		}
	case *ast.ConditionalNode:
		return &condition{op: logicIf, parts: []*condition{part(n.Cond), part(n.Exp1), part(n.Exp2)}}
	case *ast.VariableDeclaratorNode:
		return splitLogic(n.Expr, append(lets[:len(lets):len(lets)], n), parts)
	}
	for i := len(lets) - 1; i >= 0; i-- {
		if uses(n, lets[i].Name) {
			n = &ast.VariableDeclaratorNode{Name: lets[i].Name, Value: lets[i].Value, Expr: n}
		}
	}
	*parts = append(*parts, n)
	return &condition{}
}

// uses reports whether a part reads a variable.
func uses(n ast.Node, name string) bool {
	found := nameFinder{name: name}
	ast.Walk(&n, &found)
	return found.found
}

type nameFinder struct {
	name  string
	found bool
}

func (f *nameFinder) Visit(node *ast.Node) {
	if n, isName := (*node).(*ast.IdentifierNode); isName && n.Value == f.name {
		f.found = true
	}
}

// fill gives the parts their programs, in the order in which they were found.
func (c *condition) fill(programs *[]*vm.Program) {
	if c.op == 0 {
		c.program, *programs = (*programs)[0], (*programs)[1:]
	}
	for _, part := range c.parts {
		part.fill(programs)
	}
}

// decide evaluates the condition. The error says why it, or a part of it, is
// undecided.
func (c *condition) decide(f *facts, env map[string]any) (decision, error) {
	switch c.op {
	case logicNot:
		d, err := c.parts[0].decide(f, env)
		switch d {
		case yes:
			return no, nil
		case no:
			return yes, nil
		}
		return undecided, err
	case logicAnd:
		return c.either(f, env, no, yes)
	case logicOr:
		return c.either(f, env, yes, no)
	case logicIf:
		return c.choose(f, env)
	}
	return c.run(f, env)
}

// either is the first of both parts that decides the whole by itself, else what is
// left if both are that.
func (c *condition) either(f *facts, env map[string]any, decides, left decision) (decision, error) {
	a, err := c.parts[0].decide(f, env)
	if a == decides {
		return a, nil
	}
	b, errB := c.parts[1].decide(f, env)
	switch {
	case b == decides:
		return b, nil
	case a == left && b == left:
		return left, nil
	case a == left:
		return undecided, errB
	}
	return undecided, err
}

func (c *condition) choose(f *facts, env map[string]any) (decision, error) {
	d, err := c.parts[0].decide(f, env)
	switch d {
	case yes:
		return c.parts[1].decide(f, env)
	case no:
		return c.parts[2].decide(f, env)
	}
	a, _ := c.parts[1].decide(f, env)
	b, _ := c.parts[2].decide(f, env)
	if a == b && a != undecided {
		return a, nil
	}
	return undecided, err
}

func (c *condition) run(f *facts, env map[string]any) (decision, error) {
	f.missing = ""
	result, err := expr.Run(c.program, env)
	switch hit, isBool := result.(bool); {
	case f.missing != "":
		return undecided, &missingMember{f.missing}
	case err != nil:
		return undecided, err
	case !isBool:
		return undecided, fmt.Errorf("it is %T, not bool", result)
	default:
		return decisionOf(hit), nil
	}
}

// missingMember is why a condition is undecided that reads what is not there.
type missingMember struct{ name string }

func (e *missingMember) Error() string {
	return fmt.Sprintf("there is no %s, so it is not decided; has(…) or ?. say that it may be missing", e.name)
}

func isMissing(err error) bool { return errors.As(err, new(*missingMember)) }
