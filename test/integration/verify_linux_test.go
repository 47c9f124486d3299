package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/internal/program"
)

// standIn is an agent that calls the hooks of its settings at the start of a session, those
// of the person first, as Claude Code does.
const standIn = `#!/bin/sh
case $1 in --version) echo "2.1.197 (Claude Code)"; exit ;; esac
for settings in "$HOME/.claude/settings.json" .claude/settings.json; do
  test -e "$settings" || continue
  command=$(grep -o '"command": *"[^"]*SessionStart[^"]*"' "$settings" | sed 's/^"command": *"//; s/"$//')
  test -z "$command" || echo '{"hook_event_name":"SessionStart","session_id":"s1","source":"startup","cwd":"'"$PWD"'"}' | ENVIRONMENT sh -c "$command"
done
echo "no model answers" >&2
exit 1
`

type verified struct {
	Agent, Scope, Verdict, Proof string
	Problems, Doubts             []struct{ Check, Text, Remedy string }
}

// verifies runs hookd verify and returns the one result.
func (s *station) verifies(t *testing.T, scope string, args ...string) (verified, int) {
	t.Helper()
	c := s.command(append([]string{"verify", "claude", "--json"}, args...)...)
	c.Path = s.hookd
	out, _ := c.Output()
	var all []verified
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, one := range all {
		if one.Scope == scope {
			return one, c.ProcessState.ExitCode()
		}
	}
	t.Fatalf("no result for the scope %s: %s", scope, out)
	return verified{}, 0
}

func (s *station) installs(t *testing.T, args ...string) {
	t.Helper()
	c := s.command(append([]string{"install", "claude", "--yes"}, args...)...)
	c.Path = s.hookd
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// agent puts the stand-in on PATH. Its hooks get other variables than it has itself.
func (s *station) agent(t *testing.T, environment string) {
	t.Helper()
	s.path = filepath.Join(s.folder, "programs")
	if err := os.MkdirAll(s.path, 0o755); err != nil {
		t.Fatal(err)
	}
	script := strings.Replace(standIn, "ENVIRONMENT", environment, 1)
	if err := os.WriteFile(filepath.Join(s.path, "claude"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}

// hookd verify proves the path that events take: where the messenger is installed, the
// agent's call reaches a daemon, and after the daemon's death it is answered alone. Nothing
// of the proof is left but lines of the record.
func TestVerifyProvesTheWayOfEvents(t *testing.T) {
	t.Parallel()
	s := newStation(t, copied(t))
	s.agent(t, "")
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "its call at SessionStart reached " + s.hookd},
		{[]string{"--warm"}, "its call at SessionStart reached the daemon of " + s.hookd + "; after the daemon's death hookd answered alone"},
	} {
		s.installs(t, c.args...)
		began := time.Now()
		got, code := s.verifies(t, "user")
		if got.Verdict != "proved" || got.Proof != c.want || code != 0 || len(got.Doubts) > 0 {
			t.Errorf("%v: exit %d, %+v\nwant %s", c.args, code, got, c.want)
		}
		if took := time.Since(began); took > 60*time.Second {
			t.Errorf("%v: it took %s", c.args, took)
		}
		for _, folder := range []string{"verify", "run"} {
			if left, _ := os.ReadDir(filepath.Join(s.state(), folder)); len(left) > 0 {
				t.Errorf("%v: left in %s: %v", c.args, folder, left)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(s.folder, "hookd-verify-*")); len(left) > 0 {
			t.Errorf("%v: left: %v", c.args, left)
		}
	}
	marks := 0
	for line := range record.Read(filepath.Join(s.state(), "records"), "s1") {
		var mark record.Mark
		if line != nil && line.Kind == record.KindMark && line.Decode(&mark) == nil {
			marks++
			if mark.Event != "session-start" || mark.Host != "claude" || len(mark.Token) != 32 || mark.ID == "" || mark.Set == "" {
				t.Errorf("%+v", mark)
			}
		}
	}
	if marks != 2 {
		t.Errorf("%d lines of the record say that a call came, want 2", marks)
	}
}

// A daemon that is not asked is no proof of the daemon, and a messenger without its hookd
// is broken.
func TestVerifyFindsAWayThatEventsCannotTake(t *testing.T) {
	s := newStation(t, copied(t))
	s.agent(t, "XDG_RUNTIME_DIR=") // the folder for sockets that the agent keeps from hooks
	runtime := filepath.Join(s.folder, "rt")
	if err := os.Mkdir(runtime, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", runtime) // the box does not pass it on
	s.installs(t, "--warm")
	c := s.command("verify", "claude")
	c.Path, c.Env = s.hookd, append(c.Env, "XDG_RUNTIME_DIR="+runtime)
	out, _ := c.CombinedOutput()
	if code := c.ProcessState.ExitCode(); code != 4 || !strings.Contains(string(out), "the daemon that was there was not asked") || !strings.Contains(string(out), "start the agent with the HOME") {
		t.Errorf("exit %d: %s", code, out)
	}
	if left, _ := filepath.Glob(filepath.Join(runtime, "hookd", "*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}

	// The messenger answers with a refusal: the call does not reach hookd.
	s.agent(t, "")
	if err := os.WriteFile(s.hookd+"-bridge", []byte("#!/bin/sh\necho broken >&2\nexit 2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, code := s.verifies(t, "user"); got.Verdict != "broken" || code != 2 || !strings.Contains(got.Problems[0].Text, "does not reach hookd after its daemon was killed: it ended with exit code 2, and said: broken") {
		t.Errorf("exit %d: %+v", code, got)
	}
	// What the agent calls is not what a shell would run: the words are looked at.
	s.path = ""
	if got, code := s.verifies(t, "user"); got.Verdict != "broken" || code != 2 || !strings.Contains(got.Problems[0].Text, "the command of the entry does not reach hookd:") {
		t.Errorf("without the agent: exit %d: %+v", code, got)
	}
}

// What is installed in a project is proved with a copy that has nothing but hookd's entries:
// nothing else that the project's settings name is run.
func TestVerifyProvesTheEntriesOfAProject(t *testing.T) {
	t.Parallel()
	s := newStation(t, copied(t))
	s.agent(t, "")
	settings := filepath.Join(s.project, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
		t.Fatal(err)
	}
	evil := filepath.Join(s.folder, "evil")
	text := `{"apiKeyHelper": "touch ` + evil + `", "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch ` + evil + ` SessionStart"}]}]}}`
	if err := os.WriteFile(settings, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.home, ".claude.json"), []byte(`{"projects":{"`+s.project+`":{"hasTrustDialogAccepted":true}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.installs(t, "--project")
	got, code := s.verifies(t, "project")
	if got.Verdict != "proved" || code != 0 || !strings.Contains(got.Proof, "its call at SessionStart reached "+s.hookd) {
		t.Errorf("exit %d: %+v", code, got)
	}
	// The hooks of the person do not prove those of the project.
	s.installs(t)
	plan := func(change func(string) string) {
		t.Helper()
		text, err := os.ReadFile(settings)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(settings, []byte(change(string(text))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	plan(func(text string) string {
		return strings.ReplaceAll(text, "SessionStart --limit", "SessionEnd --limit")
	})
	if got, _ := s.verifies(t, "project"); got.Verdict == "proved" {
		t.Errorf("the hooks of the person proved those of the project: %+v", got)
	}
	// Other words than hookd's are not run.
	plan(func(text string) string {
		return strings.ReplaceAll(text, "bridge claude SessionEnd", "bridge claude SessionStart; touch "+evil+"; :")
	})
	if got, _ := s.verifies(t, "project"); got.Verdict == "proved" {
		t.Errorf("other words: %+v", got)
	}
	if _, err := os.Stat(evil); err == nil {
		t.Error("what the project's settings name was run")
	}

	// Where the person has installed nothing, nothing that a project names is started.
	if err := os.Remove(program.Path(s.state())); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(`{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"`+filepath.Join(s.folder, "x", "hookd")+` bridge claude SessionStart --limit 600s","timeout":600}]}]}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(s.folder, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.folder, "x", "hookd"), []byte("#!/bin/sh\ntouch "+evil+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.verifies(t, "project"); got.Verdict == "proved" {
		t.Errorf("a program of the project's: %+v", got)
	}
	if _, err := os.Stat(evil); err == nil {
		t.Error("a program that the project names was run")
	}
}
