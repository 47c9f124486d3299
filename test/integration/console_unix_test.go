//go:build unix

package integration

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every `console` block of the documentation is run as it stands: a line behind
// "$ " is a command, lines behind "> " go on with it, all else is what it
// prints. In that, … stands for any text. The blocks of a page share a folder.
func TestDocumentedSessionsRun(t *testing.T) {
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		steps := consoleSteps(string(text))
		if len(steps) == 0 {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			for i, got := range runSession(t, steps) {
				if want := steps[i].prints; want != "" && !matchesPrint(want, got) {
					t.Errorf("$ %s\nprints:\n%s\nthe page says:\n%s", steps[i].command, got, want)
				}
			}
		})
	}
}

type consoleStep struct{ command, prints string }

func consoleSteps(page string) (steps []consoleStep) {
	inside := false
	for line := range strings.SplitSeq(page, "\n") {
		switch {
		case !inside:
			inside = line == "```console"
		case line == "```":
			inside = false
		case strings.HasPrefix(line, "$ "):
			steps = append(steps, consoleStep{command: line[2:]})
		case len(steps) == 0:
		case line == ">" || strings.HasPrefix(line, "> "):
			steps[len(steps)-1].command += "\n" + strings.TrimPrefix(line[1:], " ")
		default:
			steps[len(steps)-1].prints += line + "\n"
		}
	}
	return steps
}

// runSession runs the commands one after the other in one shell and returns
// what each printed on both streams.
func runSession(t *testing.T, steps []consoleStep) []string {
	t.Helper()
	const mark = "@@ next command @@"
	var script strings.Builder
	for _, step := range steps {
		fmt.Fprintf(&script, "%s\necho '%s'\n", step.command, mark)
	}
	b := newBox(t)
	folder := filepath.Join(b.folder, "work")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	c := b.command()
	c.Path, c.Args = "/bin/sh", []string{"sh", "-c", script.String()}
	c.Dir = folder
	c.Env = append(c.Env, "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"), "EXAMPLES="+filepath.Join(root(t), "examples"))
	for _, name := range []string{"GOCACHE", "GOPATH", "GOMODCACHE", "GOPROXY", "GOFLAGS"} {
		if value, err := exec.Command("go", "env", name).Output(); err == nil {
			c.Env = append(c.Env, name+"="+strings.TrimSpace(string(value)))
		}
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	printed := strings.Split(out.String(), mark+"\n")
	if len(printed) != len(steps)+1 {
		t.Fatalf("%d commands printed %d parts:\n%s", len(steps), len(printed)-1, out.Bytes())
	}
	return printed[:len(steps)]
}

func matchesPrint(want, got string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(want, "\n")), "…", "(?s:.*)")
	return regexp.MustCompile("^" + pattern + `\n*$`).MatchString(got)
}
