//go:build unix

package exechook

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
)

// foreignHook is a script that was written for another agent, for the event that this
// agent calls before a tool.
func (s *scripts) foreignHook(name, speaks string, timeout time.Duration, body string) *executor.Hook {
	h := s.hook(name, protocol.CanModify, timeout, body)
	f := foreignhooks.Find(speaks)
	h.Dialect, h.ByDialect, h.OnFailure, h.Named = speaks, true, protocol.RuleBlock, []string{f.Events[0].Name}
	p := h.Asker.(*Program)
	config := p.config
	config.Selector, _ = f.Select(h.Named, "")
	h.Asker = New(p.runtime, config)
	return h
}

// TestForeignHooksFail: a crash, a time-out, a flood, garbage and what a hook leaves running
// come to what its own agent makes of it, in time, and nothing survives.
func TestForeignHooksFail(t *testing.T) {
	garbage := `echo '{"decision":"block","reason":'`
	for _, test := range []struct {
		dialect, body string
		want          protocol.Action
		failure       protocol.FailureKind
	}{
		{"claude", "exit 1", protocol.Observe, protocol.FailExit},
		{"claude", "exit 3", protocol.Observe, protocol.FailExit},
		{"claude", "echo no >&2; exit 2", protocol.Block, ""},
		{"claude", "kill -SEGV $$", protocol.Observe, protocol.FailSignal},
		{"claude", "sleep 30", protocol.Observe, protocol.FailTimeout},
		{"claude", garbage, protocol.Observe, protocol.FailReply},
		{"claude", "head -c 3000000 /dev/zero", protocol.Observe, protocol.FailOutput},
		{"claude", `sleep 30 & echo '{"decision":"block","reason":"no"}'`, protocol.Block, ""},
		{"claude", `echo '{"decision":"block","reason":"no"}'; sleep 30`, protocol.Block, ""},
		{"gemini", "exit 1", protocol.Observe, protocol.FailExit},
		{"gemini", "exit 3", protocol.Block, ""},
		{"gemini", "sleep 30", protocol.Observe, protocol.FailTimeout},
		{"codex", "exit 2", protocol.Observe, protocol.FailExit},
		{"codex", "echo no >&2; exit 2", protocol.Block, ""},
		{"codex", garbage, protocol.Observe, protocol.FailReply},
		{"cursor", "exit 1", protocol.Observe, protocol.FailExit},
		{"cursor", garbage, protocol.Block, protocol.FailReply},
		{"cursor", "sleep 30", protocol.Observe, protocol.FailTimeout},
		{"copilot", "exit 1", protocol.Block, protocol.FailExit},
		{"copilot", "kill -SEGV $$", protocol.Block, protocol.FailSignal},
		{"copilot", "sleep 30", protocol.Observe, protocol.FailTimeout},
		{"kodelet", "exit 2", protocol.Observe, protocol.FailExit},
		{"kodelet", garbage, protocol.Observe, protocol.FailReply},
		{"openhands", "exit 2", protocol.Block, ""},
		{"openhands", "exit 1", protocol.Observe, protocol.FailExit},
		{"acai", "exit 1", protocol.Observe, protocol.FailExit},
		{"acai", "echo maybe", protocol.Observe, protocol.FailReply},
	} {
		t.Run(test.dialect+"/"+strings.Map(func(r rune) rune {
			if strings.ContainsRune(" /$'\"", r) {
				return '_'
			}
			return r
		}, test.body), func(t *testing.T) {
			s := newScripts(t)
			h := s.foreignHook("h", test.dialect, 500*time.Millisecond, test.body)
			if test.dialect == "acai" {
				h.Named = []string{"tool-call-start"}
				config := h.Asker.(*Program).config
				config.Selector, _ = foreignhooks.Find("acai").Select(h.Named, "")
				h.Asker = New(h.Asker.(*Program).runtime, config)
			}
			e := s.executor(schema.HookSettings{}, h)
			began := time.Now()
			outcome := hooktest.Fire(t, e, toolEvent("e"))
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("took %s", took)
			}
			run := &outcome.Runs[0]
			if outcome.Action != test.want || run.Failure != test.failure || run.Dialect != test.dialect {
				t.Errorf("%s, failure %q of a hook that speaks %q: %s, %v", outcome.Action, run.Failure, run.Dialect, run.Detail, run.Warnings)
			}
			if test.failure != "" && (run.Rule == protocol.RuleBlock) != (test.want == protocol.Block) {
				t.Errorf("rule %s", run.Rule)
			}
			for deadline := time.Now().Add(2 * time.Second); len(s.survivors()) > 0; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("still alive: %v", s.survivors())
				}
			}
		})
	}
}

// TestForeignHookThatCannotBeStartedRefuses: whatever its own agent does.
func TestForeignHookThatCannotBeStartedRefuses(t *testing.T) {
	for _, f := range foreignhooks.All {
		s := newScripts(t)
		h := s.foreignHook("h", f.Name, time.Second, "exit 0")
		h.Named = nil
		config := h.Asker.(*Program).config
		config.Selector, _ = f.Select(nil, "")
		config.Path, config.Script, config.Args = "/bin/sh", "", []string{"-c", "no-such-guard --check"}
		h.Asker = New(h.Asker.(*Program).runtime, config)
		outcome := hooktest.Fire(t, s.executor(schema.HookSettings{}, h), toolEvent("e"))
		if run := &outcome.Runs[0]; outcome.Action != protocol.Block || run.Failure != protocol.FailSpawn && run.Failure != "" {
			t.Errorf("%s: %s, failure %q: %s", f.Name, outcome.Action, run.Failure, run.Detail)
		}
	}
}

// A hook that knows calls on one file is asked about each file of a patch: one that it
// refuses is refused wherever it stands, also after a crash about another.
func TestForeignHookIsAskedAboutEachFileOfAPatch(t *testing.T) {
	const guard = `input=$(cat); case "$input" in
*'"file_path":"/p/.env"'*) echo "hands off .env" >&2; exit 2;;
*crash*) exit 1;;
esac; echo asked >>"$0.log"`
	many := `"x0"`
	for i := range mostFiles {
		many += fmt.Sprintf(`,"x%d"`, i+1)
	}
	for _, test := range []struct {
		paths   string
		want    protocol.Action
		failure protocol.FailureKind
		asked   int
	}{
		{`"main.go","a.go"`, protocol.Observe, "", 2},
		{`"main.go",".env","a.go"`, protocol.Block, "", 1},
		{`"crash","a.go",".env"`, protocol.Block, "", 1},
		{`"a.go","crash","b.go"`, protocol.Observe, protocol.FailExit, 2},
		{many, protocol.Block, protocol.FailSpawn, 0},
	} {
		s := newScripts(t)
		h := s.foreignHook("h", "claude", 10*time.Second, guard)
		h.OnFailure, h.ByDialect = "", true
		config := h.Asker.(*Program).config
		config.Selector, _ = foreignhooks.Find("claude").Select(h.Named, "Edit|Write")
		h.Asker = New(h.Asker.(*Program).runtime, config)
		ev := toolEvent("e")
		ev.Project, ev.Cwd = "/p", "/p"
		ev.Data = []byte(`{"toolCallId":"c1","name":"apply_patch","kind":"write","args":{"command":"*** Begin Patch","paths":[` + test.paths + `]},"parallel":1}`)
		outcome := hooktest.Fire(t, s.executor(schema.HookSettings{}, h), ev)
		run := &outcome.Runs[0]
		if outcome.Action != test.want || run.Failure != test.failure {
			t.Errorf("%.60s: %s, failure %q: %s %s", test.paths, outcome.Action, run.Failure, outcome.Reason, run.Detail)
		}
		log, _ := os.ReadFile(h.Asker.(*Program).argv[0] + ".log")
		if asked := strings.Count(string(log), "asked"); asked != test.asked {
			t.Errorf("%.60s: it let %d files pass, want %d", test.paths, asked, test.asked)
		}
	}
}

// A hook of Claude Code's may leave variables for the session's commands in a file: here
// nobody reads it, which is said, and the file is gone.
func TestVariablesThatAHookLeavesAreSaidToBeLost(t *testing.T) {
	for body, want := range map[string]bool{
		`echo 'export A=1' >>"$CLAUDE_ENV_FILE"; echo "$CLAUDE_ENV_FILE" >"$0.log"`: true,
		`echo "$CLAUDE_ENV_FILE" >"$0.log"`:                                         false,
	} {
		s := newScripts(t)
		h := s.foreignHook("h", "claude", 10*time.Second, body)
		h.Named, h.Events = []string{"SessionStart"}, []protocol.EventName{protocol.SessionStart}
		config := h.Asker.(*Program).config
		config.Selector, _ = foreignhooks.Find("claude").Select(h.Named, "")
		h.Asker = New(h.Asker.(*Program).runtime, config)
		ev := protocol.Event{Event: protocol.SessionStart, ID: "e", Session: protocol.Session{ID: "s"}, Data: []byte(`{"source":"startup","model":"m","tools":[]}`)}
		outcome := hooktest.Fire(t, s.executor(schema.HookSettings{}, h), ev)
		if len(outcome.Runs) != 1 {
			t.Fatalf("%+v", outcome)
		}
		run := &outcome.Runs[0]
		if said := strings.Contains(strings.Join(run.Warnings, " "), "CLAUDE_ENV_FILE"); said != want || run.Failure != "" {
			t.Errorf("%s: %q, warnings %q, failure %s %s", body, outcome.Action, run.Warnings, run.Failure, run.Detail)
		}
		file, _ := os.ReadFile(h.Asker.(*Program).argv[0] + ".log")
		if name := strings.TrimSpace(string(file)); name == "" {
			t.Error("it is told no file")
		} else if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is left", name)
		}
	}
}
