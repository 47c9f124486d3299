package integration

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// Tables of what programs read are made of the Go types that are written: a member
// that is added there stands in the page, with the words of its comment.
func init() {
	generated["outcome"] = typeTable("protocol/outcome.go", "Outcome")
	generated["notice"] = typeTable("protocol/outcome.go", "HookText")
	generated["hook-run"] = typeTable("protocol/outcome.go", "Run")
	generated["capabilities"] = typeTable("executor/daemon/capabilities.go", "Capabilities")
	generated["record-event"] = typeTable("executor/record/entry.go", "Event")
	generated["record-late"] = typeTable("executor/record/entry.go", "Late")
	generated["hook-line"] = typeTable("cmd/hookd/internal/runview/jsonprinter.go", "hookLine")
	generated["notice-line"] = typeTable("cmd/hookd/internal/runview/jsonprinter.go", "noticeLine")
	generated["event-line"] = typeTable("cmd/hookd/internal/runview/jsonprinter.go", "decision")
}

// typeTable writes the members of a struct as JSON has them. It panics if the file does
// not hold the struct: an error must not become a part of a page.
func typeTable(file, name string) func() string {
	return func() string {
		path := filepath.Join("..", "..", filepath.FromSlash(file))
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			panic(err)
		}
		found := false
		var b strings.Builder
		b.WriteString("| member | type | |\n|---|---|---|\n")
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, isType := n.(*ast.TypeSpec)
			if !isType || spec.Name.Name != name {
				return true
			}
			found = true
			for _, field := range spec.Type.(*ast.StructType).Fields.List {
				if member, optional := jsonMember(field); member != "" {
					fmt.Fprintf(&b, "| `%s`%s | %s | %s |\n", member, optional, typeText(field.Type), commentOf(field))
				}
			}
			return false
		})
		if !found {
			panic(file + " has no type " + name)
		}
		return b.String()
	}
}

// jsonMember is the name of a field in JSON, "" if it is not there, and a mark if it may
// be left out.
func jsonMember(field *ast.Field) (name, optional string) {
	if field.Tag == nil {
		return "", ""
	}
	tag, _ := strconv.Unquote(field.Tag.Value)
	name, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	if name == "-" {
		return "", ""
	}
	if strings.Contains(options, "omit") {
		optional = "?"
	}
	return name, optional
}

var typeNames = map[string]string{
	"string": "string", "bool": "bool", "int": "number", "int64": "number", "float64": "number", "NullString": "string or null",
	"Action": "action", "FailureKind": "failure, or null", "Layer": "layer", "EventName": "event", "Class": "class", "Mode": "mode", "Rule": "rule",
	"Skip": "string or null", "RawMessage": "any JSON", "Digest": "{`hash`,`bytes`,`value`?}",
}

func typeText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return strings.TrimSuffix(typeText(e.X), " or null") + " or null"
	case *ast.ArrayType:
		return "list of " + typeText(e.Elt)
	case *ast.SelectorExpr:
		if known, named := typeNames[e.X.(*ast.Ident).Name+"."+e.Sel.Name]; named {
			return known
		}
		return typeText(e.Sel)
	case *ast.Ident:
		if known, named := typeNames[e.Name]; named {
			return known
		}
		return e.Name
	}
	return "?"
}

func commentOf(field *ast.Field) string {
	var text string
	if field.Doc != nil {
		text = field.Doc.Text()
	}
	if field.Comment != nil {
		text += " " + field.Comment.Text()
	}
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("|", "\\|", "[", "", "]", "").Replace(text)
}
