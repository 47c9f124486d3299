package match

import (
	"errors"
	"fmt"
	"strings"

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
// undecided" is no, "yes or undecided" is yes. The language has two values, so this
// file evaluates the logic on top of a condition, and each part of it that has none is
// a program of its own.
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

// Decision is what a condition comes to.
type Decision byte

const (
	Undecided Decision = iota
	No
	Yes
)

func decisionOf(hit bool) Decision {
	if hit {
		return Yes
	}
	return No
}

// mostParts of one condition are evaluated apart. A condition with more is evaluated
// as one, and is undecided when any of its parts that is looked at is.
const mostParts = 64

// shortProblem returns what is wrong with a condition and where, without the drawing
// of it: a finding is one line.
func shortProblem(err error) error {
	message, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(message)
}

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
func (c *condition) decide(in *Input, env map[string]any) (Decision, error) {
	switch c.op {
	case logicNot:
		d, err := c.parts[0].decide(in, env)
		switch d {
		case Yes:
			return No, nil
		case No:
			return Yes, nil
		}
		return Undecided, err
	case logicAnd:
		return c.either(in, env, No, Yes)
	case logicOr:
		return c.either(in, env, Yes, No)
	case logicIf:
		return c.choose(in, env)
	}
	return c.run(in, env)
}

// either returns decides if one of the two parts comes to it, and left if both come to
// that.
func (c *condition) either(in *Input, env map[string]any, decides, left Decision) (Decision, error) {
	a, err := c.parts[0].decide(in, env)
	if a == decides {
		return a, nil
	}
	b, errB := c.parts[1].decide(in, env)
	switch {
	case b == decides:
		return b, nil
	case a == left && b == left:
		return left, nil
	case a == left:
		return Undecided, errB
	}
	return Undecided, err
}

func (c *condition) choose(in *Input, env map[string]any) (Decision, error) {
	d, err := c.parts[0].decide(in, env)
	switch d {
	case Yes:
		return c.parts[1].decide(in, env)
	case No:
		return c.parts[2].decide(in, env)
	}
	a, _ := c.parts[1].decide(in, env)
	b, _ := c.parts[2].decide(in, env)
	if a == b && a != Undecided {
		return a, nil
	}
	return Undecided, err
}

func (c *condition) run(in *Input, env map[string]any) (Decision, error) {
	in.missing = ""
	result, err := expr.Run(c.program, env)
	switch hit, isBool := result.(bool); {
	case in.missing != "":
		return Undecided, &missingMember{in.missing}
	case err != nil:
		return Undecided, err
	case !isBool:
		return Undecided, fmt.Errorf("it is %T, not bool", result)
	default:
		return decisionOf(hit), nil
	}
}

// missingMember is why a condition that reads what is not there is undecided.
type missingMember struct{ name string }

func (e *missingMember) Error() string {
	return fmt.Sprintf("there is no %s, so it is not decided; has(…) or ?. say that it may be missing", e.name)
}

// IsMissing reports whether a condition is undecided because it reads a member that is
// not there.
func IsMissing(err error) bool { return errors.As(err, new(*missingMember)) }
