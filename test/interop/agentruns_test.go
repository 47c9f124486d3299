//go:build interop && unix

package interop

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// endsOnRefusal reports whether a refused call is the end of the agent's run.
func (a *realAgent) endsOnRefusal() bool {
	can, _ := (&stage{agent: a}).can(protocol.ToolCallStart)
	return strings.Contains(can.Block.Note, "the task ends")
}

// refusal is for an agent whose run a refusal ends: the call does not run, the model is not
// asked again, the log says why, and in a run without a refusal calls run, those that hooks
// changed, too.
func (a *realAgent) refusal(t *testing.T) {
	s := newStage(t, a, a.shell("echo no >refused.txt"), done())
	s.hook("refusing.sh", personsHooks["refusing.sh"])
	s.install()
	if said, _ := s.try("do the thing"); s.has("refused.txt") || s.model.turns() != 1 {
		t.Errorf("a refused call: it ran %v, and the model was asked %d times; the agent said:\n%s", s.has("refused.txt"), s.model.turns(), said)
	}
	if log := s.hookd("log", "--refused"); !strings.Contains(log, "refusing.sh: "+reason) {
		t.Errorf("hookd log --refused:\n%s", log)
	}
	s = newStage(t, a, a.shell("echo no >original.txt"), a.shell("echo the third ran >third.txt; cat third.txt"), done())
	s.hook("changing.sh", personsHooks["changing.sh"])
	s.hook("session.sh", personsHooks["session.sh"])
	s.install()
	said := s.ask("do the thing")
	told := s.model.told()
	if len(told) != 2 {
		t.Fatalf("the model read %d results, want 2; the agent said:\n%s", len(told), said)
	}
	s.checkChanged(told[0])
	if !s.has("third.txt") || !strings.Contains(told[1], "the third ran") {
		t.Errorf("a call that no hook minds: it ran %v, and the model reads %s", s.has("third.txt"), told[1])
	}
	if s.model.read(sessionWord) && a.mute[protocol.SessionStart] != "" {
		t.Errorf("the model reads what a hook says at the start, although %s", a.mute[protocol.SessionStart])
	}
}

// prompt: no model is asked about a prompt that a hook refuses.
func (a *realAgent) prompt(t *testing.T) {
	s := newStage(t, a, a.shell("echo no >refused.txt"), done())
	can, has := s.can(protocol.PromptSubmit)
	if why := a.mute[protocol.PromptSubmit]; why != "" || !has || !can.Block.Possible() {
		t.Skipf("the agent's hooks cannot refuse a prompt as it is driven here. %s", why)
	}
	s.hook("prompt.sh", personsHooks["prompt.sh"])
	s.install()
	if said, _ := s.try("a forbidden prompt"); s.model.turns() > 0 || s.has("refused.txt") {
		t.Errorf("the model was asked %d times; the agent said:\n%s", s.model.turns(), said)
	}
	if log := s.hookd("log", "--refused"); !strings.Contains(log, "prompt.sh") {
		t.Errorf("hookd log --refused:\n%s", log)
	}
}

// project: hookd in the settings that a project carries, and the messenger with a daemon,
// which is killed in the middle of the run.
func (a *realAgent) project(t *testing.T) {
	var s *stage
	daemon := 0
	refused := a.shell("echo no >refused.txt")
	if a.endsOnRefusal() {
		refused = a.shell("echo yes >passed.txt")
	}
	after := a.shell("echo no >after-refused.txt")
	if a.endsOnRefusal() {
		after = a.shell("echo yes >passed-after.txt")
	}
	after.before = func() {
		for end := time.Now().Add(10 * time.Second); daemon == 0 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			daemon = s.daemon() // the first call has it start
		}
		if daemon == 0 {
			t.Error("no daemon listens after the first call")
			return
		}
		if err := syscall.Kill(daemon, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	s = newStage(t, a, refused, after, a.shell("echo the third ran >third.txt; cat third.txt"), done())
	t.Cleanup(func() { _, _ = s.run(binary, "serve", "--socket", "--stop") }) // what is left is reported by the box
	s.hookd("init")
	s.hook("refusing.sh", personsHooks["refusing.sh"])
	s.install("--project", "--warm")
	if a.trust != nil {
		a.trust(s)
	}
	said := s.ask("do the thing")
	told := s.model.told()
	if len(told) != 3 {
		t.Fatalf("the model read %d results, want 3; the agent said:\n%s", len(told), said)
	}
	if !a.endsOnRefusal() {
		for i, file := range []string{"refused.txt", "after-refused.txt"} {
			if s.has(file) || !strings.Contains(told[i], reason) {
				t.Errorf("%s: it is there %v, and the model reads %s", file, s.has(file), told[i])
			}
		}
	} else if !s.has("passed.txt") || !s.has("passed-after.txt") {
		t.Errorf("calls that no hook minds did not run: %s", told)
	}
	if !s.has("third.txt") || !strings.Contains(told[2], "the third ran") {
		t.Errorf("a call that no hook minds: it ran %v, and the model reads %s", s.has("third.txt"), told[2])
	}
	s.onceEach()
	if t.Failed() {
		t.Logf("hookd log:\n%s\nthe agent said:\n%s", s.hookd("log"), said)
	}
}

// daemon returns the number of the process that listens on the socket of this person, 0 if
// none does.
func (s *stage) daemon() int {
	out, _ := s.run(binary, "serve", "--socket", "--status") // none: it says so
	if found := regexp.MustCompile(`process (\d+)|pid (\d+)`).FindStringSubmatch(out); found != nil {
		pid, _ := strconv.Atoi(found[1] + found[2])
		return pid
	}
	return 0
}

// onceEach makes sure that hooks were asked once about each call of a tool.
func (s *stage) onceEach() {
	s.t.Helper()
	calls := map[string]int{}
	for line := range strings.Lines(s.hookd("log", "--json")) {
		var record struct {
			Event string
			Data  struct{ ToolCallID string }
		}
		if json.Unmarshal([]byte(line), &record) == nil && record.Event == string(protocol.ToolCallStart) {
			calls[record.Data.ToolCallID]++
		}
	}
	for id, n := range calls {
		if n > 1 && id != "" {
			s.t.Errorf("hooks were asked %d times about the call %s", n, id)
		}
	}
}

// monitor: while hookd only watches, what hooks would refuse runs and the log counts it;
// hookd guards itself all the same.
func (a *realAgent) monitor(t *testing.T) {
	steps := []step{a.shell("echo no >refused.txt"), a.shell("echo '{}' >" + a.own), done()}
	if a.endsOnRefusal() {
		steps = []step{steps[0], done()}
	}
	s := newStage(t, a, steps...)
	s.hook("refusing.sh", personsHooks["refusing.sh"])
	s.install("--monitor")
	said := s.ask("do the thing")
	told := s.model.told()
	if len(told) != len(steps)-1 {
		t.Fatalf("the model read %d results, want %d; the agent said:\n%s", len(told), len(steps)-1, said)
	}
	if !s.has("refused.txt") {
		t.Errorf("a call that is only watched did not run: %s", told[0])
	}
	if len(told) > 1 && (s.has(a.own) || !strings.Contains(told[1], "hooks.selfProtection")) {
		t.Errorf("a command that writes the agent's own settings: they are there %v, and the model reads %s", s.has(a.own), told[1])
	}
	if would := s.hookd("log", "--would"); !strings.Contains(would, "refusing.sh would block: "+reason) {
		t.Errorf("hookd log --would:\n%s", would)
	}
}

// permission: a hook answers in the person's place when the agent asks before a command.
func (a *realAgent) permission(t *testing.T) {
	s := newStage(t, a, a.shell("echo no >refused.txt"), a.shell("echo the second ran >second.txt; cat second.txt"), done())
	s.args = a.asking
	s.hook("permission.sh", `#!/bin/sh
# hook: events=permission-request match.tool=@shell can=block
command=$("$HOOKD" get data.args.command) || exit 1
case "$command" in
*refused.txt*) "$HOOKD" reply block "`+reason+`" ;;
*) "$HOOKD" reply allow ;;
esac
`)
	s.install()
	said := s.ask("do the thing")
	told := s.model.told()
	if len(told) != 2 {
		t.Fatalf("the model read %d results, want 2; the agent said:\n%s", len(told), said)
	}
	if s.has("refused.txt") || !strings.Contains(told[0], reason) {
		t.Errorf("a refused permission: it ran %v, and the model reads %s", s.has("refused.txt"), told[0])
	}
	if !s.has("second.txt") || !strings.Contains(told[1], "the second ran") {
		t.Errorf("a permission that a hook gives: it ran %v, and the model reads %s", s.has("second.txt"), told[1])
	}
}

// withoutHookd: the program is taken away in the middle of the run, and the agent refuses
// what hookd was to be asked about.
func (a *realAgent) withoutHookd(t *testing.T) {
	var own string
	gone := a.shell("echo no >unasked.txt")
	gone.before = func() {
		if err := os.Remove(own); err != nil {
			t.Error(err)
		}
	}
	s := newStage(t, a, a.shell("echo the first ran >first.txt; cat first.txt"), gone, done())
	own = filepath.Join(s.folder, "hookd")
	program, err := os.ReadFile(binary)
	s.check(err, os.WriteFile(own, program, 0o755))
	if out, err := s.run(own, "install", a.name, "--yes"); err != nil {
		t.Fatalf("hookd install: %v\n%s", err, out)
	}
	said, _ := s.try("do the thing")
	told := s.model.told()
	if !s.has("first.txt") || s.has("unasked.txt") || len(told) < 1 {
		t.Errorf("the call before: %v; the call after hookd was gone: %v; the model reads %s; the agent said:\n%s", s.has("first.txt"), s.has("unasked.txt"), told, said)
	}
}

// trustInCodex trusts the folder and the hooks in it as a person does under /hooks: by what
// Codex's own server says of them.
func trustInCodex(s *stage) {
	s.t.Helper()
	s.put("home/.codex/config.toml", s.text("home/.codex/config.toml")+"\n[projects."+asJSON(s.project)+"]\ntrust_level = \"trusted\"\n", 0o600)
	c := exec.Command(filepath.Join(s.folder, "bin", "codex"), "app-server")
	c.Dir, c.Env, c.WaitDelay = s.project, s.env, time.Second
	in, err := c.StdinPipe()
	s.check(err)
	out, err := c.StdoutPipe()
	s.check(err)
	s.check(c.Start())
	limit := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
	defer limit.Stop()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	ask := func(id int, method string, params any) map[string]any {
		text, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params})
		s.check(err)
		_, err = fmt.Fprintf(in, "%s\n", text)
		s.check(err)
		for lines.Scan() {
			var answer struct {
				ID     int
				Result map[string]any
				Error  any
			}
			if json.Unmarshal(lines.Bytes(), &answer) != nil || answer.ID != id {
				continue
			}
			if answer.Error != nil {
				s.t.Fatalf("codex app-server: %s: %v", method, answer.Error)
			}
			return answer.Result
		}
		s.t.Fatalf("codex app-server ended before it answered %s", method)
		return nil
	}
	ask(1, "initialize", map[string]any{"clientInfo": map[string]any{"name": "test", "version": "1"}})
	trusted := map[string]any{}
	var collect func(any)
	collect = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, each := range value {
				collect(each)
			}
		case map[string]any:
			if key, hash := value["key"], value["currentHash"]; key != nil && hash != nil {
				trusted[fmt.Sprint(key)] = map[string]any{"trusted_hash": hash}
			}
			for _, each := range value {
				collect(each)
			}
		}
	}
	collect(ask(2, "hooks/list", map[string]any{"cwds": []string{s.project}}))
	if len(trusted) == 0 {
		s.t.Fatal("codex app-server lists no hooks")
	}
	ask(3, "config/batchWrite", map[string]any{"edits": []any{map[string]any{"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"}}})
	s.check(in.Close())
	_ = c.Wait() // it was asked to end by the end of its input
	var args []string
	for _, arg := range s.args {
		if arg != "--dangerously-bypass-hook-trust" {
			args = append(args, arg)
		}
	}
	s.args = args
}
