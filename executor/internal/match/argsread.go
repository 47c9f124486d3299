package match

import (
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// ArgsRead returns the members of data.args that a condition reads without saying that
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
