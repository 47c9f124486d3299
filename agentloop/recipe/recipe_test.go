package recipe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookd-dev/hookd/protocol"
)

const review = `---
name: review
description: reviews a file
allowed_tools: [read_file, grep]
arguments:
- name: file
  description: path of the file
  required: true
- name: how
  default: briefly
---
Review {{file}} {{ how }}. {{file}}
`

func parse(t *testing.T, text string) *Recipe {
	t.Helper()
	r, findings := Parse([]byte(text), File{Name: "file", Path: "/r/file.md", Layer: protocol.User})
	for _, f := range findings {
		if f.Error {
			t.Fatal(f)
		}
	}
	return r
}

func TestParse(t *testing.T) {
	want := &Recipe{
		Name: "review", Description: "reviews a file", AllowedTools: []string{"read_file", "grep"},
		Arguments: []Argument{{"file", "path of the file", true, ""}, {"how", "", false, "briefly"}},
		Body:      "Review {{file}} {{ how }}. {{file}}", Layer: protocol.User, Path: "/r/file.md",
	}
	if diff := cmp.Diff(want, parse(t, review)); diff != "" {
		t.Error(diff)
	}
	if got := parse(t, "just a prompt"); got.Name != "file" || got.Allows("bash") || len(got.AllowedTools) != 0 {
		t.Errorf("a recipe without front matter: %+v", got)
	}
}

func TestFindings(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string
		used bool
	}{
		"unknown key":         {"---\nname: a\nmodel: x\n---\ntext", "/r/file.md:3: the key model means nothing", true},
		"undeclared argument": {"---\nname: a\n---\none\n{{ two }}", "/r/file.md:5: {{two}} is no argument", true},
		"bad name":            {"---\ndescription: x\nname: ../a\n---\ntext", `/r/file.md:3: the name "../a" is not made of`, false},
		"no text":             {"---\nname: a\n---\n", "/r/file.md:4: there is no text", false},
		"no end":              {"---\nname: a\n", "/r/file.md:1: the front matter has no end", false},
		"bad argument":        {"---\narguments:\n- {description: x}\n---\ntext", `/r/file.md:2: the argument name "" is not`, false},
		"argument twice":      {"---\narguments: [{name: a}, {name: a}]\n---\ntext", "/r/file.md:2: two arguments are named a", false},
		"required, default":   {"---\narguments: [{name: a, required: true, default: b}]\n---\ntext", "is required, so it can have no default", false},
		"arguments as text":   {"---\narguments: a\n---\ntext", "/r/file.md:2: a list is expected here", false},
	} {
		t.Run(name, func(t *testing.T) {
			r, findings := Parse([]byte(c.text), File{Name: "file", Path: "/r/file.md"})
			if len(findings) != 1 || !strings.Contains(findings[0].String(), c.want) {
				t.Errorf("findings %v, want %q", findings, c.want)
			}
			if (r != nil) != c.used || len(findings) > 0 && findings[0].Error == c.used {
				t.Errorf("used: %v, findings %+v", r != nil, findings)
			}
		})
	}
}

func TestRender(t *testing.T) {
	r := parse(t, review)
	for name, c := range map[string]struct {
		args  map[string]string
		want  string
		fails string
	}{
		"default":       {args: map[string]string{"file": "a.go"}, want: "Review a.go briefly. a.go"},
		"all":           {args: map[string]string{"file": "a.go", "how": "well"}, want: "Review a.go well. a.go"},
		"not again":     {args: map[string]string{"file": "{{how}}", "how": "$1 {{file}}"}, want: "Review {{how}} $1 {{file}}. {{how}}"},
		"empty counts":  {args: map[string]string{"file": "", "how": ""}, want: "Review  . "},
		"missing":       {fails: "recipe review needs the argument file (path of the file)"},
		"unknown":       {args: map[string]string{"file": "a", "hwo": "b"}, fails: `recipe review has no argument "hwo"; it has file, how`},
		"unknown first": {args: map[string]string{"x": "b"}, fails: `no argument "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := r.Render(c.args)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("error %v, want %q", err, c.fails)
				}
			} else if err != nil || got != c.want {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	if got, err := parse(t, "no {{arguments}} here").Render(nil); err != nil || got != "no {{arguments}} here" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLibrary(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	user, project := write("u.md", "---\nname: a\n---\nuser's"), write("p.md", "---\nname: a\n---\nproject's")
	for name, c := range map[string]struct {
		files    []File
		body     string
		findings []string
	}{
		"project before user": {
			files: []File{{"a", user, protocol.User, nil}, {"a", project, protocol.Project, nil}}, body: "project's"},
		"in any order": {
			files: []File{{"a", project, protocol.Project, nil}, {"a", user, protocol.User, nil}}, body: "project's"},
		"managed before all": {
			files: []File{{"a", "", protocol.Managed, []byte("---\nname: a\n---\nmanaged")}, {"a", project, protocol.Project, nil}}, body: "managed"},
		"a faulty one does not count": {
			files: []File{{"a", user, protocol.User, nil}, {"a", "/p.md", protocol.Project, []byte("---\nname: a\n")}}, body: "user's",
			findings: []string{"/p.md:1: the front matter has no end; a line --- closes it"}},
		"twice in a layer": {
			files: []File{{"a", user, protocol.User, nil}, {"b", "/v.md", protocol.User, []byte("---\nname: a\n---\nother")}}, body: "user's",
			findings: []string{"/v.md: the recipe a is in " + user + " already"}},
		"gone": {
			files: []File{{"a", user, protocol.User, nil}, {"b", filepath.Join(folder, "none.md"), protocol.User, nil}}, body: "user's",
			findings: []string{filepath.Join(folder, "none.md") + ": no such file or directory"}},
		"a folder": {
			files: []File{{"a", user, protocol.User, nil}, {"b", folder, protocol.User, nil}}, body: "user's",
			findings: []string{folder + ": it is not a regular file but a folder"}},
	} {
		t.Run(name, func(t *testing.T) {
			l, findings := New(c.files...)
			var said []string
			for _, f := range findings {
				said = append(said, f.String())
			}
			if diff := cmp.Diff(c.findings, said); diff != "" {
				t.Error(diff)
			}
			r, err := l.Get("a")
			if err != nil || r.Body != c.body {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// TestEmbedded asserts that the recipes that come with the program are without
// fault, and that compact has document 004's sections and no tools.
func TestEmbedded(t *testing.T) {
	l, findings := New()
	if len(findings) > 0 {
		t.Errorf("findings %v", findings)
	}
	r, err := l.Get("compact")
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range []string{"Primary Objective", "Key Decisions", "Files Modified", "Errors & Resolutions", "Pending Tasks"} {
		if !strings.Contains(r.Body, section) {
			t.Errorf("compact lacks the section %s", section)
		}
	}
	if len(r.AllowedTools) > 0 || r.Layer != protocol.Builtin || r.Description == "" {
		t.Errorf("%+v", r)
	}
	for _, r := range l.List() {
		if r.Description == "" {
			t.Errorf("recipe %s has no description", r.Name)
		}
	}
	if _, err := l.Get("compcat"); err == nil || !strings.Contains(err.Error(), "compact") {
		t.Errorf("error %v", err)
	}
}

func FuzzRender(f *testing.F) {
	f.Add(review, "a")
	f.Add("---\narguments: [{name: a}]\n---\n{{a}}{{{a}}}{{ {{a}} }}", "{{a}}")
	f.Fuzz(func(t *testing.T, text, value string) {
		r, findings := Parse([]byte(text), File{Name: "n"})
		if r == nil {
			if len(findings) == 0 {
				t.Fatal("no recipe and no word about it")
			}
			return
		}
		args := map[string]string{}
		for _, a := range r.Arguments {
			args[a.Name] = value
		}
		if _, err := r.Render(args); err != nil {
			t.Fatal(err)
		}
	})
}
