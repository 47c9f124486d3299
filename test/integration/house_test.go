package integration

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The limits of the house: a package is one idea, and so is a struct.
const (
	mostFiles   = 15 // of a package, platform halves and tests aside
	mostFields  = 12 // of a struct that is no plain record
	mostMethods = 25
	mostLines   = 420 // of a file
)

// records are structs over mostFields that hold data and no logic: what a wire format
// or a settings file has, options, or a result. Each says which.
var records = map[string]string{
	"agentloop.Options":                   "options of a caller",
	"executor.Hook":                       "a hook of a set",
	"executor/daemon.Listed":              "an answer of the daemon",
	"executor/daemon.Options":             "options of a caller",
	"executor/process.Command":            "what is run",
	"executor/process.Result":             "how a run ended",
	"executor/record.Event":               "a line of a record",
	"loader.Options":                      "options of a caller",
	"loader/internal/imports.Hook":        "an entry of another agent's settings",
	"protocol.Event":                      "the envelope of an event",
	"protocol/dialect/foreignhooks.Agent": "a row of the table of agents",
	"protocol.GoHook":                     "a hook as its author writes it",
	"protocol.Outcome":                    "the answer to an event",
	"protocol.Part":                       "a part of a message",
	"protocol.Reply":                      "what a hook answers",
	"protocol.Run":                        "a hook's part in an outcome",
	"protocol.Spec":                       "a row of the events table",
	"schema.AgentSettings":                "a part of the settings file",
	"schema.Entry":                        "an entry of a settings file",
	"schema.Hook":                         "a hook's description",
	"schema.HookSettings":                 "a part of the settings file",
	"schema.Key":                          "a row of the settings table",
}

// largePackages are packages over mostFiles, each with the reason.
var largePackages = map[string]string{
	"protocol/dialect/hosts":        "a list, one file for each agent",
	"protocol/dialect/foreignhooks": "a list, one file for each agent",
	"executor/process":              "one kind of containment beside the other, most of them for one platform",
}

// TestHouse keeps packages, files and structs small, each package with a manual, and the
// start of the program short.
func TestHouse(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	house := readHouse(t, root)
	if len(house) < 40 {
		t.Fatalf("%d packages found", len(house))
	}
	for _, dir := range slices.Sorted(maps.Keys(house)) {
		p := house[dir]
		if strings.HasPrefix(dir, "test") {
			continue
		}
		if n := len(p.files); n > mostFiles && largePackages[dir] == "" {
			t.Errorf("%s has %d files; a package with more than %d is two rooms", dir, n, mostFiles)
		}
		if !p.manual && dir != "examples" {
			t.Errorf("%s has no package comment in doc.go", dir)
		}
		for _, name := range p.early {
			t.Errorf("%s.%s is compiled at each start of the program, for every event of an agent: use sync.OnceValue", dir, name)
		}
		for name, lines := range p.lines {
			if lines > mostLines {
				t.Errorf("%s/%s has %d lines; a file with more than %d is two ideas", dir, name, lines, mostLines)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(p.fields)) {
			if n := p.fields[name]; n > mostFields && records[dir+"."+name] == "" {
				t.Errorf("%s.%s has %d fields; more than %d are for plain records", dir, name, n, mostFields)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(p.methods)) {
			if n := p.methods[name]; n > mostMethods {
				t.Errorf("%s.%s has %d methods, more than %d", dir, name, n, mostMethods)
			}
		}
	}
	for name := range records {
		dir, of, _ := strings.Cut(name, ".")
		if p := house[dir]; p == nil || p.fields[of] <= mostFields {
			t.Errorf("%s is listed as a large record and is none", name)
		}
	}
}

// room is what a package's files hold, without its tests.
type room struct {
	files   map[string]bool // without platform halves
	lines   map[string]int
	fields  map[string]int // by struct
	methods map[string]int // by type
	manual  bool
	early   []string // variables that are a regular expression when the program starts
}

var platformHalf = regexp.MustCompile(`_(linux|unix|other|windows|darwin|bsd)\.go$`)

func readHouse(t *testing.T, root string) map[string]*room {
	house := make(map[string]*room)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && path != root) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		dir = filepath.ToSlash(dir)
		if house[dir] == nil {
			house[dir] = &room{files: map[string]bool{}, lines: map[string]int{}, fields: map[string]int{}, methods: map[string]int{}}
		}
		return house[dir].read(path)
	})
	if err != nil {
		t.Fatal(err)
	}
	return house
}

func (p *room) read(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	p.lines[name] = strings.Count(string(text), "\n")
	if !platformHalf.MatchString(name) {
		p.files[name] = true
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if file.Doc.Text() != "" && (name == "doc.go" || file.Name.Name == "main") {
		p.manual = true
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv != nil {
				p.methods[receiver(decl.Recv.List[0].Type)]++
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if values, ok := spec.(*ast.ValueSpec); ok {
					p.early = append(p.early, compiledAtStart(values)...)
				}
				if named, ok := spec.(*ast.TypeSpec); ok {
					if body, ok := named.Type.(*ast.StructType); ok {
						p.fields[named.Name.Name] = body.Fields.NumFields()
					}
				}
			}
		}
	}
	return nil
}

// compiledAtStart names the variables that are set to a compiled expression.
func compiledAtStart(values *ast.ValueSpec) (names []string) {
	for i, value := range values.Values {
		call, is := value.(*ast.CallExpr)
		if !is {
			continue
		}
		if f, is := call.Fun.(*ast.SelectorExpr); is && (f.Sel.Name == "MustCompile" || f.Sel.Name == "MustCompilePOSIX") {
			names = append(names, values.Names[i].Name)
		}
	}
	return names
}

// receiver is the name of the type that a method is of.
func receiver(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
