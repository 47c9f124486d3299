//go:build unix

package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

type pool struct{ Size, Ready, Started, Used, Restarts int }

// pools asks the daemon what it keeps for each hook.
func (k *talk) pools() map[string]pool {
	k.t.Helper()
	var m struct {
		Result struct {
			Hooks []struct {
				Name string
				Pool *pool
			}
		}
	}
	k.into(k.call("hooks/list", fmt.Sprintf(`{"cwd":%q}`, k.box.project)), &m)
	all := map[string]pool{}
	for _, h := range m.Result.Hooks {
		if h.Pool != nil {
			all[h.Name] = *h.Pool
		}
	}
	return all
}

// awaitPool waits until what is kept for a hook is as wanted.
func (k *talk) awaitPool(hook string, wanted func(pool) bool) {
	k.t.Helper()
	for range 400 {
		if wanted(k.pools()[hook]) {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	k.t.Fatalf("%s: %+v", hook, k.pools()[hook])
}

func (k *talk) tool(data string) outcome {
	k.t.Helper()
	return k.outcome(k.call("event/fire", fmt.Sprintf(`{"event":"tool-call-start","session":{"id":"s1","key":%q},"data":%s}`, k.key, data)))
}

// The examples of standby and resident hooks, and the one that is not fit, in the
// daemon: processes that were there before the event answer, list and check show
// it, and nothing is left when the daemon is killed.
func TestModesInTheDaemon(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for _, name := range []string{"python-syntax.py", "repeat-guard.js", "too-early.sh"} {
		needInterpreter(t, b, name)
		b.installExample(t, name)
	}
	k := serve(t, b)
	k.awaitPool("python-syntax.py", func(p pool) bool { return p.Ready == 1 })
	write := func(text string) string {
		return call("write_file", "write", map[string]any{"path": "a.py", "content": text})
	}
	for i := 1; i <= 3; i++ {
		if o := k.tool(write("def f(:" + strings.Repeat(" ", i))); o.Action != "block" || !strings.Contains(o.Reason, "would not parse") {
			t.Errorf("standby: %s, %q, %+v", o.Action, o.Reason, o.Runs)
		}
		k.awaitPool("python-syntax.py", func(p pool) bool { return p.Ready == 1 && p.Used == i && p.Restarts == 0 })
	}
	for i, action := range []string{"observe", "observe", "block"} {
		if o := k.tool(write("x = 1")); o.Action != action {
			t.Errorf("resident, call %d: %s, %q, %+v", i+1, o.Action, o.Reason, o.Runs)
		}
	}
	if p := k.pools()["repeat-guard.js"]; p.Started != 1 || p.Ready != 1 {
		t.Errorf("resident: %+v", p)
	}
	k.tool(call("bash", "shell", map[string]any{"command": "ls"}))
	var checked struct {
		Findings []struct{ Code, Hook, Message string }
	}
	out, err := b.command("check", "--json").Output()
	if err != nil || json.Unmarshal(out, &checked) != nil || len(checked.Findings) != 2 || checked.Findings[1].Code != "run-warned" || checked.Findings[0].Code != "not-fit-for-standby" || checked.Findings[0].Hook != "too-early.sh" {
		t.Errorf("check: %v, %s", err, out)
	}
	if out, err := b.command("list").Output(); err != nil || !strings.Contains(string(out), "standby, pool 1") || !strings.Contains(string(out), "resident, pool 8") {
		t.Errorf("list: %v\n%s", err, out)
	}
	if len(alive(b.folder)) == 0 && runtime.GOOS == "linux" {
		t.Error("the processes that wait are not seen, so none would be missed")
	}
	k.cmd.Process.Kill()
	if left := aliveAfter(b.folder, killedBound()); len(left) > 0 {
		t.Errorf("alive behind a killed daemon: %s", strings.Join(left, "; "))
	}
}

// A change of a standby hook counts for the next event, and what waited for the
// old one ends; so does all when the daemon is told to.
func TestModesFollowChanges(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	answer := func(text string) string {
		return strings.Replace(promptHook, "can=", "run=standby can=", 1) + `cat >/dev/null; echo '{"action":"block","reason":"` + text + `"}'` + "\n"
	}
	b.script(t, "guard.sh", answer("old"))
	k := serve(t, b)
	k.awaitPool("guard.sh", func(p pool) bool { return p.Ready == 1 })
	if o := k.outcome(k.call("event/fire", k.event("go"))); o.Reason != "old" {
		t.Errorf("%q", o.Reason)
	}
	k.awaitPool("guard.sh", func(p pool) bool { return p.Ready == 1 && p.Used == 1 })
	b.script(t, "guard.sh", answer("new"))
	if o := k.outcome(k.call("event/fire", k.event("go"))); o.Reason != "new" {
		t.Errorf("at once behind the change: %q", o.Reason)
	}
	k.awaitPool("guard.sh", func(p pool) bool { return p.Ready == 1 && p.Used == 0 })
	if o := k.outcome(k.call("event/fire", k.event("go"))); o.Reason != "new" {
		t.Errorf("%q", o.Reason)
	}
	k.call("shutdown", `{}`)
	k.in.Close()
	io.Copy(io.Discard, k.out)
	k.cmd.Wait()
	if left := alive(b.folder); len(left) > 0 {
		t.Errorf("alive: %s", strings.Join(left, "; "))
	}
}

// A hook of the project has no process before somebody allows it, and none after
// the moment when that is withdrawn.
func TestModesNeedTrust(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	text := strings.Replace(promptHook, "can=", "run=standby can=", 1) + "cat >/dev/null; exit 2\n"
	hooks := filepath.Join(b.project, ".acai", "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(hooks, "guard.sh"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	k := serve(t, b)
	time.Sleep(300 * time.Millisecond)
	waits := func() bool { return strings.Contains(strings.Join(alive(b.folder), " "), "guard.sh") }
	if waits() || k.pools()["guard.sh"].Started > 0 {
		t.Error("a hook that nobody allowed was started")
	}
	for _, step := range []struct {
		command []string
		waits   bool
	}{{[]string{"trust", "--yes"}, true}, {[]string{"untrust", "--yes"}, false}} {
		if out, err := b.command(step.command...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", step.command, err, out)
		}
		for began := time.Now(); waits() != step.waits; time.Sleep(20 * time.Millisecond) {
			if time.Since(began) > 5*time.Second {
				t.Fatalf("behind %v: %v, %+v", step.command, alive(b.folder), k.pools())
			}
		}
	}
}

// What a process is made of counts, not its program's file alone: after a change
// of its interpreter, of a helper, or of a file on its command line, the next event
// meets a new process, before the loader knows and where it never will.
func TestModesMeetNoOlderFile(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	loop := func(read string) string {
		return read + `
while read -r line; do
	n=$((n+1)); id=$(expr "$line" : '.*"event":"[^"]*","id":"\([^"]*\)"')
	echo "{\"id\":\"$id\",\"notice\":\"$n\"}"
done
`
	}
	header := "# hook: events=tool-call-start can=block run=resident"
	shell := filepath.Join(b.home, "shell")
	installShell := func() {
		text, err := os.ReadFile("/bin/sh")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.WriteFile(shell+".tmp", text, 0o755), os.Rename(shell+".tmp", shell)); err != nil {
			t.Fatal(err)
		}
	}
	named := filepath.Join(b.home, "named.sh")
	name := func() {
		if err := os.WriteFile(named, []byte(loop("")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	installShell()
	name()
	b.script(t, "shell.sh", "#!"+shell+"\n"+header+"\n"+loop(""))
	b.script(t, "helped.sh", "#!/bin/sh\n"+header+" files=helper.txt\n"+loop(". ${HOOK_FILE%/*}/helper.txt"))
	b.script(t, "helper.txt", "")
	entry := fmt.Sprintf(`{"name":"named","command":["/bin/sh",%q],"events":["tool-call-start"],"can":"block","run":"resident"}`, named)
	if err := os.WriteFile(filepath.Join(b.home, ".acai", "acai.json"), []byte(`{"hooks":{"use":[`+entry+`]}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	k := serve(t, b)
	counts := func() map[string]string {
		counted := map[string]string{}
		o := k.tool(call("bash", "shell", map[string]any{"command": "ls"}))
		for _, n := range o.Notices {
			counted[n.Hook] = n.Text
		}
		if len(counted) != 3 {
			t.Fatalf("%+v", o)
		}
		return counted
	}
	counts()
	if got := counts(); got["shell.sh"] != "2" || got["helped.sh"] != "2" || got["named"] != "2" {
		t.Fatalf("the processes are not kept: %v", got)
	}
	for hook, change := range map[string]func(){"shell.sh": installShell, "helped.sh": func() { b.script(t, "helper.txt", "# new\n") }, "named": name} {
		change()
		if got := counts(); got[hook] != "1" {
			t.Errorf("%s met a process that was started before the change: %v", hook, got)
		}
	}
}
