//go:build unix

package protect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// project makes a project with entries: a file "NAME TEXT", a folder "NAME/", a link
// "NAME -> TARGET", a hard link "NAME = OTHER".
func project(t *testing.T, entries ...string) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name, rest, _ := strings.Cut(entry, " ")
		path := filepath.Join(base, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err != nil {
			t.Fatal(err)
		}
		rest = strings.ReplaceAll(rest, "BASE", base)
		if target, is := strings.CutPrefix(rest, "-> "); is {
			err = os.Symlink(target, path)
		} else if other, is := strings.CutPrefix(rest, "= "); is {
			err = os.Link(filepath.Join(base, other), path)
		} else if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = os.WriteFile(path, []byte(rest), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(base, "p")
}

// why says why a path of the project is refused, "" if it is not. The file that is there
// counts, too.
func why(t *testing.T, o Options, root, path string) string {
	t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		info = nil
	}
	err = Find(o, root, path).Check(path, info)
	var refused *RefusedError
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &refused):
		t.Fatalf("%s: %v", path, err)
	case err.Error() != "refused: "+refused.Why:
		t.Errorf("%s: %v", path, err)
	}
	return refused.Why
}

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		entries []string
		path    string
		read    string // why it is not read
		write   string // why it is not written
	}{
		"a file of the project": {[]string{"p/main.go x"}, "main.go", "", ""},
		"a new file":            {nil, "new.go", "", ""},
		"a new file in a new folder that looks like nothing": {nil, "a/b/new.go", "", ""},

		"our settings":                    {[]string{"p/.acai/x"}, ".acai/settings.yaml", whyHooks, whyHooks},
		"settings of a project below":     {[]string{"p/sub/.acai/x"}, "sub/.acai/x", whyHooks, whyHooks},
		"by another case":                 {[]string{"p/.acai/x"}, ".ACAI/x", whyHooks, whyHooks},
		"a pattern":                       {nil, ".claude/settings.local.json", whyHooks, whyHooks},
		"what an editor starts":           {nil, "sub/.zed/settings.json", whyHooks, whyHooks},
		"of an editor, not started":       {nil, ".zed/keymap.json", "", ""},
		"beside a pattern":                {nil, ".claude/settings", "", ""},
		"not a hook of another agent":     {nil, ".claude/agents/a.md", "", ""},
		"a name that only begins alike":   {nil, ".acaia/x", "", ""},
		"a link to the settings":          {[]string{"p/.acai/x y", "p/link -> .acai/x"}, "link", whyHooks, whyHooks},
		"a hard link to the settings":     {[]string{"p/.acai/x y", "p/hard = p/.acai/x"}, "hard", whyHooks, whyHooks},
		"what a link in a place leads to": {[]string{"p/scripts/hook.sh x", "p/.acai/hooks/h -> ../../scripts/hook.sh"}, "scripts/hook.sh", whyHooks, whyHooks},
		"a file beside it":                {[]string{"p/scripts/hook.sh x", "p/.acai/hooks/h -> ../../scripts/hook.sh", "p/scripts/other.sh x"}, "scripts/other.sh", "", ""},
		"a link to the whole project":     {[]string{"p/.acai/all -> ..", "p/main.go x"}, "main.go", "", ""},
		"a link out of the project":       {[]string{"out/x y", "p/.acai/o -> ../../out", "p/main.go x"}, "main.go", "", ""},
		"an ordinary hard link":           {[]string{"p/a x", "p/b = p/a"}, "b", "", ""},

		"git's config":                  {[]string{"p/.git/config x"}, ".git/config", "", whyGit},
		"by a name of Windows":          {nil, "git~1/config", "", whyGit},
		"a new .git":                    {nil, "sub/.git/hooks/pre-commit", "", whyGit},
		"a file that is named so":       {nil, "git/config", "", ""},
		"a hard link to a hook":         {[]string{"p/.git/hooks/pre-commit x", "p/h = p/.git/hooks/pre-commit"}, "h", "", whyGit},
		"an object":                     {[]string{"p/.git/objects/ab/cd x", "p/h = p/.git/objects/ab/cd"}, "h", "", ""},
		"where a worktree points":       {[]string{"p/.git gitdir: ../real.git\n", "real.git/config x", "p/l -> ../real.git/config"}, "BASE/real.git/config", "", whyGit},
		"its common folder":             {[]string{"p/.git gitdir: ../w\n", "w/commondir ../common\n", "common/hooks/h x"}, "BASE/common/hooks/h", "", whyGit},
		"a folder that is not git's":    {[]string{"p/.git not a gitdir", "p/a x"}, "a", "", ""},
		"a nested repository":           {[]string{"p/deep/er/.git gitdir: BASE/p/stored\n", "p/stored/config x"}, "stored/config", "", whyGit},
		"a bare repository":             {[]string{"p/bare/HEAD x", "p/bare/objects/", "p/bare/refs/"}, "bare/config", "", whyGit},
		"the last part of one":          {[]string{"p/bare/objects/", "p/bare/refs/"}, "bare/HEAD", "", whyGit},
		"with a common folder":          {[]string{"p/bare/HEAD x", "p/bare/commondir /x"}, "bare/config", "", whyGit},
		"no HEAD":                       {[]string{"p/bare/commondir /x"}, "bare/config", "", ""},
		"what a place links to outside": {[]string{"out/x y", "p/.acai/o -> ../../out"}, "BASE/out/x", "", ""},
		"not yet a repository":          {[]string{"p/bare/HEAD x", "p/bare/objects/"}, "bare/config", "", ""},
		"the project itself is one":     {[]string{"p/HEAD x", "p/objects/"}, "refs/heads/main", "", whyGit},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root := project(t, append([]string{"p/"}, test.entries...)...)
			path := strings.ReplaceAll(test.path, "BASE", filepath.Dir(root))
			if got := why(t, Options{}, root, path); got != test.read {
				t.Errorf("read: %q, want %q", got, test.read)
			}
			if got := why(t, Options{Writing: true}, root, path); got != test.write {
				t.Errorf("write: %q, want %q", got, test.write)
			}
		})
	}
}

// TestNamedPlaces: what the caller names is protected, wherever it lies.
func TestNamedPlaces(t *testing.T) {
	root := project(t, "p/", "p/keys/a x", "p/hard = p/keys/a", "p/records/r x", "state/s x", "p/link -> ../state")
	state := filepath.Join(filepath.Dir(root), "state")
	o := Options{
		Refused:   []string{filepath.Join(root, "keys"), filepath.Join(root, "link"), ""},
		Unwritten: []string{filepath.Join(root, "records"), filepath.Join(root, "not-there/yet")},
	}
	for _, c := range []struct{ path, read, write string }{
		{"keys", whyHooks, whyHooks},
		{"keys/a", whyHooks, whyHooks},
		{"keys/new", whyHooks, whyHooks},
		{"keyset", "", ""},
		{"hard", whyHooks, whyHooks},
		{"link/s", whyHooks, whyHooks},
		{"link/new", whyHooks, whyHooks},
		{state + "/s", whyHooks, whyHooks},
		{"records/r", "", whyGit},
		{"not-there/yet", "", whyGit},
		{"main.go", "", ""},
	} {
		if got := why(t, o, root, c.path); got != c.read {
			t.Errorf("read %s: %q, want %q", c.path, got, c.read)
		}
		o.Writing = true
		if got := why(t, o, root, c.path); got != c.write {
			t.Errorf("write %s: %q, want %q", c.path, got, c.write)
		}
		o.Writing = false
	}
}

// TestPlacesAboveTheProject: a project may lie below another folder with hooks of its own.
func TestPlacesAboveTheProject(t *testing.T) {
	root := project(t, "p/a x", ".acai/hooks/h x", "p/hard = .acai/hooks/h")
	if got := why(t, Options{}, root, "hard"); got != whyHooks {
		t.Errorf("a hard link to a hook above the project: %q", got)
	}
	if got := why(t, Options{}, root, filepath.Join(filepath.Dir(root), ".acai/hooks/h")); got != whyHooks {
		t.Errorf("a hook above the project: %q", got)
	}
}

// TestTooManyFiles: beyond the bound a file of several names is not written, any other is.
func TestTooManyFiles(t *testing.T) {
	root := project(t, "p/.acai/", "p/one x", "p/two x", "p/twin = p/two")
	for i := range maxInPlace {
		if err := os.WriteFile(filepath.Join(root, ".acai", fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writing, reading := Find(Options{Writing: true}, root, root), Find(Options{}, root, root)
	for path, want := range map[string]string{"one": "", "two": whyLinks, "new": ""} {
		path = filepath.Join(root, path)
		info, err := os.Stat(path)
		if err != nil {
			info = nil
		}
		if got := writing.refuses(path, info); got != want {
			t.Errorf("write %s: %q, want %q", path, got, want)
		}
		if got := reading.refuses(path, info); got != "" {
			t.Errorf("read %s: %q", path, got)
		}
	}
}

func TestMentioned(t *testing.T) {
	root := project(t, "p/main.go x", "p/.acai/hooks/h x", "p/.git/config x", "p/link -> .acai", "p/.git/hooks/pre-commit x", "out/x y", "p/.acai/out -> ../../out", "p/deep -> .acai/hooks")
	for _, c := range []struct{ words, want string }{
		{"cat main.go", ""},
		{"rm -rf .acai/hooks", "p/.acai/hooks"},
		{"cat link/hooks/h", "p/.acai/hooks/h"},
		{"cat ./x/../.acai", "p/.acai"},
		{"git -C .git", ""}, // the folder is named by many harmless commands
		{"vi .git/config", "p/.git/config"},
		{"cp x .git/hooks/pre-push", "p/.git/hooks/pre-push"},
		{"cat BASE/p/.acai/hooks/h", "p/.acai/hooks/h"},
		{"cat BASE/out/x", ""},
		{"cat .acai/out/x", "out/x"},
		{"cp x deep/../new", "p/.acai/new"},
		{"cp x deep/../../new", ""},
		{"", ""},
	} {
		words := strings.Split(strings.ReplaceAll(c.words, "BASE", filepath.Dir(root)), " ")
		want := ""
		if c.want != "" {
			want = filepath.Join(filepath.Dir(root), c.want)
		}
		if got := Find(Options{Writing: true}, root, root).Mentioned(words); got != want {
			t.Errorf("%q: %q, want %q", c.words, got, want)
		}
	}
	p := Find(Options{Writing: true}, root, root)
	for _, word := range []string{".acai\n", ".acai\x00", strings.Repeat("./", 3000) + ".acai"} {
		if got := p.Mentioned([]string{word}); got != "" {
			t.Errorf("a word that is no path: %q", got)
		}
	}
}

func TestFold(t *testing.T) {
	for name, want := range map[string]string{
		"main.go": "main.go", ".ACAI": ".acai", ".aca\u0130": ".acai", ".git ": ".git", ".git. .": ".git", "...": "...", " ": " ",
		".g\u200cit": ".git", "GIT~1": ".git", "git~2": "git~2", "\u212aube": "kube", "\u017fet": "set", // the Kelvin sign is a k, the long s an s
	} {
		if got := Fold(name); got != want {
			t.Errorf("Fold(%q) is %q, want %q", name, got, want)
		}
	}
}

func TestIsInside(t *testing.T) {
	for _, c := range []struct {
		path, folder string
		want         bool
	}{
		{"/a/b", "/a", true}, {"/a", "/a", true}, {"/a", "/a/b", false}, {"/ab", "/a", false}, {"/a/..b", "/a", true}, {"/a/../b", "/a", false}, {"/a", "", false}, {"a", "", false}, {"a", "/a", false},
	} {
		if got := IsInside(c.path, c.folder); got != c.want {
			t.Errorf("IsInside(%q, %q) is %v", c.path, c.folder, got)
		}
	}
}
