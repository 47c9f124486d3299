package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// project is a project with what a model might reach for, beside a secret.
func project(t *testing.T) Folder {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(base, "my proj (été)")
	for name, content := range map[string]string{
		"my proj (été)/a.txt":                          "one\ntwo\nthree\n",
		"my proj (été)/sub/b.go":                       "package sub // two\n",
		"my proj (été)/.acai/hooks/guard.sh":           "GUARD two",
		"my proj (été)/.claude/settings.json":          "GUARD two",
		"my proj (été)/.claude/notes.md":               "fine",
		"my proj (été)/nested/.acai/acai.json":         "GUARD two",
		"my proj (été)/.git/config":                    "two",
		"my proj (été)/state/trust":                    "GUARD two",
		"my proj (été)/acai/fine.txt":                  "fine",
		"my proj (été)/binary":                         "a\x00two",
		"my proj (été)/latin1.txt":                     "caf\xe9 two\n",
		"outside.txt":                                  "SECRET two",
		"my proj (été)x/twin.txt":                      "SECRET two",
		"my proj (été)/.acai/hooks/guard.sh.hook.json": "GUARD",
	} {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"out":       "../outside.txt",
		"absolute":  filepath.Join(base, "outside.txt"),
		"dangling":  "../new.txt",
		"up":        "..",
		"guards":    ".acai",
		"newguard":  ".acai/hooks/new.sh",
		"chain":     "guards/hooks",
		"inner.txt": "sub/b.go",
		"loop":      "loop",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skip("this machine makes no symbolic links, so none can lead out of the project: ", err)
		}
	}
	return Folder{Project: root, Refused: []string{filepath.Join(root, "state")}}
}

func call(t *testing.T, tools []Tool, name string, args map[string]any) (string, bool) {
	t.Helper()
	registry, err := NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	if err := registry.Check(name, encoded); err != nil {
		t.Fatal(err)
	}
	found, _, _ := registry.Lookup(name)
	result, err := found.Run(t.Context(), encoded)
	if err != nil {
		t.Fatal(err)
	}
	return result.Content.Text(), result.IsError
}

// TestConfinement is every tool on every way out and every way to the hooks.
func TestConfinement(t *testing.T) {
	folder := project(t)
	tools := Files(folder)
	outside := "outside the project folder"
	refused := "it belongs to the hooks"
	for path, want := range map[string]string{
		"../outside.txt": outside, "sub/../../outside.txt": outside, "/etc/passwd": outside,
		filepath.Join(filepath.Dir(folder.Project), "outside.txt"): outside,
		folder.Project + "x/twin.txt":                              outside,
		"out":                                                      outside,
		"absolute":                                                 outside,
		"dangling":                                                 outside,
		"up/outside.txt":                                           outside,
		"up/new/deep.txt":                                          outside,
		".acai/hooks/guard.sh":                                     refused,
		".ACAI/hooks/guard.sh":                                     refused,
		"sub/../.acai/x":                                           refused,
		".acai":                                                    refused,
		"guards/hooks/guard.sh":                                    refused,
		"guards/new":                                               refused,
		"chain/guard.sh":                                           refused,
		"newguard":                                                 refused,
		"nested/.acai/acai.json":                                   refused,
		".claude/settings.json":                                    refused,
		"state/trust":                                              refused,
		"state/new/deep":                                           refused,
		".codex/hooks.json":                                        refused,
		filepath.Join(folder.Project, ".acai/hooks"): refused,
		"a\x00b": "NUL",
		"loop":   "too many",
	} {
		for name, args := range map[string]map[string]any{
			"read_file":  {"path": path},
			"write_file": {"path": path, "content": "EVIL"},
			"edit_file":  {"path": path, "oldText": "two", "newText": "EVIL"},
			"list_dir":   {"path": path},
			"grep":       {"path": path, "pattern": "two"},
		} {
			text, isError := call(t, tools, name, args)
			if !isError || !strings.Contains(text, want) || strings.Contains(text, "SECRET") || strings.Contains(text, "GUARD") {
				t.Errorf("%s %q: %q, want %q in it", name, path, text, want)
			}
		}
	}
	unchanged(t, folder)
}

// unchanged asserts that nothing outside or of the hooks was written.
func unchanged(t *testing.T, folder Folder) {
	t.Helper()
	err := filepath.WalkDir(filepath.Dir(folder.Project), func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "EVIL") {
			t.Errorf("%s was written", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestInside(t *testing.T) {
	folder := project(t)
	tools := Files(folder)
	for _, c := range []struct {
		tool  string
		args  map[string]any
		want  string
		error bool
	}{
		{"read_file", map[string]any{"path": "a.txt"}, "one\ntwo\nthree\n", false},
		{"read_file", map[string]any{"path": filepath.Join(folder.Project, "a.txt"), "offset": 2, "limit": 1}, "two\n… 1 more lines; go on with offset 3 …", false},
		{"read_file", map[string]any{"path": "a.txt", "offset": 9}, "a.txt: has only 3 lines", true},
		{"read_file", map[string]any{"path": "inner.txt"}, "package sub // two\n", false},
		{"read_file", map[string]any{"path": "latin1.txt"}, "caf\uFFFD two\n", false},
		{"read_file", map[string]any{"path": "binary"}, "is a binary file", true},
		{"read_file", map[string]any{"path": "sub"}, "sub: is a folder", true},
		{"read_file", map[string]any{"path": "nobody"}, "nobody: no such file", true},
		{"read_file", map[string]any{"path": ".claude/notes.md"}, "fine", false},
		{"read_file", map[string]any{"path": "acai/fine.txt"}, "fine", false},
		{"write_file", map[string]any{"path": "new/deep/c.txt", "content": "c"}, "wrote 1 bytes", false},
		{"read_file", map[string]any{"path": "new/deep/c.txt"}, "c", false},
		{"write_file", map[string]any{"path": "sub", "content": "c"}, "is not a regular file", true},
		{"edit_file", map[string]any{"path": "a.txt", "oldText": "two", "newText": "2"}, "replaced 1 in a.txt", false},
		{"read_file", map[string]any{"path": "a.txt"}, "one\n2\nthree\n", false},
		{"edit_file", map[string]any{"path": "a.txt", "oldText": "two", "newText": "2"}, "does not occur", true},
		{"edit_file", map[string]any{"path": "a.txt", "oldText": "e", "newText": "E"}, "occurs 3 times", true},
		{"edit_file", map[string]any{"path": "a.txt", "oldText": "e", "newText": "E", "replaceAll": true}, "replaced 3", false},
		{"edit_file", map[string]any{"path": "a.txt", "oldText": "", "newText": "E"}, "oldText is empty", true},
		{"list_dir", map[string]any{"path": "sub"}, "b.go\n", false},
		{"list_dir", map[string]any{}, "sub/\n", false},
		{"list_dir", map[string]any{"path": "nobody"}, "no such file", true},
		{"grep", map[string]any{"pattern": "two"}, "latin1.txt:1:caf\uFFFD two\nsub/b.go:1:package sub // two\n", false},
		{"grep", map[string]any{"pattern": "two", "glob": "*.go"}, "sub/b.go:1:package sub // two\n", false},
		{"grep", map[string]any{"pattern": "two", "path": "sub/b.go"}, "sub/b.go:1:", false},
		{"grep", map[string]any{"pattern": "zzz"}, "no match", false},
		{"grep", map[string]any{"pattern": "("}, "missing closing", true},
		{"grep", map[string]any{"pattern": "a", "glob": "["}, "syntax error in pattern", true},
	} {
		text, isError := call(t, tools, c.tool, c.args)
		if isError != c.error || !strings.Contains(text, c.want) || strings.Contains(text, "GUARD") {
			t.Errorf("%s %v: %q (error %v), want %q in it", c.tool, c.args, text, isError, c.want)
		}
	}
}

func TestResultsAreBounded(t *testing.T) {
	folder := project(t)
	tools := Files(folder)
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(folder.Project, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("lines", strings.Repeat("two\n", 5000))
	write("line", strings.Repeat("€", 1<<20))
	write("huge", strings.Repeat("x", maxFile+1))
	for path, want := range map[string]string{
		"lines": "… 3000 more lines; go on with offset 2001 …",
		"line":  "line 1 is cut at 262144 bytes",
		"huge":  "has 16777217 bytes, more than 16777216",
	} {
		text, _ := call(t, tools, "read_file", map[string]any{"path": path})
		if len(text) > maxResult+200 || !strings.Contains(text, want) {
			t.Errorf("%s: %d bytes, ending %q", path, len(text), text[max(0, len(text)-80):])
		}
	}
	text, _ := call(t, tools, "grep", map[string]any{"pattern": "two|€", "path": "."})
	if !strings.Contains(text, "stopped after 200 matches") || !strings.Contains(text, "could not be read or are larger") && strings.Count(text, "\n") > 210 {
		t.Errorf("grep: %d lines", strings.Count(text, "\n"))
	}
	for i := range 1200 {
		write(fmt.Sprintf("f%d", i), "")
	}
	if text, _ := call(t, tools, "list_dir", nil); strings.Count(text, "\n") > 1001 || !strings.Contains(text, " more …") {
		t.Errorf("list_dir: %d lines", strings.Count(text, "\n"))
	}
}

// TestNoFileBlocks asserts that a FIFO holds no tool up.
func TestNoFileBlocks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no FIFO that a tool could hang on")
	}
	folder := project(t)
	makeFIFO(t, filepath.Join(folder.Project, "fifo"))
	began := time.Now()
	for name, args := range map[string]map[string]any{
		"read_file":  {"path": "fifo"},
		"write_file": {"path": "fifo", "content": "x"},
		"edit_file":  {"path": "fifo", "oldText": "x", "newText": "y"},
	} {
		if text, isError := call(t, Files(folder), name, args); !isError || !strings.Contains(text, "is not a regular file") {
			t.Errorf("%s: %q", name, text)
		}
	}
	if text, _ := call(t, Files(folder), "grep", map[string]any{"pattern": "three"}); !strings.Contains(text, "a.txt") {
		t.Errorf("grep: %q", text)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestProjectIsGone(t *testing.T) {
	folder := Folder{Project: filepath.Join(t.TempDir(), "gone")}
	for name, args := range map[string]map[string]any{
		"read_file": {"path": "a"}, "write_file": {"path": "a", "content": ""}, "list_dir": {}, "grep": {"pattern": "a"},
	} {
		if text, isError := call(t, Files(folder), name, args); !isError || !strings.Contains(text, "project folder") {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestGrepObeysTheContext(t *testing.T) {
	folder := project(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop it")
	cancel(stop)
	if _, err := (&files{Folder: folder}).grep(ctx, grepArgs{Pattern: "two"}); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
}

func TestRegistry(t *testing.T) {
	files := Files(Folder{Project: t.TempDir()})
	if _, err := NewRegistry(append(files, files[0])...); err == nil || !strings.Contains(err.Error(), "two tools are named read_file") {
		t.Errorf("%v", err)
	}
	r, err := NewRegistry(files...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, args, want string }{
		{"read_file", `{"path":"a"}`, ""},
		{"read_file", `{"path":"a","offset":3}`, ""},
		{"read_file", `{"path":"a","offset":"3"}`, "offset"},
		{"read_file", `{"path":"a","offset":1e400}`, ""}, // a whole number; Run says that it is too large
		{"read_file", `{"path":"a","offset":1.5}`, "offset"},
		{"read_file", `{}`, "path"},
		{"read_file", `{"path":"a","pahtt":"b"}`, "pahtt"},
		{"read_file", `{"path":"a","path":"b"}`, "duplicate"},
		{"read_file", `[]`, "not an object"},
		{"read_file", `{"path":"a"`, "EOF"},
		{"read_file", `{"path":"a"} {}`, "more than one"},
		{"unknown", `{"any":[1e400,{"x":null}]}`, ""},
	} {
		err := r.Check(c.name, []byte(c.args))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %s: %v, want %q", c.name, c.args, err, c.want)
		}
	}
	var e *Error
	if _, err := files[0].Run(t.Context(), []byte(`{"path":"a","offset":1e400}`)); !errors.As(err, &e) || e.Kind != protocol.CallBadArgs {
		t.Errorf("an offset no int holds: %v", err)
	}
	for _, spec := range r.List() {
		if spec.Description == "" || !jsonspan.Valid(spec.Schema) {
			t.Errorf("%+v", spec)
		}
	}
	if _, d, known := r.Lookup("nobody"); known || d.Kind != protocol.KindOther {
		t.Errorf("an unknown tool is %+v", d)
	}
}

func FuzzCheck(f *testing.F) {
	r, err := NewRegistry(Files(Folder{Project: "/"})...)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"path":"a","offset":1e400,"x":[null,true,{"y":"z"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := r.Check("read_file", data); err != nil {
			return
		}
		var args readArgs
		if err := json.Unmarshal(data, &args, json.RejectUnknownMembers(true)); err != nil && !strings.Contains(err.Error(), "overflow") && !strings.Contains(err.Error(), "range") {
			t.Errorf("%s fits the schema and not the type: %v", data, err)
		}
	})
}
