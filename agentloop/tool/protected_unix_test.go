//go:build unix

package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// lay makes files, links (NAME -> TARGET) and hard links (NAME = TARGET) in a folder.
func lay(t *testing.T, root string, entries ...string) {
	t.Helper()
	for _, entry := range entries {
		name, _, _ := strings.Cut(entry, " ")
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err != nil {
			t.Fatal(err)
		}
		switch parts := strings.SplitN(entry, " ", 3); {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case len(parts) == 3 && parts[1] == "->":
			err = os.Symlink(parts[2], path)
		case len(parts) == 3 && parts[1] == "=":
			err = os.Link(filepath.Join(root, parts[2]), path)
		default:
			err = os.WriteFile(path, []byte(strings.TrimPrefix(entry, name+" ")), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// realTemp is a temporary folder by its real path.
func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// writes calls every tool that writes on a path, and asserts that nothing below base
// changed and that the model reads why.
func refusesWrites(t *testing.T, folder Folder, base, path, want string) {
	t.Helper()
	tools := Files(folder)
	for name, args := range map[string]map[string]any{
		"write_file": {"path": path, "content": "EVIL"},
		"edit_file":  {"path": path, "oldText": "old", "newText": "EVIL"},
	} {
		text, isError := call(t, tools, name, args)
		if !isError || name == "write_file" && !strings.Contains(text, want) {
			t.Errorf("%s %s: %q, want %q in it", name, path, text, want)
		}
	}
	_ = filepath.WalkDir(base, func(file string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			if data, _ := os.ReadFile(file); strings.Contains(string(data), "EVIL") {
				t.Errorf("%s: %s was written", path, file)
			}
		}
		return nil
	})
}

// TestAPlaceByEveryName asserts that no file tool writes a protected place, by
// whatever name a model finds for it.
func TestAPlaceByEveryName(t *testing.T) {
	const hooks, git = "it belongs to the hooks", "git runs what is written there"
	tests := map[string]struct {
		lay  []string // below base; the project is p
		path string
		want string
	}{
		".acai is a link":                       {[]string{"p/shared/acai.json old", "p/.acai -> shared"}, "shared/acai.json", hooks},
		".acai is a link, as written":           {[]string{"p/shared/acai.json old", "p/.acai -> shared"}, ".acai/acai.json", hooks},
		".acai is a link, a new file":           {[]string{"p/shared/", "p/.acai -> shared"}, "shared/hooks/new.sh", hooks},
		"a nested one is a link":                {[]string{"p/conf/acai.json old", "p/sub/.acai -> ../conf"}, "conf/acai.json", hooks},
		"a link in it":                          {[]string{"p/lib/guard.py old", "p/.acai/hooks -> ../lib"}, ".acai/hooks/guard.py", hooks},
		"what a link in it leads to":            {[]string{"p/lib/guard.py old", "p/.acai/hooks -> ../lib"}, "lib/guard.py", hooks},
		"what a hook that is a link leads to":   {[]string{"p/guard.py old", "p/.acai/hooks/guard -> ../../guard.py", "p/.acai/hooks/up -> ../.."}, "guard.py", hooks},
		"a dangling link to it":                 {[]string{"p/.acai/x old", "p/new -> .acai/hooks/new.sh"}, "new", hooks},
		"a folder that is a link":               {[]string{"p/.acai/acai.json old", "p/a -> b", "p/b -> .acai"}, "a/acai.json", hooks},
		"it is not there yet":                   {[]string{"p/x old"}, ".acai/hooks/new.sh", hooks},
		"a nested one is not there yet":         {[]string{"p/x old"}, "deep/er/.acai/acai.json", hooks},
		"a hard link":                           {[]string{"p/.acai/acai.json old", "p/innocent = p/.acai/acai.json"}, "innocent", hooks},
		"a hard link to a nested one":           {[]string{"p/a/b/.acai/acai.json old", "p/innocent = p/a/b/.acai/acai.json"}, "innocent", hooks},
		"a hard link to the user's":             {[]string{"home/.acai/acai.json old", "p/innocent = home/.acai/acai.json"}, "innocent", hooks},
		"a hard link to an ancestor's":          {[]string{".acai/acai.json old", "p/innocent = .acai/acai.json"}, "innocent", hooks},
		"a hard link to git's":                  {[]string{"p/.git/config old", "p/innocent = p/.git/config"}, "innocent", git},
		"other case":                            {[]string{"p/x old"}, ".Acai/acai.json", hooks},
		"a character that nobody sees":          {[]string{"p/x old"}, ".ac\u200cai/acai.json", hooks},
		"slashes and dots":                      {[]string{"p/.acai/acai.json old"}, "x/..//./.acai//acai.json/", hooks},
		"by the process":                        {[]string{"p/.acai/acai.json old"}, "ROOT/.acai/acai.json", hooks},
		"by the folder of the process":          {[]string{"p/.acai/acai.json old"}, "/proc/self/cwd/.acai/acai.json", hooks},
		"another agent's":                       {[]string{"p/x old"}, ".gemini/settings.json", hooks},
		"another agent's pattern":               {[]string{"p/x old"}, ".claude/settings.other.json", hooks},
		"another agent's, nested":               {[]string{"p/x old"}, "sub/.kiro/hooks/x.json", hooks},
		"another agent's, linked":               {[]string{"p/c.json old", "p/.cursor/hooks.json -> ../c.json"}, "c.json", hooks},
		"git's config":                          {[]string{"p/.git/config old"}, ".git/config", git},
		"git's hooks":                           {[]string{"p/.git/HEAD old"}, ".git/hooks/post-checkout", git},
		"git's attributes":                      {[]string{"p/.git/HEAD old"}, ".git/info/attributes", git},
		"git is not there yet":                  {[]string{"p/x old"}, ".git/config", git},
		"git in other case":                     {[]string{"p/x old"}, ".GIT/config", git},
		"a submodule's":                         {[]string{"p/lib/.git gitdir: ../.git/modules/lib", "p/.git/modules/lib/config old"}, ".git/modules/lib/config", git},
		"a .git file":                           {[]string{"p/lib/x old"}, "lib/.git", git},
		"git's folder elsewhere":                {[]string{"p/.git gitdir: meta", "p/meta/config old"}, "meta/config", git},
		"git's folder by a link":                {[]string{"p/meta/config old", "p/.git -> meta"}, "meta/config", git},
		"a nested one elsewhere":                {[]string{"p/sub/.git gitdir: ../meta", "p/meta/config old"}, "meta/config", git},
		"a worktree's common folder":            {[]string{"p/.git gitdir: w", "p/w/commondir ../common", "p/common/config old"}, "common/config", git},
		"a bare repository":                     {[]string{"p/r/HEAD old", "p/r/objects/", "p/r/refs/"}, "r/config", git},
		"a bare repository's hook":              {[]string{"p/r/HEAD old", "p/r/objects/", "p/r/refs/"}, "r/hooks/post-commit", git},
		"what makes one, the last of its parts": {[]string{"p/r/config old", "p/r/objects/", "p/r/refs/"}, "r/HEAD", git},
		"what makes one of the project":         {[]string{"p/config old", "p/HEAD old", "p/refs/"}, "objects/x", git},
		"what makes one with another's parts":   {[]string{"p/config old", "p/commondir x"}, "HEAD", git},
		"git's own settings of the user":        {[]string{"home/.gitconfig old", "p/innocent = home/.gitconfig"}, "innocent", git},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			base := realTemp(t)
			lay(t, base, append(test.lay, "p/plain old")...)
			folder := Folder{
				Project:   filepath.Join(base, "p"),
				Refused:   []string{filepath.Join(base, "home", ".acai")},
				Unwritten: []string{filepath.Join(base, "home", ".gitconfig")},
			}
			path := test.path
			if rest, is := strings.CutPrefix(path, "ROOT/"); is {
				if _, err := os.Stat("/proc/self/root"); err != nil {
					t.Skip("no /proc here")
				}
				path = "/proc/self/root" + filepath.Join(folder.Project, rest)
			}
			if strings.HasPrefix(path, "/proc/self/cwd") {
				if _, err := os.Stat("/proc/self/cwd"); err != nil {
					t.Skip("no /proc here")
				}
				t.Chdir(folder.Project)
			}
			refusesWrites(t, folder, base, path, test.want)
			if text, isError := call(t, Files(folder), "write_file", map[string]any{"path": "plain", "content": "new"}); isError {
				t.Errorf("an ordinary file: %s", text)
			}
		})
	}
}

// TestGitIsRead asserts that what git keeps is refused for writing only, and that
// secrets of the user are not read by another name.
func TestGitIsRead(t *testing.T) {
	base := realTemp(t)
	lay(t, base, "p/.git/config two", "home/.acai/acai.json SECRET two", "p/linked = home/.acai/acai.json", "p/twice two", "p/twin = p/twice")
	folder := Folder{Project: filepath.Join(base, "p"), Refused: []string{filepath.Join(base, "home/.acai")}}
	tools := Files(folder)
	if text, isError := call(t, tools, "read_file", map[string]any{"path": ".git/config"}); isError || text != "two" {
		t.Errorf("git's config: %s", text)
	}
	if text, isError := call(t, tools, "read_file", map[string]any{"path": "linked"}); !isError || strings.Contains(text, "SECRET") {
		t.Errorf("the user's settings by a hard link: %s", text)
	}
	if text, _ := call(t, tools, "grep", map[string]any{"pattern": "two"}); strings.Contains(text, "SECRET") || !strings.Contains(text, "twin:1:two") {
		t.Errorf("grep: %s", text)
	}
	if text, isError := call(t, tools, "write_file", map[string]any{"path": "twin", "content": "three"}); isError {
		t.Errorf("a hard link of the project's own: %s", text)
	}
}

// TestARaceForAPlace has links come and go while a model writes.
func TestARaceForAPlace(t *testing.T) {
	base := realTemp(t)
	p := filepath.Join(base, "p")
	lay(t, p, ".acai/f old", "real/f old", "d -> real")
	end := time.Now().Add(300 * time.Millisecond)
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for i := 0; time.Now().Before(end); i++ {
			next := filepath.Join(p, fmt.Sprint("next", i))
			if os.Symlink([]string{".acai", "real"}[i%2], next) != nil || os.Rename(next, filepath.Join(p, "d")) != nil {
				return
			}
		}
	})
	tools := Files(Folder{Project: p})
	for time.Now().Before(end) {
		call(t, tools, "write_file", map[string]any{"path": "d/f", "content": "EVIL"})
		call(t, tools, "write_file", map[string]any{"path": "d/new/g", "content": "EVIL"})
	}
	swapping.Wait()
	if data, err := os.ReadFile(filepath.Join(p, ".acai/f")); err != nil || string(data) != "old" {
		t.Errorf(".acai/f is %q (%v)", data, err)
	}
	if _, err := os.Stat(filepath.Join(p, ".acai/new")); err == nil {
		t.Error(".acai/new was made")
	}
}

// TestLinksOfTheStateProtectNothing: private copies of hooks lie in the state among links to
// the files beside the originals, which are the project's root for many. Those files are
// read and written; the state itself is not, by whatever name.
func TestLinksOfTheStateProtectNothing(t *testing.T) {
	base := realTemp(t)
	lay(t, base, "p/README old", "p/src/a old", "state/hooks/h/guard.sh old", "p/copy = state/hooks/h/guard.sh",
		"state/hooks/h/README -> "+filepath.Join(base, "p/README"), "state/hooks/h/src -> "+filepath.Join(base, "p/src"), "p/s -> ../state")
	tools := Files(Folder{Project: filepath.Join(base, "p"), State: filepath.Join(base, "state")})
	for path, refused := range map[string]bool{"README": false, "src/a": false, "copy": true, "s/hooks/h/guard.sh": true, filepath.Join(base, "state/hooks/h/guard.sh"): true} {
		for name, args := range map[string]map[string]any{"read_file": {"path": path}, "edit_file": {"path": path, "oldText": "old", "newText": "old"}} {
			if text, isError := call(t, tools, name, args); isError != refused {
				t.Errorf("%s %s: %s", name, path, text)
			}
		}
	}
}

// TestMentions asserts which words of a command are told of.
func TestMentions(t *testing.T) {
	base := realTemp(t)
	lay(t, base, "p/shared/acai.json old", "p/.acai -> shared", "p/.git/config old", "home/.acai/acai.json old", "p/h -> ../home", "p/src/a old")
	folder := Folder{Project: filepath.Join(base, "p"), Refused: []string{filepath.Join(base, "home/.acai")}}
	for word, want := range map[string]bool{
		".acai": true, "shared/acai.json": true, "shared/new": true, "./x/../.acai": true, ".git/hooks/pre-commit": true, ".gIt/config": true,
		filepath.Join(base, "home/.acai/acai.json"): true, "h/.acai": true, ".claude/settings.json": true,
		"src/a": false, ".git": false, "": false, "..": false, "-rf": false, "a\nb": false, "https://example.org/x": false,
	} {
		if got := folder.Mentions([]string{"src", word}); (got != "") != want {
			t.Errorf("%q: %q", word, got)
		}
	}
}
