package integration

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated parts of the documentation")

// generated are the parts of the documentation that the code itself writes, by
// the name in their opening mark.
var generated = map[string]func() string{}

var generatedBlock = regexp.MustCompile(`(?s)<!-- generated: ([a-z-]+) -->\n(.*?)<!-- end -->`)

// The generated parts are what the code writes now. `make docs` updates them.
func TestGeneratedDocsAreCurrent(t *testing.T) {
	seen := map[string]bool{}
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		current := generatedBlock.ReplaceAllStringFunc(string(text), func(block string) string {
			name := generatedBlock.FindStringSubmatch(block)[1]
			write, known := generated[name]
			if !known {
				t.Errorf("%s: nothing generates %q", page, name)
				return block
			}
			seen[name] = true
			return "<!-- generated: " + name + " -->\n" + strings.TrimSpace(write()) + "\n<!-- end -->"
		})
		switch {
		case current == string(text):
		case *update:
			if err := os.WriteFile(page, []byte(current), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s is stale: run make docs", page)
		}
	}
	for name := range generated {
		if !seen[name] {
			t.Errorf("no page has the generated part %q", name)
		}
	}
}

func TestAgentsPageIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "AGENTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n >= 60 {
		t.Errorf("AGENTS.md has %d lines; it is read at the start of every session", n)
	}
}

// pages are all pages for people: those in the root of the repository, and docs.
func pages(t *testing.T) (found []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		some, err := filepath.Glob(filepath.Join(root(t), pattern))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, some...)
	}
	return found
}

// pageName is the path of a page in the repository, with slashes.
func pageName(t *testing.T, page string) string {
	t.Helper()
	name, err := filepath.Rel(root(t), page)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(name)
}
