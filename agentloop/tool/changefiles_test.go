package tool

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/hookd-dev/hookd/protocol"
)

// callAs is a call of one agent.
func callAs(t testing.TB, agent string, tools []Tool, name string, args map[string]any) (string, bool) {
	t.Helper()
	encoded, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if tool.Describe().Name == name {
			result, err := tool.Run(WithAgent(t.Context(), agent), encoded)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return result.Content.Text(), result.IsError
		}
	}
	t.Fatalf("there is no tool %s", name)
	return "", false
}

// marked is a text of a size with a mark for each of n edits, far from one another.
func marked(size, n int) string {
	var text strings.Builder
	line := strings.Repeat("x", 60) + "\n"
	for i := range n {
		fmt.Fprintf(&text, "<%d:old>\n", i)
		text.WriteString(strings.Repeat(line, max(1, size/n/len(line))))
	}
	return text.String()
}

// waysTo are names by which a file is found: relative, absolute, through a link to it
// and through one to its folder.
func waysTo(t testing.TB, project, path string) []string {
	t.Helper()
	ways := []string{path, filepath.Join(project, path), "./sub/../" + path}
	if runtime.GOOS == "windows" {
		return ways
	}
	if err := os.Symlink(path, filepath.Join(project, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".", filepath.Join(project, "sub")); err != nil {
		t.Fatal(err)
	}
	return append(ways, "link", "sub/"+path)
}

// TestEditsSideBySide has one answer's calls edit a file at four places, by several
// names, while others read it.
func TestEditsSideBySide(t *testing.T) {
	for _, c := range []struct{ size, rounds int }{{200, 60}, {3 << 20, 3}} {
		project := t.TempDir()
		ways := waysTo(t, project, "f.txt")
		tools := Files(Folder{Project: project})
		before := marked(c.size, 4)
		after := strings.ReplaceAll(before, "old", "new")
		for range c.rounds {
			write(t, project, "f.txt", before)
			var calls sync.WaitGroup
			stop := make(chan struct{})
			var reader sync.WaitGroup
			reader.Go(func() {
				whole, _ := callAs(t, "reader", tools, "read_file", map[string]any{"path": "f.txt"})
				whole = strings.ReplaceAll(whole, ":new>", ":old>")
				for {
					select {
					case <-stop:
						return
					default:
					}
					text, isError := callAs(t, "reader", tools, "grep", map[string]any{"path": "f.txt", "pattern": "^<"})
					if isError || strings.Count(text, ":<") != 4 || strings.Contains(text, "could not be read") {
						t.Errorf("grep saw %q", text)
						return
					}
					text, isError = callAs(t, "reader", tools, "read_file", map[string]any{"path": "f.txt"})
					if isError || strings.ReplaceAll(text, ":new>", ":old>") != whole {
						t.Errorf("a reader saw %d bytes of %d", len(text), len(whole))
						return
					}
				}
			})
			for i := range 4 {
				calls.Go(func() {
					text, isError := callAs(t, "main", tools, "edit_file", map[string]any{"path": ways[i%len(ways)], "oldText": fmt.Sprintf("<%d:old>", i), "newText": fmt.Sprintf("<%d:new>", i)})
					if isError {
						t.Error(text)
					}
				})
			}
			calls.Wait()
			close(stop)
			reader.Wait()
			if got := read(t, project, "f.txt"); got != after {
				t.Fatalf("%d of 4 edits are in the file, which has %d bytes of %d", strings.Count(got, ":new>"), len(got), len(after))
			}
		}
		nothingElse(t, project)
	}
}

// nothingElse asserts that no temporary or lock file is left in a project.
func nothingElse(t testing.TB, project string) {
	t.Helper()
	entries, err := os.ReadDir(project)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		switch entry.Name() {
		case "f.txt", "link", "sub":
		default:
			t.Errorf("%s was left in the project", entry.Name())
		}
	}
}

func write(t testing.TB, project, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, project, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(project, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestWritesBesideEdits asserts that a file is what one call made it, whole, and that
// an edit which came too late says so.
func TestWritesBesideEdits(t *testing.T) {
	project := t.TempDir()
	tools := Files(Folder{Project: project})
	for round := range 40 {
		write(t, project, "f.txt", marked(100_000, 2))
		whole := strings.Repeat(fmt.Sprintln("whole", round), 9000)
		var calls sync.WaitGroup
		var edited, wrote string
		var editFailed, writeFailed bool
		calls.Go(func() {
			edited, editFailed = callAs(t, "a", tools, "edit_file", map[string]any{"path": "f.txt", "oldText": "<1:old>", "newText": "<1:new>"})
		})
		calls.Go(func() {
			wrote, writeFailed = callAs(t, fmt.Sprint("b", round), tools, "write_file", map[string]any{"path": "f.txt", "content": whole})
		})
		calls.Wait()
		got := read(t, project, "f.txt")
		if writeFailed || got != whole {
			t.Fatalf("the file has %d bytes, the write says %q", len(got), wrote)
		}
		if editFailed && !strings.Contains(edited, "read it again") {
			t.Fatalf("the late edit says %q", edited)
		}
	}
}

// TestChangedSinceItWasRead asserts that write_file replaces only what its agent knows,
// and that edit_file is judged by its old text.
func TestChangedSinceItWasRead(t *testing.T) {
	project := t.TempDir()
	tools := Files(Folder{Project: project})
	do := func(agent, name string, args map[string]any, want string) {
		t.Helper()
		args["path"] = "f.txt"
		if text, _ := callAs(t, agent, tools, name, args); !strings.Contains(text, want) {
			t.Errorf("%s of %s: %q, want %q", name, agent, text, want)
		}
	}
	writing := func(text string) map[string]any { return map[string]any{"content": text} }
	editing := func(from, to string) map[string]any { return map[string]any{"oldText": from, "newText": to} }

	write(t, project, "f.txt", "one\ntwo\n")
	do("never read it", "write_file", writing("one\ntwo\n"), "; a file of 8 bytes that you had not read was replaced")
	do("a", "read_file", map[string]any{}, "one")
	do("a", "write_file", writing("one\ntwo\nthree\n"), "wrote")
	do("a", "write_file", writing("one\ntwo\n"), "wrote") // its own change is known
	do("a's child", "edit_file", editing("two", "2"), "replaced 1")
	do("a", "write_file", writing("lost"), "changed since you read it")
	do("a", "edit_file", editing("two", "zwei"), "the file changed since you read it: oldText does not occur")
	do("a", "edit_file", editing("one", "1"), "replaced 1")                  // fits what is there
	do("a", "write_file", writing("lost"), "changed since you read it")      // and a has still not read the 2
	do("a's child", "write_file", writing("lost"), "changed since you read") // nor its child the 1
	if got := read(t, project, "f.txt"); got != "1\n2\n" {
		t.Errorf("the file is %q", got)
	}
	do("a", "read_file", map[string]any{}, "1\n2\n")
	do("a", "write_file", writing("1\n2\n3\n"), "wrote")
	write(t, project, "f.txt", "by hand\n")
	do("a", "write_file", writing("lost"), "changed since you read it")
	if err := os.Remove(filepath.Join(project, "f.txt")); err != nil {
		t.Fatal(err)
	}
	do("a", "write_file", writing("new\n"), "wrote") // there is nothing to lose
}

// TestWaitForTheLock asserts that the wait for a lock ends with the call and says what
// it waited for.
func TestWaitForTheLock(t *testing.T) {
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, project, "f.txt", "one\n")
	folder := Folder{Project: project, Locks: t.TempDir()}
	h, err := folder.part(folder.Project, nil).Lock(t.Context(), "f.txt", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	args, _ := json.Marshal(editArgs{Path: "f.txt", OldText: "one", NewText: "two"})
	_, err = Files(folder)[2].Run(ctx, args)
	if took := time.Since(began); took > 2*time.Second || took < 150*time.Millisecond {
		t.Errorf("took %s", took)
	}
	if e, is := err.(*Error); !is || e.Kind != protocol.CallAborted || !strings.Contains(e.Text, "has held the lock of the folder "+project) {
		t.Errorf("%v", err)
	}
	h.Release()
	if text, isError := callAs(t, "a", Files(folder), "edit_file", map[string]any{"path": "f.txt", "oldText": "one", "newText": "two"}); isError {
		t.Error(text)
	}
}

// TestLeftovers asserts that what a killed run left is not shown, not to be used, and
// removed by the next change in its folder.
func TestLeftovers(t *testing.T) {
	project := t.TempDir()
	tools := Files(Folder{Project: project})
	left := temporaryName()
	write(t, project, "f.txt", "one\n")
	write(t, project, left, "half of a secret")
	for name, args := range map[string]map[string]any{
		"list_dir": {}, "grep": {"pattern": "half"},
	} {
		if text, _ := callAs(t, "a", tools, name, args); strings.Contains(text, left) {
			t.Errorf("%s shows %s", name, text)
		}
	}
	for name, args := range map[string]map[string]any{
		"read_file": {}, "write_file": {"content": "x"}, "edit_file": {"oldText": "half", "newText": "x"},
	} {
		args["path"] = left
		if text, isError := callAs(t, "a", tools, name, args); !isError || !strings.Contains(text, "hookd's own") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if text, isError := callAs(t, "a", tools, "edit_file", map[string]any{"path": "f.txt", "oldText": "one", "newText": "two"}); isError {
		t.Error(text)
	}
	nothingElse(t, project)
}

// A file whose name is only like that of a temporary one is somebody's: it is shown,
// and stays.
func TestFilesOfAPersonAreNoLeftovers(t *testing.T) {
	project := t.TempDir()
	tools := Files(Folder{Project: project})
	names := []string{".hookd-notes.tmp", ".hookd-.tmp", ".hookd-2026-11-28-a-long-day-0189.tmp", temporaryName() + "x", "a" + temporaryName()}
	for _, name := range names {
		write(t, project, name, "precious")
	}
	if text, isError := callAs(t, "a", tools, "write_file", map[string]any{"path": "f.txt", "content": "one"}); isError {
		t.Error(text)
	}
	listed, _ := callAs(t, "a", tools, "list_dir", map[string]any{})
	for _, name := range names {
		if text, err := os.ReadFile(filepath.Join(project, name)); string(text) != "precious" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if !strings.Contains(listed, name) {
			t.Errorf("%s is not listed", name)
		}
	}
}

// temporaryName is a name as package projectfile gives it to a file that is not whole.
func temporaryName() string { return ".hookd-" + rand.Text() + ".tmp" }
