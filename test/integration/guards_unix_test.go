//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/test/modelserver"
)

// firstGuard is the first hook in sh that a page shows.
func firstGuard(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), page))
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(text), "#!/bin/sh\n")
	if at < 0 {
		t.Fatalf("%s has no hook in sh", page)
	}
	begin := at
	for begin > 0 && text[begin-1] != '\n' {
		begin--
	}
	prompt := string(text[begin:at]) // > where it is shown as it is typed
	var guard strings.Builder
	for line := range strings.Lines(string(text[begin:])) {
		line = strings.TrimPrefix(line, prompt)
		if line == "END\n" || strings.HasPrefix(line, "```") {
			break
		}
		guard.WriteString(line)
	}
	return guard.String()
}

// spellings of a push, as a model can write them: in JSON, and in the shell.
var spellings = []string{`git push`, `git pus\u0068`, `git\u0020push`, `git\tpush`, `git\u0009push`, `\u0067\u0069\u0074 push`, `git  push`, `git\n push; true`}

// F55: the guards that a newcomer copies refuse a push however it is spelled, from
// a host and from a model, and are not passed by a call that they cannot read.
func TestShownGuardsReadEverySpelling(t *testing.T) {
	t.Parallel()
	made := newBox(t)
	if _, stderr, code := made.runs(t, nil, "new", "guard.sh", "--lang", "sh"); code != 0 {
		t.Fatalf("hookd new: %d %s", code, stderr)
	}
	template, err := os.ReadFile(filepath.Join(made.project, ".acai", "hooks", "guard.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for name, guard := range map[string]string{
		"README.md": firstGuard(t, "README.md"), "docs/hooks.md": firstGuard(t, "docs/hooks.md"),
		"hookd new": string(template),
	} {
		word := "push"
		if name == "hookd new" {
			word = "forbidden"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			shellHook(t, filepath.Join(b.home, ".acai", "hooks", "guard.sh"), guard)
			data := func(args string) string {
				return `{"toolCallId":"c1","name":"bash","kind":"shell","args":` + args + `,"parallel":1}`
			}
			var calls []modelserver.Call
			for i, spelling := range spellings {
				if name == "hookd new" {
					spelling = strings.NewReplacer("git", "say", `pus\u0068`, `forbidde\u006e`, "push", word).Replace(spelling)
				}
				args := `{"command":"touch ran; ` + spelling + `"}`
				if o, _ := b.fireEvent(t, "tool-call-start", data(args)); o.Action != "block" || strings.Contains(o.Reason, "could not be made") {
					t.Errorf("%s: %s (%s); runs %+v", args, o.Action, o.Reason, o.Runs)
				}
				calls = append(calls, modelserver.Call{ID: "c" + string(rune('a'+i)), Name: "bash", Args: args})
			}
			if o, _ := b.fireEvent(t, "tool-call-start", data(`{"command":"ls -la"}`)); o.Action != "observe" {
				t.Errorf("a harmless call: %s (%s); runs %+v", o.Action, o.Reason, o.Runs)
			}
			for _, unread := range []string{`{}`, `{"command":null}`, `{"command":["git","push"]}`, `{"cmd":"git push"}`, `{"command":"git\u0000push"}`} {
				if o, _ := b.fireEvent(t, "tool-call-start", data(unread)); o.Action != "block" {
					t.Errorf("%s: %s (%s)", unread, o.Action, o.Reason)
				}
			}
			server := modelserver.New(t, modelserver.Answer{Body: modelserver.OpenAI(modelserver.Turn{Calls: calls})}, modelserver.Answer{Body: modelserver.OpenAI(modelserver.Turn{Text: "Done."})})
			b.settings(t, `{"agent":{"baseUrl":"`+server.URL+`/v1"}}`)
			stdout, stderr, code := b.runs(t, []string{"OPENAI_API_KEY=x"}, "run", "--allow", "bash,write", "--model", "openai:test", "go")
			if code != 0 || strings.Count(stdout, "blocked by guard.sh") < len(spellings) {
				t.Errorf("exit %d\n%s\n%s", code, stdout, stderr)
			}
			if _, err := os.Stat(filepath.Join(b.project, "ran")); err == nil {
				t.Error("a call ran that a guard should have refused")
			}
		})
	}
}

// A guard that cannot take the value out of the event refuses: each use of get and
// reply in what people copy says so.
func TestShownGuardsFailClosed(t *testing.T) {
	get := regexp.MustCompile(`\$\("\$HOOKD" get [^)]*\)(.*)`)
	var files []string
	for _, pattern := range []string{"README.md", "docs/*.md", "examples/*/*.sh", "examples/*/.acai/hooks/*.sh", "cmd/hookd/internal/newcmd/template/*.tmpl"} {
		found, err := filepath.Glob(filepath.Join(root(t), pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	uses := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range get.FindAllStringSubmatch(string(text), -1) {
			uses++
			if !strings.HasPrefix(found[1], " || exit 1") {
				t.Errorf("%s: %q goes on when it fails", file, found[0])
			}
		}
		if strings.Contains(string(text), `eval "$("$HOOKD" get`) {
			t.Errorf("%s: eval hides that get failed", file)
		}
	}
	if uses < 6 {
		t.Errorf("only %d uses of get were found", uses)
	}
}
