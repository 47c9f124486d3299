package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// The race detector compares what two goroutines do. It finds nothing where there is one,
// and makes that one five to ten times slower. So packages whose tests run on one goroutine
// are tested without it. What counts as a start is read from the source, and what cannot be
// told counts as one: a package that begins to start goroutines is tested with the detector
// from then on, as is every package whose tests use it.

// starters are the names of functions and methods that run a function on a goroutine of
// its own.
var starters = []string{"Go", "AfterFunc", "Parallel", "RunParallel", "SetParallelism", "AddCleanup", "SetFinalizer"}

// concurrent are the packages of the standard library that call functions of who uses them on
// goroutines that they start. os/exec copies to Writers, but who reads them before Wait returned
// reads half.
var concurrent = []string{"net", "net/http", "net/http/httptest", "net/http/httputil", "net/rpc", "net/smtp", "log/syslog", "testing/synctest"}

// sequential are the libraries that call functions of who uses them only on the goroutine that
// called them. Each other one counts as concurrent.
var sequential = []string{
	"github.com/agnivade/levenshtein", "github.com/bmatcuk/doublestar/v4", "github.com/creachadair/jrpc2/channel", "github.com/expr-lang/expr",
	"github.com/go-json-experiment/json", "github.com/go-playground/validator/v10", "github.com/gofrs/flock",
	"github.com/google/go-cmp/cmp", "github.com/google/jsonschema-go/jsonschema", "github.com/pelletier/go-toml/v2",
	"github.com/spf13/viper", "go.uber.org/goleak", "go.yaml.in/yaml/v3", "golang.org/x/sys", "golang.org/x/term", "mvdan.cc/sh/v3",
}

// goPackage is what go list says about a package.
type goPackage struct {
	ImportPath, Dir                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	CgoFiles                           []string
	Imports, TestImports, XTestImports []string
}

// split returns the packages below a folder that have tests, in the order of go list: those
// whose tests may run on more than one goroutine, and the others.
func split(folder string) (many, one []string, err error) {
	listed, err := listPackages(folder)
	if err != nil {
		return nil, nil, err
	}
	s := splitter{packages: map[string]*goPackage{}, starts: map[string]bool{}}
	for _, p := range listed {
		s.packages[p.ImportPath] = p
	}
	for _, p := range listed {
		starts, err := s.testsStart(p)
		switch {
		case err != nil:
			return nil, nil, err
		case len(p.TestGoFiles)+len(p.XTestGoFiles) == 0:
		case starts:
			many = append(many, p.ImportPath)
		default:
			one = append(one, p.ImportPath)
		}
	}
	return many, one, nil
}

func listPackages(folder string) (listed []*goPackage, err error) {
	list := exec.Command("go", "list", "-race", "-json=ImportPath,Dir,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...")
	list.Dir, list.Stderr = folder, os.Stderr
	list.Env = append(os.Environ(), "CGO_ENABLED=1") // which the detector needs
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for lines := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(goPackage)
		if err := lines.Decode(p); errors.Is(err, io.EOF) {
			return listed, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		listed = append(listed, p)
	}
}

// splitter knows what it has read.
type splitter struct {
	packages map[string]*goPackage
	starts   map[string]bool // by import path: whether the package, or one that it imports, starts goroutines
}

// testsStart reports whether tests of a package may start goroutines: their own code, the
// package, or what any of them imports.
func (s *splitter) testsStart(p *goPackage) (bool, error) {
	if starts, err := s.importStarts(p.ImportPath); starts || err != nil {
		return starts, err
	}
	return s.codeStarts(p.Dir, slices.Concat(p.TestGoFiles, p.XTestGoFiles), slices.Concat(p.TestImports, p.XTestImports))
}

func (s *splitter) importStarts(path string) (starts bool, err error) {
	if known, ok := s.starts[path]; ok {
		return known, nil
	}
	first, _, _ := strings.Cut(path, "/")
	p := s.packages[path]
	switch {
	case p != nil:
		s.starts[path] = false       // while it is looked at
		starts = len(p.CgoFiles) > 0 // cannot be told
		if !starts {
			starts, err = s.codeStarts(p.Dir, p.GoFiles, p.Imports)
		}
	case !strings.Contains(first, "."):
		starts = slices.Contains(concurrent, path)
	default:
		starts = !slices.ContainsFunc(sequential, func(library string) bool {
			return path == library || strings.HasPrefix(path, library+"/")
		})
	}
	s.starts[path] = starts
	return starts, err
}

func (s *splitter) codeStarts(dir string, files, imports []string) (bool, error) {
	for _, path := range imports {
		if starts, err := s.importStarts(path); starts || err != nil {
			return starts, err
		}
	}
	for _, name := range files {
		if starts, err := fileStarts(filepath.Join(dir, name)); starts || err != nil {
			return starts, err
		}
	}
	return false, nil
}

// fileStarts reports whether a file has a go statement or names a function that starts a
// goroutine.
func fileStarts(path string) (starts bool, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return false, err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			starts = true
		case *ast.SelectorExpr:
			starts = starts || slices.Contains(starters, n.Sel.Name)
		}
		return !starts
	})
	return starts, nil
}
