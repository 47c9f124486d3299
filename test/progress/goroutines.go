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
	"regexp"
	"slices"
	"strings"
)

// The race detector compares what two goroutines do. It finds nothing where there is one,
// and makes that one five to ten times slower. So packages whose tests run on one goroutine
// are tested without it. What counts as a start is read from the source, and what cannot be
// told counts as one: a package that begins to start goroutines is tested with the detector
// from then on, as is every package whose tests use it. In such a package, tests that only
// compute and take long stand in files with "//go:build !concurrent" and are run without it.

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

// tests are the packages below a folder that have tests, in the order of go list.
type tests struct {
	many  []string // those whose tests may run on more than one goroutine
	one   []string // the others
	apart []string // those of many that have tests on one goroutine, in files for "!concurrent"
	names []string // of these tests
}

// tag is the build tag of tests with the race detector.
const tag = "concurrent"

func split(folder string) (*tests, error) {
	listed, err := listPackages(folder, "-race", "-tags="+tag)
	if err != nil {
		return nil, err
	}
	without, err := listPackages(folder)
	if err != nil {
		return nil, err
	}
	s := splitter{packages: map[string]*goPackage{}, starts: map[string]bool{}}
	for _, p := range listed {
		s.packages[p.ImportPath] = p
	}
	var found tests
	for _, p := range without {
		raced := s.packages[p.ImportPath]
		if raced == nil {
			raced = new(goPackage) // all its files are for "!concurrent"
		}
		all := slices.Concat(p.TestGoFiles, p.XTestGoFiles)
		withRace := slices.Concat(raced.TestGoFiles, raced.XTestGoFiles)
		if starts, err := s.testsStart(raced); err != nil {
			return nil, err
		} else if !starts || len(withRace) == 0 {
			if len(all) > 0 {
				found.one = append(found.one, p.ImportPath)
			}
			continue
		}
		found.many = append(found.many, p.ImportPath)
		names, err := testNames(p.Dir, slices.DeleteFunc(all, func(file string) bool { return slices.Contains(withRace, file) }))
		if err != nil {
			return nil, err
		}
		if len(names) > 0 {
			found.apart, found.names = append(found.apart, p.ImportPath), append(found.names, names...)
		}
	}
	return &found, nil
}

// testNames returns the names of the tests in files.
func testNames(dir string, files []string) (names []string, err error) {
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && testName.MatchString(f.Name.Name) {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names, nil
}

var testName = regexp.MustCompile("^(Test|Fuzz|Example)($|[^a-z])")

func listPackages(folder string, flags ...string) (listed []*goPackage, err error) {
	flags = append(flags, "-json=ImportPath,Dir,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...")
	list := exec.Command("go", append([]string{"list"}, flags...)...)
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
