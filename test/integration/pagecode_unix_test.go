//go:build unix

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The scripts on the pages are hooks as they stand there: hookd finds nothing
// wrong with them, runs them on a sample event, and reads an answer.
func TestProgramsOfThePagesAreHooks(t *testing.T) {
	n := 0
	for name, blocks := range pagesWithBlocks(t) {
		for _, b := range blocks {
			if !b.isProgram() {
				continue
			}
			n++
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				reads, _, _ := strings.Cut(b.text, "\n")
				fields := strings.Fields(reads)
				interpreter := fields[len(fields)-1]
				if _, err := exec.LookPath(strings.TrimPrefix(interpreter, "#!")); err != nil {
					t.Skipf("%s is not on this machine", interpreter)
				}
				r := newReader(t)
				hook := filepath.Join(r.work, ".acai", "hooks", "hook.sh")
				writeFile(t, hook, b.text, 0o755)
				r.hookd(t, 0, "trust", "--yes")
				if out := r.hookd(t, 0, "check", "--json"); !strings.Contains(out, `"findings":[],"suggestions":[]`) {
					t.Errorf("%s:%d: %s", name, b.line, out)
				}
				if out := r.hookd(t, -1, "try", "hook.sh", "--json"); !strings.Contains(out, `"failure":null`) {
					t.Errorf("%s:%d: %s", name, b.line, out)
				}
			})
		}
	}
	if n < 6 {
		t.Errorf("only %d scripts were found", n)
	}
}

// The settings on the pages are settings: hookd check finds no fault in them but
// that the files they name are not there.
func TestSettingsOfThePagesAreRead(t *testing.T) {
	t.Parallel()
	n := 0
	for name, blocks := range pagesWithBlocks(t) {
		for _, b := range blocks {
			if b.language == "json" && !json.Valid([]byte(b.text)) && !strings.Contains(b.text, "…") {
				t.Errorf("%s:%d: not JSON", name, b.line)
			}
			var settings struct{ Hooks, Agent, Event json.RawMessage }
			if b.language != "json" || json.Unmarshal([]byte(b.text), &settings) != nil ||
				settings.Hooks == nil && settings.Agent == nil || settings.Event != nil {
				continue
			}
			n++
			r := newReader(t)
			writeFile(t, filepath.Join(r.home, ".acai", "acai.json"), b.text, 0o644)
			var found struct {
				Findings []struct{ Code, Message string }
			}
			out := r.hookd(t, -1, "check", "--json")
			if err := json.Unmarshal([]byte(out), &found); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, f := range found.Findings {
				switch f.Code {
				case "wrong-layer":
					if !b.machine {
						t.Errorf("%s:%d: %s: %s", name, b.line, f.Code, f.Message)
					}
				case "hook-file-missing", "hook-no-events", "hook-not-runnable", "material-unusable", "folder-checks-lifted", "folder-checks-not-lifted", "starts-outside-project":
				default:
					t.Errorf("%s:%d: %s: %s", name, b.line, f.Code, f.Message)
				}
			}
		}
	}
	if n < 4 {
		t.Errorf("only %d settings were found", n)
	}
}

// Each Go block on the pages that is a program compiles, and prints what the next block
// says it does.
func TestGoProgramsOfThePages(t *testing.T) {
	n := 0
	for page, blocks := range pagesWithBlocks(t) {
		for i, b := range blocks {
			if b.language != "go" {
				continue
			}
			if !strings.HasPrefix(b.text, "package main\n") || i+1 == len(blocks) || blocks[i+1].language != "text" {
				t.Errorf("%s:%d: a Go block that is no program, or is followed by no output", page, b.line)
				continue
			}
			n++
			t.Run(fmt.Sprintf("%s:%d", page, b.line), func(t *testing.T) {
				t.Parallel()
				checkGoProgram(t, b.text, blocks[i+1].text)
			})
		}
	}
	if n < 4 {
		t.Errorf("only %d programs were found", n)
	}
}

func checkGoProgram(t *testing.T, source, prints string) {
	r := newReader(t)
	file, overlay, program := filepath.Join(r.folder, "page.go"), filepath.Join(r.folder, "overlay.json"), filepath.Join(r.folder, "page")
	writeFile(t, file, source, 0o644)
	// A folder of the module that is not on the disk, so that the tree stays clean.
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root(t), "examples", "page", "main.go"): file}})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, overlay, string(text), 0o644)
	build := goBuild("-overlay", overlay, "-o", program, module+"/examples/page")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	guard, err := os.ReadFile(filepath.Join(root(t), "examples", "hooks", "guard-shell.sh"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(r.work, ".acai", "hooks", "guard-shell.sh"), string(guard), 0o755)
	r.hookd(t, 0, "trust", "--yes")
	if out := r.run(t, 0, program); !matchesPrint(prints, out) {
		t.Errorf("prints:\n%s\nthe page says:\n%s", out, prints)
	}
	if left := alive(r.folder); len(left) > 0 {
		t.Errorf("still alive: %s", strings.Join(left, "; "))
	}
}

func (r *reader) hookd(t *testing.T, code int, args ...string) string {
	t.Helper()
	return r.run(t, code, binary, args...)
}

// run runs a program that must end with a code; -1 is any.
func (r *reader) run(t *testing.T, code int, program string, args ...string) string {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir, c.Env = r.work, r.environment
	var errors strings.Builder
	c.Stderr = &errors
	out, err := c.Output()
	if c.ProcessState == nil || code >= 0 && c.ProcessState.ExitCode() != code {
		t.Fatalf("%s %s: %v\n%s%s", filepath.Base(program), strings.Join(args, " "), err, out, errors.String())
	}
	return string(out)
}

func writeFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
