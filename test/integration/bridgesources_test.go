package integration

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/protocol/dialect"
)

// What docs/bridges.md says about where hookd's knowledge of an agent is from is read off
// what there is: inputs that the agent wrote, and the list of agents that interop runs.

// knownFrom says where the knowledge of an agent's protocol is from.
func knownFrom(a *dialect.Agent) string {
	events := 0
	for i := range a.Rows {
		if isCaptured(a, &a.Rows[i]) {
			events++
		}
	}
	from := "documents"
	switch {
	case events == len(a.Rows):
		from = "captured"
	case events > 0:
		from = fmt.Sprintf("captured (%d of %d)", events, len(a.Rows))
	}
	if slices.Contains(driven(), a.Name) {
		from += ", driven"
	}
	return from
}

// isCaptured reports whether there is an input of an event that the agent wrote itself.
func isCaptured(a *dialect.Agent, row *dialect.Row) bool {
	inputs, err := filepath.Glob(filepath.Join("..", "..", "protocol", "dialect", "hosts", "testdata", a.Name, row.Name+".*json"))
	if err != nil {
		panic(err)
	}
	return slices.ContainsFunc(inputs, func(path string) bool { return !strings.HasSuffix(path, ".documents.json") })
}

// driven are the agents that interop runs. Its files have a build tag, and so the list is
// read from their text. It is read when it is asked for: this program also runs as a hook, in
// other folders.
var driven = sync.OnceValue(func() []string {
	names, err := readDriven(filepath.Join("..", "interop"))
	if err != nil {
		panic(err)
	}
	return names
})

// readDriven reads the member name of each element of the variable realAgents.
func readDriven(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is || len(spec.Names) != 1 || spec.Names[0].Name != "realAgents" || len(spec.Values) != 1 {
				return true
			}
			names = append(names, namesIn(spec.Values[0])...)
			return false
		})
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no list realAgents", dir)
	}
	return names, nil
}

func namesIn(list ast.Expr) (names []string) {
	all, is := list.(*ast.CompositeLit)
	if !is {
		return nil
	}
	for _, each := range all.Elts {
		of, is := each.(*ast.CompositeLit)
		if !is {
			continue
		}
		for _, member := range of.Elts {
			pair, isPair := member.(*ast.KeyValueExpr)
			if !isPair {
				continue
			}
			key, isName := pair.Key.(*ast.Ident)
			value, isText := pair.Value.(*ast.BasicLit)
			if isName && isText && key.Name == "name" {
				if name, err := strconv.Unquote(value.Value); err == nil {
					names = append(names, name)
				}
			}
		}
	}
	return names
}
