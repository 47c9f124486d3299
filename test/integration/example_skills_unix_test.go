//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exampleScripts show each example skill and recipe at work: what the model must
// be sent, or the script fails the run.
var exampleScripts = map[string]struct {
	args   []string
	script string
	stdout string
}{
	"skills/changelog.md": {
		args: []string{"run", "write the release notes of 1.2"},
		script: `
turns:
  - expect:
      - {in: system, contains: "- changelog: How an entry of the changelog is written."}
      - {in: messages, contains: "An entry of CHANGELOG.md is for people who use the program"}
    text: written`,
		stdout: "written",
	},
	"skills/sql-review": {
		args: []string{"run", "look at $sql-review, please"},
		script: `
turns:
  - expect:
      - {in: system, contains: "- sql-review: How a change of the database schema is reviewed."}
      - {in: messages, contains: "Files of this skill, to be read with load_skill: checklist.md"}
    toolCalls:
      - {id: c1, name: load_skill, args: {name: sql-review, file: checklist.md}}
      - {id: c2, name: load_skill, args: {name: sql-review}}
      - {id: c3, name: load_skill, args: {name: sql-revue}}
  - expect:
      - {in: "toolResult:c1", contains: "A new column has a default, or may be null."}
      - {in: "toolResult:c2", equals: "The text of the skill sql-review stands in this conversation already."}
      - {in: "toolResult:c3", contains: "there are: sql-review"}
    text: reviewed`,
		stdout: "reviewed",
	},
	"recipes/review.md": {
		args: []string{"run", "-r", "review", "--arg", "file=main.go"},
		script: `
turns:
  - expect:
      - {in: lastMessage, contains: "Review main.go. Look at correctness most."}
      - {in: tools, contains: read_file}
      - {in: tools, lacks: write_file}
      - {in: tools, lacks: bash}
    toolCalls: [{id: c1, name: read_file, args: {path: main.go}}, {id: c2, name: bash, args: {command: "rm main.go"}}]
  - expect:
      - {in: "toolResult:c1", contains: package main}
      - {in: "toolResult:c2", contains: there is no tool named}
    text: nothing is wrong with it`,
		stdout: "nothing is wrong with it",
	},
}

func TestExampleSkillsAndRecipes(t *testing.T) {
	var found []string
	for _, kind := range []string{"skills", "recipes"} {
		entries, err := os.ReadDir(filepath.Join(root(t), "examples", kind))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			found = append(found, kind+"/"+entry.Name())
		}
	}
	for name := range exampleScripts {
		if !slices.Contains(found, name) {
			t.Errorf("%s is not among the examples", name)
		}
	}
	for _, name := range found {
		example, is := exampleScripts[name]
		if !is {
			t.Errorf("%s is run by no test", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			source, target := filepath.Join(root(t), "examples", name), filepath.Join(b.home, ".acai", name)
			if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
				t.Fatal(err)
			}
			installFiles(t, source, target)
			for file, text := range map[string]string{"script.yaml": example.script, "main.go": "package main\n"} {
				if err := os.WriteFile(filepath.Join(b.project, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			stdout, stderr, code := b.runs(t, nil, append(example.args, "--model", "scripted:script.yaml")...)
			if code != 0 || !strings.Contains(stdout, example.stdout) {
				t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
			}
		})
	}
}

func installFiles(t *testing.T, source, target string) {
	t.Helper()
	if info, err := os.Stat(source); err != nil {
		t.Fatal(err)
	} else if info.IsDir() {
		if err := os.CopyFS(target, os.DirFS(source)); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(source)
	if err == nil {
		err = os.WriteFile(target, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
