//go:build unix

package integration

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// kodeletHooks are the hooks that kodelet's ADR 025 shows, by name, as they stand there.
func kodeletHooks(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "documents", "004-kodelet-adr-025.txt"))
	if err != nil {
		t.Fatal(err)
	}
	hooks := map[string]string{}
	for _, block := range regexp.MustCompile("(?s)```bash\n(#!/bin/bash\n# ~/.kodelet/hooks/(\\w+)\n.*?)```").FindAllStringSubmatch(string(text), -1) {
		hooks[block[2]] = block[1]
	}
	return hooks
}

// TestHooksOfKodelet: the three hooks of kodelet's ADR 025, unchanged in .acai/hooks, are
// allowed, say themselves what they are for, and do in a run what the document says.
func TestHooksOfKodelet(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "jq", "bc"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not here, which the hooks of the document call", program)
		}
	}
	hooks := kodeletHooks(t)
	for _, test := range []struct {
		hook, event string
		model       string
		says        []string
		never       string
	}{
		{
			hook: "smart_compact", event: "after_turn",
			model: `contextMax: 1000
turns:
  - toolCalls: [{id: l, name: list_dir, args: {path: .}}]
    usage: {inputTokens: 690, outputTokens: 20, contextTokens: 710}
  - expect: [{in: lastMessage, contains: Primary Objective}]
    text: 'Primary Objective: a list. All done.'
  - expect: [{in: messages, contains: All done.}]
    text: Listed at last.
    usage: {inputTokens: 100, outputTokens: 10, contextTokens: 110}
`,
			says: []string{"compacted:", "Listed at last."},
		},
		{
			hook: "smart_compact", event: "after_turn",
			model: "contextMax: 1000\nturns:\n  - text: Nothing to do.\n    usage: {inputTokens: 690, outputTokens: 10, contextTokens: 700}\n",
			says:  []string{"Nothing to do."}, never: "compact",
		},
		{
			hook: "simple_compact", event: "after_turn",
			model: `contextMax: 1000
turns:
  - toolCalls: [{id: l, name: list_dir, args: {path: .}}]
    usage: {inputTokens: 790, outputTokens: 20, contextTokens: 810}
  - expect: [{in: lastMessage, contains: "Previous context summary: do it"}]
    text: I know what came before.
    usage: {inputTokens: 100, outputTokens: 10, contextTokens: 110}
`,
			says: []string{"I know what came before."},
		},
		{
			hook: "lint_reminder", event: "agent_stop",
			model: `turns:
  - toolCalls: [{id: w, name: write_file, args: {path: a.txt, content: hi}}]
  - text: Written.
  - expect: [{in: lastMessage, contains: Please run the linter to check for any issues.}]
    text: The linter is content.
  - text: The linter is content.
  - text: The linter is content.
  - text: The linter is content.
  - text: The linter is content.
`,
			says: []string{"Please run the linter", "The linter is content."},
		},
		{
			hook: "lint_reminder", event: "agent_stop",
			model: "turns:\n  - text: Only talked.\n", says: []string{"Only talked."}, never: "linter",
		},
	} {
		t.Run(test.hook, func(t *testing.T) {
			b := newBox(t)
			folder := filepath.Join(b.project, ".acai", "hooks")
			text := hooks[test.hook]
			if text == "" {
				t.Fatalf("the document has no hook %s", test.hook)
			}
			model := filepath.Join(b.project, "model.yaml")
			if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, test.hook), []byte(text), 0o755), os.WriteFile(model, []byte(test.model), 0o644)); err != nil {
				t.Fatal(err)
			}
			if out, problems, code := b.runs(t, nil, "trust", "--yes"); code != 0 {
				t.Fatalf("trust: exit %d\n%s%s", code, out, problems)
			}
			list, _, _ := b.runs(t, nil, "list")
			if !regexp.MustCompile(test.hook + `.*speaks kodelet.*ready.*` + test.event).MatchString(list) {
				t.Errorf("list:\n%s", list)
			}
			began := time.Now()
			stdout, stderr, _ := b.runs(t, nil, "run", "do it", "--allow", "bash,write,mcp", "--model", "scripted:"+model)
			out := stdout + stderr
			for _, say := range test.says {
				if !strings.Contains(out, say) {
					t.Errorf("%q is not in\n%s", say, out)
				}
			}
			if test.never != "" && strings.Contains(strings.ReplaceAll(out, test.hook, ""), test.never) {
				t.Errorf("%q is in\n%s", test.never, out)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("took %s", took)
			}
			if left := aliveAfter(b.folder, time.Second); len(left) > 0 {
				t.Errorf("still alive: %s", strings.Join(left, "; "))
			}
		})
	}
}
