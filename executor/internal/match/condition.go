package match

import (
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
)

// A condition (match.when) is hookd's own work for an event, so it is bounded in time
// and memory, whatever it says and whatever the event holds. The language cannot be
// interrupted by itself. Three things together bound it:
//
//   - before every round of a loop and every operation whose time grows with its
//     operands, the program calls step of the meter, which ends it when its steps or
//     its time are used up;
//   - an operation that could take longer than its operands are large, or make
//     something larger than them, is done by a function of this package;
//   - all other functions of the language are taken out.

const (
	longestCondition = 4 << 10 // bytes
	maxConditionTime = time.Second
)

// Names of our functions, which only a patched condition calls.
const (
	callStep    = "__step"
	callEqual   = "__equal"
	callIn      = "__in"
	callPlus    = "__plus"
	callMatches = "__matches"
)

// builtins are the functions of the language that a condition may call. Each takes
// at most the time that its operands are large.
var builtins = []string{
	"all", "none", "any", "one", "filter", "map", "find", "findIndex", "findLast", "findLastIndex", "count", "sum",
	"len", "type", "abs", "ceil", "floor", "round", "int", "float", "indexOf", "lastIndexOf", "hasPrefix", "hasSuffix",
	"trimPrefix", "trimSuffix", "now", "duration", "date", "timezone", "first", "last", "get", "take",
	"bitand", "bitor", "bitxor", "bitnand", "bitnot", "bitshl", "bitshr", "bitushr",
}

// conditionOptions are the language of conditions, with their bounds.
func conditionOptions(meter *metering) []expr.Option {
	// The optimizer works out ranges and the like while it compiles, without bound.
	options := []expr.Option{expr.Env(whenTypes()), expr.AsBool(), expr.Optimize(false), expr.Patch(meter)}
	for _, f := range builtin.Builtins {
		if !slices.Contains(builtins, f.Name) {
			options = append(options, expr.DisableBuiltin(f.Name))
		}
	}
	return options
}

// metering puts the bounds into a condition.
type metering struct {
	done map[ast.Node]bool
	err  error
}

func (m *metering) Visit(node *ast.Node) {
	if m.done == nil {
		m.done = map[ast.Node]bool{}
	}
	if m.done[*node] {
		return
	}
	m.done[*node] = true
	switch n := (*node).(type) {
	case *ast.PredicateNode:
		n.Node = m.stepped(n.Node)
	case *ast.BuiltinNode:
		if n.Name == "get" {
			*node = m.call(callGet, n.Arguments...)
			return
		}
		*node = m.stepped(n)
	case *ast.MemberNode:
		m.member(node, n)
	case *ast.ChainNode:
		*node = m.call(callChain, n.Node)
	case *ast.CallNode:
		if name, isName := n.Callee.(*ast.IdentifierNode); isName && name.Value == nameHas {
			m.has(node, n)
		}
	case *ast.BinaryNode:
		m.binary(node, n)
	}
}

func (m *metering) binary(node *ast.Node, n *ast.BinaryNode) {
	switch n.Operator {
	case "contains", "startsWith", "endsWith":
		*node = m.stepped(n)
	case "==":
		if !literal(n.Left) && !literal(n.Right) {
			*node = m.call(callEqual, n.Left, n.Right)
		}
	case "!=":
		if !literal(n.Left) && !literal(n.Right) {
			*node = &ast.UnaryNode{Operator: "not", Node: m.call(callEqual, n.Left, n.Right)}
		}
	case "in":
		*node = m.call(callIn, n.Left, n.Right)
	case "+":
		if !isNumber(n.Left) || !isNumber(n.Right) {
			*node = m.call(callPlus, n.Left, n.Right)
		}
	case "matches":
		pattern := n.Right
		if text, fixed := pattern.(*ast.StringNode); fixed {
			compiled, err := compilePattern(text.Value)
			if err != nil && m.err == nil {
				m.err = err
			}
			pattern = &ast.ConstantNode{Value: compiled}
		}
		*node = m.call(callMatches, n.Left, pattern)
	}
}

// stepped is a node that is counted before it is evaluated.
func (m *metering) stepped(n ast.Node) ast.Node {
	sequence := &ast.SequenceNode{Nodes: []ast.Node{m.call(callStep), n}}
	m.done[n], m.done[sequence] = true, true
	return sequence
}

func (m *metering) call(name string, arguments ...ast.Node) ast.Node {
	call := &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: arguments}
	m.done[call] = true
	return call
}

func literal(n ast.Node) bool {
	switch n.(type) {
	case *ast.NilNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode:
		return true
	}
	return false
}

func isNumber(n ast.Node) bool {
	switch t := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return true
	case *ast.UnaryNode:
		return isNumber(t.Node)
	}
	return n.Nature().IsNumber()
}

// member patches the reading of a member whose object is not known before.
func (m *metering) member(node *ast.Node, n *ast.MemberNode) {
	name, isName := n.Node.(*ast.IdentifierNode)
	ofEnvelope := isName && slices.Contains([]string{"session", "agent", "compaction", "usage"}, name.Value)
	if t := n.Nature().Type; ofEnvelope || t != nil && t.Kind() != reflect.Interface {
		n.Optional = false // nothing is nil on the way
		return
	}
	*node = m.call(callMember, n.Node, n.Property, &ast.BoolNode{Value: n.Optional})
}

// has patches has(data.args.command): no member on the way need be there.
func (m *metering) has(node *ast.Node, n *ast.CallNode) {
	if len(n.Arguments) != 1 || !m.mayMiss(n.Arguments[0]) {
		if m.err == nil {
			m.err = errors.New("has needs a member in its brackets, such as has(data.args.command)")
		}
		return
	}
	*node = m.call(callHas, n.Arguments[0])
}

// mayMiss makes every member of a path one that may be missing, and reports whether
// it is a path.
func (m *metering) mayMiss(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.MemberNode:
		return true
	case *ast.CallNode:
		name, isName := n.Callee.(*ast.IdentifierNode)
		switch {
		case !isName:
		case name.Value == callChain:
			return m.mayMiss(n.Arguments[0])
		case name.Value == callMember:
			n.Arguments[2] = &ast.BoolNode{Value: true}
			m.mayMiss(n.Arguments[0])
			return true
		}
	}
	return false
}
