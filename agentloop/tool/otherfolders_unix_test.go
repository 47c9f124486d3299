//go:build unix

package tool

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// otherFolders are a project, two other folders of the session, and one that is none of it.
func otherFolders(t *testing.T) (base string, folder Folder) {
	base = realTemp(t)
	lay(t, base, "p/a old", "p/.acai/hooks/own.sh old", "p/.acai/hooks/link.sh -> ../../../other/hook.sh", "p/to -> ../other", "p/.acai/way -> ../../other",
		"other/b old needle", "other/deep/c old needle", "other/hook.sh old", "other/.acai/hooks/x.sh old", "other/.git/config old", "other/back -> ../p/.acai/hooks",
		"other/own = p/.acai/hooks/own.sh", "other/out -> ../third", "linked -> other", "second/d old", "third/e old", "home/.acai/hooks/u.sh old", "p/again = other/b",
		"up/.acai/hooks/far.sh -> ../../../p/far.sh", "p/far.sh old", "up/sub/f old")
	return base, Folder{
		Project: filepath.Join(base, "p"), Refused: []string{filepath.Join(base, "home/.acai")},
		Also: []string{filepath.Join(base, "linked"), filepath.Join(base, "second"), filepath.Join(base, "up/sub"), filepath.Join(base, "home/.acai"), filepath.Join(base, "missing")},
	}
}

// The file tools work in the other folders of a session as in its project, by every name that leads
// there, and keep out of the hooks of all of them.
func TestOtherFolders(t *testing.T) {
	base, folder := otherFolders(t)
	tools := Files(folder)
	for _, path := range []string{"other/b", "linked/b", "p/to/b", "second/d", "p/a"} {
		if text, isError := call(t, tools, "read_file", map[string]any{"path": filepath.Join(base, path)}); isError || !strings.HasPrefix(text, "old") {
			t.Errorf("%s: %s", path, text)
		}
		if text, isError := call(t, tools, "edit_file", map[string]any{"path": filepath.Join(base, path), "oldText": "old", "newText": "old"}); isError {
			t.Errorf("%s: %s", path, text)
		}
	}
	for _, path := range []string{"to/new/f", "../second/new/f", "new/f"} {
		if text, isError := call(t, tools, "write_file", map[string]any{"path": path, "content": "made"}); isError {
			t.Errorf("%s: %s", path, text)
		}
	}
	for _, path := range []string{"other/new/f", "second/new/f", "p/new/f"} {
		if got := read(t, base, path); got != "made" {
			t.Errorf("%s holds %q", path, got)
		}
	}
	for path, want := range map[string]string{
		"other/.acai/hooks/x.sh": "belongs to the hooks", "other/new/.acai/hooks/y.sh": "belongs to the hooks", "other/.git/config": "git runs", "other/back/own.sh": "belongs to the hooks",
		"other/own": "belongs to the hooks", "other/hook.sh": "belongs to the hooks", "p/far.sh": "belongs to the hooks", "p/.acai/way/b": "belongs to the hooks", "p/to/.acai/x": "belongs to the hooks",
		"home/.acai/hooks/u.sh": "belongs to the hooks", "third/e": "outside", "other/out/e": "outside", "other/../third/e": "outside", "missing/f": "outside",
	} {
		refusesWrites(t, folder, base, filepath.Join(base, path), want)
	}
	folder.Also = nil
	for _, path := range []string{"other/b", "p/to/b", "second/d"} {
		if text, isError := call(t, Files(folder), "read_file", map[string]any{"path": filepath.Join(base, path)}); !isError || !strings.Contains(text, "outside") {
			t.Errorf("%s of another session: %s", path, text)
		}
	}
}

// What is found in another folder is named so that it can be read by that name.
func TestSearchInOtherFolders(t *testing.T) {
	base, folder := otherFolders(t)
	tools := Files(folder)
	for _, path := range []string{filepath.Join(base, "other"), "to", "../other", filepath.Join(base, "linked")} {
		want := filepath.Join(base, "other/b") + ":1:old needle\n" + filepath.Join(base, "other/deep/c") + ":1:old needle\n"
		if text, _ := call(t, tools, "grep", map[string]any{"pattern": "needle", "path": path}); text != want {
			t.Errorf("grep %s: %s", path, text)
		}
		if text, _ := call(t, tools, "list_dir", map[string]any{"path": path}); !strings.Contains(text, "deep/\n") {
			t.Errorf("list_dir %s: %s", path, text)
		}
	}
	if text, _ := call(t, tools, "grep", map[string]any{"pattern": "needle"}); strings.Contains(text, "deep") {
		t.Errorf("the project alone: %s", text)
	}
	for _, tool := range tools {
		if d := tool.Describe(); !strings.Contains(d.Description, filepath.Join(base, "second")) {
			t.Errorf("the model does not know of the folders: %s", d.Description)
		}
	}
}

// Hooks are told which file a call touches, and its other names in all folders of the session.
func TestTouchedInOtherFolders(t *testing.T) {
	base, folder := otherFolders(t)
	for _, tool := range Files(folder) {
		if tool.Describe().Name != "read_file" {
			continue
		}
		for path, want := range map[string][2]string{"to/b": {"other/b", "p/again"}, "again": {"p/again", "other/b"}, filepath.Join(base, "second/d"): {"second/d", ""}} {
			args, err := json.Marshal(map[string]any{"path": path})
			if err != nil {
				t.Fatal(err)
			}
			others := []string(nil)
			if want[1] != "" {
				others = []string{filepath.Join(base, want[1])}
			}
			if got := tool.(FileTool).Touches(args); got.RealPath != filepath.Join(base, want[0]) || !slices.Equal(got.OtherPaths, others) {
				t.Errorf("%s: %+v", path, got)
			}
		}
	}
}

// What a command names of the hooks of another folder is told, however it is named.
func TestMentionsInOtherFolders(t *testing.T) {
	base, folder := otherFolders(t)
	for word, want := range map[string]bool{
		"../other/.acai/hooks/x.sh": true, "to/.acai": true, filepath.Join(base, "second/.acai/new"): true, ".acai/hooks/own.sh": true, "../other/.git/config": true,
		"../other/b": false, "b": false, "../third/.acai": false, "": false,
	} {
		if got := folder.Mentions([]string{"cat", word}); (got != "") != want {
			t.Errorf("%q: %q", word, got)
		}
	}
}
