package tool

import (
	"bytes"
	"context"
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
	"github.com/hookd-dev/hookd/test/prove"
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
	do("never read it", "write_file", writing("one\ntwo\n"), "wrote")
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
	h, err := folder.hold(t.Context(), "f.txt", false)
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
	h.release()
	if text, isError := callAs(t, "a", Files(folder), "edit_file", map[string]any{"path": "f.txt", "oldText": "one", "newText": "two"}); isError {
		t.Error(text)
	}
}

// TestLeftovers asserts that what a killed run left is not shown, not to be used, and
// removed by the next change in its folder.
func TestLeftovers(t *testing.T) {
	project := t.TempDir()
	tools := Files(Folder{Project: project})
	left := ".hookd-LEFT.tmp"
	write(t, project, "f.txt", "one\n")
	write(t, project, left, "half of a secret")
	for name, args := range map[string]map[string]any{
		"list_dir": {}, "grep": {"pattern": "half"},
	} {
		if text, _ := callAs(t, "a", tools, name, args); strings.Contains(text, "LEFT") {
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

// TestEditText is what an edit makes of a text.
func TestEditText(t *testing.T) {
	mark := "\ufeff"
	for _, c := range []struct{ name, data, old, new, want string }{
		{"CR LF over two lines", "a\r\nb\r\nc\r\n", "a\nb", "1\n2\n3", "1\r\n2\r\n3\r\nc\r\n"},
		{"CR LF, a new line", "a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"},
		{"CR LF, the last line has no end", "a\r\nb", "b", "b\nc", "a\r\nb\r\nc"},
		{"CR LF, line ends alone", "a\r\nb\r\n", "a\n", "", "b\r\n"},
		{"CR LF, beginning with a line's end", "a\r\nb\r\n", "\nb", "\nB\nC", "a\r\nB\r\nC\r\n"},
		{"CR LF to the letter", "a\r\nb\r\n", "a\r\nb", "a\nb", "a\nb\r\n"},
		{"CR LF given as new text", "a\r\nb\r\n", "a\nb", "a\r\nx\nb", "a\r\nx\r\nb\r\n"},
		{"LF stays", "a\nb\n", "a\nb", "1\n2\n3", "1\n2\n3\n"},
		{"mixed, in the part with LF", "a\r\nb\nc\n", "b", "b\nB", "a\r\nb\nB\nc\n"},
		{"mixed, in the part with CR LF", "a\nb\r\nc\n", "b", "b\nB", "a\nb\r\nB\r\nc\n"},
		{"mixed, over both", "a\r\nb\nc\n", "a\nb\nc", "A\nB\nC", "A\r\nB\r\nC\n"},
		{"no line's end", "abc", "b", "1\n2", "a1\n2c"},
		{"no last line's end", "a\nb", "a", "A", "A\nb"},
		{"a mark of byte order", mark + "a\r\nb\r\n", "a\nb", "A\nB", mark + "A\r\nB\r\n"},
		{"foreign bytes", "\xe9\xff a\r\n\x80b\r\n", "a", "A\nB", "\xe9\xff A\r\nB\r\n\x80b\r\n"},
		{"a lone CR", "a\rb\r\nc\r\n", "b\nc", "B\nC", "a\rB\r\nC\r\n"},
		{"two CRs", "a\r\r\nb\r\n", "\nb", "\nB", "a\r\r\nB\r\n"},
	} {
		r := replacement{old: c.old, new: c.new}
		got, count, err := r.apply([]byte(c.data), maxFile)
		if err != nil || count != 1 || string(got) != c.want {
			t.Errorf("%s: %q, %d, %v; want %q", c.name, got, count, err, c.want)
		}
	}
	r := replacement{"x\n", "y\nz\n", true}
	got, count, err := r.apply([]byte("x\r\nx\nno\r\nx\r\nx"), maxFile)
	if want := "y\r\nz\r\ny\nz\nno\r\ny\r\nz\r\nx"; err != nil || count != 3 || string(got) != want {
		t.Errorf("%q, %d, %v; want %q", got, count, err, want)
	}
	if _, count, err := (&replacement{old: "b\nc", new: "x"}).apply([]byte("b\nc b\r\nc"), maxFile); err == nil || count != 2 {
		t.Errorf("a text with two kinds of line ends is %d places: %v", count, err)
	}
}

// TestEditThatDoesNotFit asserts that the model learns what to do.
func TestEditThatDoesNotFit(t *testing.T) {
	for _, c := range []struct{ data, old, new, want string }{
		{"one\n", "two", "three", "read it again"},
		{"if x {\n\treturn  1\n}\n", "if x {\n    return 1\n}", "", "with other blanks or line ends in line 1 to 3:\nif x {\n\treturn  1\n}\nGive"},
		{"a\nb\n", "a\r\nb", "x", "with other blanks or line ends in line 1 to 2"},
		{"a \nb\n", "a\nb", "x", "with other blanks or line ends in line 1 to 2"},
		{"the new text\n", "the old text", "the new text", "perhaps the edit was made before"},
		{"caf\xe9\n", "caf\ufffd", "x", "bytes that are not UTF-8"},
		{"\xff\xfea\x00", "a", "b", "replaced"},
		{"\xff\xfea\x00", "aa", "b", "UTF-16"},
		{strings.Repeat("a b", 5000), "a\tba b", "x", "…"},
	} {
		got, _, err := (&replacement{old: c.old, new: c.new}).apply([]byte(c.data), maxFile)
		if c.want == "replaced" {
			if err != nil {
				t.Errorf("%q in %q: %v", c.old, c.data, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 2*mostShown {
			t.Errorf("%q in %q: %q, %v; want %q", c.old, c.data, got, err, c.want)
		}
	}
}

// TestEditIsLinear asserts that large files, and many places in them, take neither
// time nor memory by their square: that would be hours.
func TestEditIsLinear(t *testing.T) {
	size := prove.Size(1<<20, 10<<20)
	large := bytes.Repeat([]byte("a"), size)
	lines := bytes.Repeat([]byte("a\n"), size/2)
	dos := bytes.Repeat([]byte("ab\r\n"), size/4)
	var before, after runtime.MemStats
	for name, c := range map[string]struct {
		data []byte
		r    replacement
	}{
		"every byte":            {large, replacement{"a", "b\n", true}},
		"every byte, and grows": {large, replacement{"a", strings.Repeat("b", size/10), true}},
		"every line":            {lines, replacement{"a\n", "b\nc", true}},
		"every line of CR LF":   {dos, replacement{"b\na", "B\nA", true}},
		"a CR LF at the end":    {append(bytes.Clone(lines), "\r\n"...), replacement{"a\n", "b\n", true}},
		"nearly":                {large, replacement{strings.Repeat("a", size/10) + "b", "c", false}},
		"nearly, with blanks":   {bytes.Repeat([]byte("a b\n"), size/4), replacement{strings.Repeat("a\tb\n", size/40) + "c", "c", false}},
		"one place":             {large[:size-1], replacement{strings.Repeat("a", size-1), "c", false}},
	} {
		runtime.GC()
		runtime.ReadMemStats(&before)
		began := time.Now()
		_, count, _ := c.r.apply(c.data, size+size/2)
		runtime.ReadMemStats(&after)
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s took %s", name, took)
		}
		if grew := after.TotalAlloc - before.TotalAlloc; grew > uint64(12*size) {
			t.Errorf("%s took %d bytes of memory for a file of %d", name, grew, size)
		}
		t.Log(name, count, time.Since(began))
	}
}

// TestWriteKeepsWhatAFileIs asserts what write_file takes over of the old content.
func TestWriteKeepsWhatAFileIs(t *testing.T) {
	mark := "\ufeff"
	for _, c := range []struct{ old, content, want, says string }{
		{"a\r\nb\r\n", "1\n2\n", "1\r\n2\r\n", "CR LF"},
		{"a\r\nb\n", "1\n2\n", "1\n2\n", ""},
		{"a\r\nb\r\n", "1\r\n2\n", "1\r\n2\n", ""},
		{"a\r\nb\r\n", "1", "1", ""},
		{"a\nb\n", "1\n2\r\n", "1\n2\r\n", ""},
		{mark + "a\n", "1\n", mark + "1\n", "byte order mark"},
		{mark + "a\r\n", mark + "1\n", mark + "1\r\n", "CR LF"},
		{mark + "a\n", "", "", ""},
		{"", "1\n", "1\n", ""},
	} {
		project := t.TempDir()
		write(t, project, "f.txt", c.old)
		text, _ := callAs(t, "a", Files(Folder{Project: project}), "write_file", map[string]any{"path": "f.txt", "content": c.content})
		if got := read(t, project, "f.txt"); got != c.want || !strings.Contains(text, c.says) || c.says == "" && strings.Contains(text, ";") {
			t.Errorf("%q over %q: %q, says %q", c.content, c.old, got, text)
		}
	}
}
