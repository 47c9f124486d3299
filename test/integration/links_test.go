package integration

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	codeBlock  = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	codeSpan   = regexp.MustCompile("`[^`\n]*`")
	pageLink   = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#{1,6} +(.*?) *#*$`)
	headLink   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	htmlAnchor = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
)

// No link of any page in the repository is dead: its file is there, and so is the heading
// that its anchor names. What leads out of the repository is not followed.
func TestLinksOfAllPagesLeadSomewhere(t *testing.T) {
	t.Parallel()
	pages, links, anchors := 0, 0, 0
	err := filepath.WalkDir(root(t), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "testdata" || entry.Name() == "node_modules" || entry.Name() == "bin"):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		pages++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, target := range linksOf(string(text)) {
			links++
			if strings.Contains(target, "#") {
				anchors++
			}
			if err := leads(path, target); err != nil {
				t.Errorf("%s: link to %s: %v", pageName(t, path), target, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 30 || links < 150 || anchors < 30 {
		t.Errorf("only %d pages, %d links and %d anchors were found", pages, links, anchors)
	}
}

// What the test of the links must find, and what it must not take for a link.
func TestDeadLinksAreFound(t *testing.T) {
	page := filepath.Join(t.TempDir(), "a.md")
	const text = "# One two\n## `fire`: a *loud* one!\n## Same\n## Same\n```sh\n# no heading\n[x](gone.md)\n```\n`[y](gone.md)` [web](https://x.org/#z) <a id=\"own\"></a>\n"
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for target, dead := range map[string]bool{
		"#one-two": false, "#fire-a-loud-one": false, "#same": false, "#same-1": false, "#own": false, "a.md": false, "a.md#same": false,
		"#same-2": true, "#no-heading": true, "#One-two": true, "b.md": true, "b.md#same": true, "a.md#gone": true,
	} {
		if err := leads(page, target); (err != nil) != dead {
			t.Errorf("%s: %v", target, err)
		}
	}
	if links := linksOf(text); len(links) > 0 {
		t.Errorf("links: %q", links)
	}
	if links := linksOf("[a](b.md#c) and ![p](d.svg)"); len(links) != 2 {
		t.Errorf("links: %q", links)
	}
}

// linksOf are the targets of a page's links that stay in the repository.
func linksOf(text string) (targets []string) {
	prose := codeSpan.ReplaceAllString(codeBlock.ReplaceAllString(text, ""), "`code`")
	for _, found := range pageLink.FindAllStringSubmatch(prose, -1) {
		if !strings.Contains(found[1], "://") && !strings.HasPrefix(found[1], "mailto:") {
			targets = append(targets, found[1])
		}
	}
	return targets
}

// leads returns why a link of a page leads nowhere, or nil.
func leads(page, target string) error {
	file, anchor, hasAnchor := strings.Cut(target, "#")
	path := page
	if file != "" {
		path = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
	}
	if _, err := os.Stat(path); err != nil {
		return err
	}
	if !hasAnchor {
		return nil
	}
	if filepath.Ext(path) != ".md" {
		return errors.New("an anchor in a file that is no page")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !anchorsOf(string(text))[anchor] {
		return errors.New("no heading is called so")
	}
	return nil
}

// anchorsOf are the anchors of a page as GitHub makes them of its headings: lower case,
// blanks as hyphens, no other punctuation, and a number after one that was there before.
func anchorsOf(text string) map[string]bool {
	all := map[string]bool{}
	for _, found := range htmlAnchor.FindAllStringSubmatch(text, -1) {
		all[found[1]] = true
	}
	seen := map[string]int{}
	for _, found := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		name := anchorOf(headLink.ReplaceAllString(found[1], "$1"))
		if n := seen[name]; n > 0 {
			all[fmt.Sprintf("%s-%d", name, n)] = true
		} else {
			all[name] = true
		}
		seen[name]++
	}
	return all
}

func anchorOf(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-':
			return '-'
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// docs/README.md is the way to every page: each stands in it.
func TestTheIndexNamesEveryPage(t *testing.T) {
	index := filepath.Join(root(t), "docs", "README.md")
	text, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, target := range linksOf(string(text)) {
		file, _, _ := strings.Cut(target, "#")
		named[filepath.Join(filepath.Dir(index), filepath.FromSlash(file))] = true
	}
	for _, page := range pages(t) {
		if name := pageName(t, page); strings.HasPrefix(name, "docs/") && page != index && !named[page] {
			t.Errorf("docs/README.md does not name %s", name)
		}
	}
}
