//go:build unix

package integration

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// exempt says how many blocks of commands a page marks as not run here, each with
// its reason in the mark. A page that is not named has none.
var exempt = map[string]int{
	"README.md":          1, // installing over the network
	"CONTRIBUTING.md":    1, // make
	"docs/acp.md":        1, // acpx
	"docs/benchmarks.md": 1, // the benchmark itself
	"docs/go.md":         1, // go get
	"docs/hooks.md":      3, // lines of a hook
	"docs/mcp-proxy.md":  2, // a host and the inspector
	"docs/releases.md":   2, // downloads; a whole release
}

// Every block of commands in README and docs is run as it stands, in the order of
// the page, in one shell that ends at the first failure: in an empty folder, with a
// home and a state folder of its own and the program on PATH, as a person has it
// who installed it a minute ago. A page's text block after the commands is what
// they print.
func TestCommandsOfThePagesRun(t *testing.T) {
	lookAtSources(t)
	for name, blocks := range pagesWithBlocks(t) {
		var commands []*block
		exempted := 0
		for _, b := range blocks {
			switch {
			case b.notRun != "":
				exempted++
			case b.isCommands():
				if why := missing(b.needs); why != "" {
					t.Logf("%s:%d is not run: %s", name, b.line, why)
					continue
				}
				commands = append(commands, b)
			}
		}
		if exempted != exempt[name] {
			t.Errorf("%s: %d blocks are marked as not run, %d are expected", name, exempted, exempt[name])
		}
		if len(commands) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runCommands(t, commands)
		})
	}
}

// A reader pastes a block as it stands. A prompt before a command makes that fail.
func TestBlocksCanBePasted(t *testing.T) {
	for name, blocks := range pagesWithBlocks(t) {
		for _, b := range blocks {
			if b.language == "console" || b.isCommands() && strings.HasPrefix(b.text, "$ ") {
				t.Errorf("%s:%d: a reader cannot paste commands with prompts: write an sh block, and what it prints in a text block after it", name, b.line)
			}
			if b.exit != 0 && !b.isCommands() {
				t.Errorf("%s:%d: only commands end with a code", name, b.line)
			}
		}
	}
}

// Marks that a misspelling would take the meaning from.
func TestMarksOfBlocksAreRead(t *testing.T) {
	const page = "<!-- not run: no network -->\n```sh\na\n```\n" +
		"<!-- ends with 2 -->\n```sh\nb <<'END'\n```\n```text\nno …\n```\n\n- x\n  ```sh\n  c\n    d\n  ```\n\n```sh\n#!/bin/sh\n```\n\nwords\n```text\nfree\n```\n"
	got := ""
	for _, b := range blocksOf("p", page) {
		got += fmt.Sprintf("%d %s %q run=%q exit=%d prints=%q %v\n", b.line, b.language, b.text, b.notRun, b.exit, b.prints, b.isCommands())
	}
	const want = `2 sh "a\n" run="no network" exit=0 prints="" true
6 sh "b <<'END'\n" run="" exit=2 prints="no …\n" true
14 sh "c\n  d\n" run="" exit=0 prints="" true
19 sh "#!/bin/sh\n" run="" exit=0 prints="" false
24 text "free\n" run="" exit=0 prints="" false
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for name, blocks := range pagesWithBlocks(t) {
		text, marks := pageText(t, name), 0
		for _, b := range blocks {
			if b.notRun != "" || b.needs != "" || b.exit != 0 {
				marks++
			}
		}
		if in := strings.Count(text, "<!-- not run") + strings.Count(text, "<!-- needs") + strings.Count(text, "<!-- ends with"); in != marks {
			t.Errorf("%s: %d marks stand in it, %d were read", name, in, marks)
		}
	}
}

// pagesWithBlocks are the blocks of the pages for people, by the name of the page.
func pagesWithBlocks(t *testing.T) map[string][]*block {
	t.Helper()
	all := map[string][]*block{}
	for _, page := range pages(t) {
		if name := pageName(t, page); name != "AGENTS.md" {
			all[name] = blocksOf(name, pageText(t, name))
		}
	}
	return all
}

func pageText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// runCommands runs blocks one after the other in one shell and compares what they
// print on both streams with what the page shows.
func runCommands(t *testing.T, blocks []*block) {
	t.Helper()
	const mark = "@@ next block @@"
	var script strings.Builder
	script.WriteString("set -e\n")
	for _, b := range blocks {
		if b.exit != 0 {
			fmt.Fprintf(&script, "set +e\n%s\ncode=$?; set -e; [ $code = %d ] || { echo \"ends with $code\"; exit 1; }\n", b.text, b.exit)
		} else {
			script.WriteString(b.text)
		}
		fmt.Fprintf(&script, "echo '%s'\n", mark)
	}
	box := newReader(t)
	c := exec.Command("/bin/sh", "-c", script.String())
	c.Dir, c.Env = box.work, box.environment
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	began := time.Now()
	failed := c.Run()
	printed := strings.Split(out.String(), mark+"\n")
	for i, b := range blocks {
		if i == len(printed)-1 && failed != nil {
			t.Fatalf("%s:%d: %v\n%s\nprints:\n%s", b.page, b.line, failed, b.text, printed[i])
		}
		if b.prints != "" && !matchesPrint(b.prints, printed[i]) {
			t.Errorf("%s:%d\n%s\nprints:\n%s\nthe page says:\n%s", b.page, b.line, b.text, printed[i], b.prints)
		}
	}
	t.Logf("%d blocks in %v", len(blocks), time.Since(began).Round(time.Millisecond))
	if left := aliveAfter(box.folder, 2*time.Second); len(left) > 0 {
		t.Errorf("still alive: %s", strings.Join(left, "; "))
	}
}

// A reader is a person who has installed hookd and nothing of it yet.
type reader struct {
	folder, home, work string
	environment        []string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	folder := t.TempDir()
	r := &reader{folder: folder, home: filepath.Join(folder, "home"), work: filepath.Join(folder, "work")}
	for _, f := range []string{r.home, r.work} {
		if err := os.Mkdir(f, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The go command would write its telemetry to the home while the test removes it.
	mode := filepath.Join(r.home, ".config", "go", "telemetry", "mode")
	if err := errors.Join(os.MkdirAll(filepath.Dir(mode), 0o755), os.WriteFile(mode, []byte("off"), 0o644)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Dir(binary) + ":" + os.Getenv("PATH")
	// The python3 of a version manager needs the home folder that a reader has not.
	if program, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output(); err == nil {
		path = filepath.Dir(strings.TrimSpace(string(program))) + ":" + path
	}
	r.environment = []string{
		"PATH=" + path, "HOME=" + r.home, "LANG=C.UTF-8",
		"XDG_STATE_HOME=" + filepath.Join(folder, "state"), "TMPDIR=" + folder,
	}
	for _, name := range []string{"GOCACHE", "GOPATH", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GOTOOLCHAIN"} {
		if value, err := exec.Command("go", "env", name).Output(); err == nil {
			r.environment = append(r.environment, name+"="+strings.TrimSpace(string(value)))
		}
	}
	return r
}
