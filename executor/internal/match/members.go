package match

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm/runtime"
)

// Objects whose members nobody but a tool, a provider or another hook decides are
// open: a member that a condition reads may be called otherwise, or be missing. Its
// absence says nothing, so a condition on it is undecided, and not no. The members of
// all other objects are those of the protocol, of which a missing one is nil.

// openObject is an open object, and all objects in one are.
type openObject map[string]any

// openNames are the members of data that are open objects, wherever they stand.
var openNames = map[string]bool{"args": true, "original": true, "params": true}

// opened returns a value of the protocol with its open objects marked.
func opened(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if openNames[name] {
				v[name] = open(member)
			} else {
				v[name] = opened(member)
			}
		}
	case []any:
		for i := range v {
			v[i] = opened(v[i])
		}
	}
	return v
}

// open marks a value and all that is in it.
func open(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = open(member)
		}
		return openObject(v)
	case []any:
		for i := range v {
			v[i] = open(v[i])
		}
	}
	return v
}

// asObject is an object, open or not.
func asObject(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case openObject:
		return v, true
	}
	return nil, false
}

// skipped is the value of a chain (a?.b.c) from the place on where it ends early.
type skipped struct{}

// Names of our functions for members, which only a patched condition calls.
const (
	callMember = "__member"
	callGet    = "__get"
	callChain  = "__chain"
	callHas    = "__has"
	nameHas    = "has" // as a person writes it
)

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

// memberOf is a member of an object as a condition reads it. optional says that the
// object, or the member of an open one, may be missing. Null in an open object is as
// good as missing.
func (in *Input) memberOf(object, name any, optional bool) (any, error) {
	switch o := object.(type) {
	case skipped:
		return o, nil
	case nil:
		if optional {
			return skipped{}, nil
		}
		return nil, fmt.Errorf("there is no %v in what is nil", name)
	case map[string]any:
		text, ok := name.(string)
		if !ok {
			return nil, fmt.Errorf("%T is no name of a member", name)
		}
		return o[text], nil
	case openObject:
		text, ok := name.(string)
		if !ok {
			return nil, fmt.Errorf("%T is no name of a member", name)
		}
		if value := o[text]; value != nil || optional {
			return value, nil
		}
		in.missing = text
		return nil, &missingMember{text}
	}
	return runtime.Fetch(object, name), nil
}

// memberFunctions are the functions of this file, by the names that conditions call
// them by.
func (in *Input) memberFunctions() map[string]function {
	return map[string]function{
		callMember: func(a ...any) (any, error) { return in.memberOf(a[0], a[1], a[2].(bool)) },
		callChain: func(a ...any) (any, error) {
			if _, ended := a[0].(skipped); ended {
				return nil, nil
			}
			return a[0], nil
		},
		callHas: func(a ...any) (any, error) {
			_, ended := a[0].(skipped)
			return !ended && a[0] != nil, nil
		},
		callGet: func(a ...any) (any, error) {
			if v := reflect.ValueOf(a[0]); isList(v) {
				at, isNumber := a[1].(int)
				if !isNumber || at < -v.Len() || at >= v.Len() {
					return nil, nil
				}
			}
			return in.memberOf(a[0], a[1], false)
		},
		nameHas: func(...any) (any, error) { return nil, errors.New("has was not compiled") },
	}
}

// ArgsRead are the members of data.args that a condition reads without saying that
// they may be missing, each once.
func ArgsRead(when string) []string {
	tree, err := parser.ParseWithConfig(when, conditionConfig(&metering{}))
	if err != nil {
		return nil
	}
	reads := argsReader{meant: map[ast.Node]bool{}}
	ast.Walk(&tree.Node, &reads)
	var names []string
	for _, n := range reads.members {
		name := n.Property.(*ast.StringNode).Value
		if !reads.meant[n] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

type argsReader struct {
	members []*ast.MemberNode
	meant   map[ast.Node]bool // in has(…)
}

func (r *argsReader) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.MemberNode:
		_, isText := n.Property.(*ast.StringNode)
		if args, isMember := n.Node.(*ast.MemberNode); isMember && isText && !n.Optional && isDataMember(args, "args") {
			r.members = append(r.members, n)
		}
	case *ast.CallNode:
		if name, isName := n.Callee.(*ast.IdentifierNode); isName && name.Value == nameHas {
			for _, argument := range n.Arguments {
				for member, isMember := argument.(*ast.MemberNode); isMember; member, isMember = member.Node.(*ast.MemberNode) {
					r.meant[member] = true
				}
			}
		}
	}
}

func isDataMember(n *ast.MemberNode, name string) bool {
	data, isName := n.Node.(*ast.IdentifierNode)
	property, isText := n.Property.(*ast.StringNode)
	return isName && isText && data.Value == "data" && property.Value == name
}
