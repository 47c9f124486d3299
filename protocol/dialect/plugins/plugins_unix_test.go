//go:build unix

package plugins_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/hosts"
	"github.com/hookd-dev/hookd/protocol/dialect/plugins"
)

// TestMain lets the test's own program stand for hookd: a plug-in starts it as it starts
// hookd, and it translates with package dialect. DO says what hooks decided, or how it
// goes wrong.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "bridge" {
		os.Exit(bridge(os.Getenv("DO"), os.Args[2], os.Args[3]))
	}
	os.Exit(m.Run())
}

const mark = "MARK of the hook"

// decisions are the values of DO with which hookd answers.
var decisions = []string{"observe", "block", "ask", "stop", "continue", "change", "context", "notice"}

func bridge(do, name, event string) int {
	switch do {
	case "die":
		fmt.Fprintln(os.Stderr, "why it died")
		return 3
	case "killed":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "silent":
		return 0
	case "garbage":
		fmt.Println("ready!")
		return 0
	case "list":
		fmt.Println("[]")
		return 0
	case "hang":
		child := exec.Command("sleep", "60")
		if child.Start() == nil {
			_ = os.WriteFile(os.Getenv("PIDS"), fmt.Appendf(nil, "%d %d", os.Getpid(), child.Process.Pid), 0o600)
		}
		time.Sleep(time.Minute)
	case "flood":
		line := bytes.Repeat([]byte("x"), 1<<16)
		for {
			if _, err := os.Stdout.Write(line); err != nil {
				return 1
			}
		}
	}
	agent := hosts.Find(name)
	stdin, _ := io.ReadAll(os.Stdin)
	call, err := agent.Read(event, stdin, protocol.DecodeLimits{Size: protocol.DefaultEventSize, Depth: protocol.DefaultDepth})
	var answer dialect.Answer
	if err != nil {
		answer = agent.Refuse(event, err)
	} else {
		call.Event.Data = protocol.Complete(call.Event.Spec(), call.Event.Data)
		outcome := decided(do, call)
		answer = call.Answer(&outcome)
	}
	os.Stdout.Write(answer.Stdout)
	return answer.Exit
}

// decided is an outcome of hooks.
func decided(do string, call *dialect.Call) protocol.Outcome {
	hook := "guard.sh"
	out := protocol.Outcome{Action: protocol.Observe, Event: call.Event}
	data := out.Event.Data
	switch do {
	case "block", "ask", "stop":
		out.Action, out.By, out.Reason = protocol.Action(do), &hook, mark
	case "continue":
		out.Action, out.By, out.Messages = protocol.Continue, &hook, []protocol.Message{{Role: protocol.RoleUser, Content: protocol.TextContent(mark)}}
	case "context":
		out.Context = []protocol.HookText{{Hook: hook, Text: mark}}
	case "notice":
		out.Notices = []protocol.HookText{{Hook: hook, Text: mark}}
	case "change":
		out.Action, out.By = protocol.Modify, &hook
		for member, value := range map[string]string{"args": `{"command":"` + mark + `"}`, "prompt": `"` + mark + `"`, "result": `{"content":"` + mark + `","isError":false}`, "instructions": `"` + mark + `"`} {
			if jsonspan.Get(data, member) != nil && (member != "args" || jsonspan.Get(data, "result") == nil) {
				data = jsonspan.With(jsonspan.Without(data, member), member, []byte(value))
			}
		}
		out.Event.Data = data
	}
	return out
}

// TestEveryEventIsInThePlugin: a plug-in asks about each event of its agent's table.
func TestEveryEventIsInThePlugin(t *testing.T) {
	for _, name := range []string{"opencode", "pi"} {
		source := string(plugins.Source(name, []string{"/opt/hookd \"x\"", "bridge", name}, time.Minute))
		if !strings.HasPrefix(source, plugins.Mark+name) || !strings.Contains(source, `const COMMAND = ["/opt/hookd \"x\"","bridge","`+name+`"];`) || !strings.Contains(source, "const LIMIT_MS = 60000;") {
			t.Errorf("%s begins %.200s", name, source)
		}
		for _, row := range hosts.Find(name).Rows {
			if !strings.Contains(source, `"`+row.Name+`"`) {
				t.Errorf("the plug-in of %s never asks about %s", name, row.Name)
			}
		}
	}
	if plugins.Source("claude", []string{"hookd"}, time.Minute) != nil || plugins.Source("pi", nil, time.Minute) != nil {
		t.Error("a plug-in for an agent that has none, or without a command")
	}
}

// run loads a plug-in as its agent does, and returns what came of its functions.
func run(t *testing.T, agent, do string, command []string, limit time.Duration) (result map[string]any) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the plug-ins are not run")
	}
	dir := t.TempDir()
	driver, err := filepath.Abs(filepath.Join("testdata", agent+".mjs"))
	if err != nil {
		t.Fatal(err)
	}
	plugin := filepath.Join(dir, "plugin.mjs")
	if err := os.WriteFile(plugin, plugins.Source(agent, command, limit), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, driver, plugin)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "DO="+do, "PIDS="+filepath.Join(dir, "pids"), "GORACE=atexit_sleep_ms=0")
	if !slices.Contains(decisions, do) {
		cmd.Env = append(cmd.Env, "BROKEN=1") // only what can be refused is tried
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &result)
	}
	if err != nil {
		t.Fatalf("%s, %s: %v\n%s%s", agent, do, err, out, &stderr)
	}
	if pids, err := os.ReadFile(filepath.Join(dir, "pids")); err == nil {
		for _, word := range strings.Fields(string(pids)) {
			pid, _ := strconv.Atoi(word)
			isGone(t, pid)
		}
	}
	return result
}

// isGone checks that a process ends within a moment.
func isGone(t *testing.T, pid int) {
	t.Helper()
	for range 100 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %d lives on", pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

func self(t *testing.T, agent string) []string {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{program, "bridge", agent}
}

// TestOutcomesArriveInTheAgent: what hooks decide is done by the agent's own means.
func TestOutcomesArriveInTheAgent(t *testing.T) {
	for _, tt := range []struct {
		agent, do string
		want      map[string]any
	}{
		{"opencode", "observe", map[string]any{"before": "echo hi", "after": "hi", "prompt": "do it", "system": []any{}, "compacting": []any{}, "thrown": nil, "toasts": []any{}}},
		{"opencode", "block", map[string]any{"before": mark, "after": mark, "prompt": mark}},
		{"opencode", "ask", map[string]any{"before": mark}},
		{"opencode", "stop", map[string]any{"before": mark, "prompt": mark}},
		{"opencode", "change", map[string]any{"before": mark, "after": mark, "prompt": mark, "instructions": mark}},
		{"opencode", "context", map[string]any{"before": "echo hi", "after": "hi\n\n" + mark + "\n\n" + mark, "prompt": "do it\n\n" + mark, "system": []any{mark}, "compacting": []any{mark}}},
		{"opencode", "notice", map[string]any{"before": "echo hi", "toasts": []any{"guard.sh: " + mark}}},
		{"pi", "observe", map[string]any{"before": "echo hi", "after": "hi", "prompt": "do it", "system": "", "compact": nil, "sent": []any{}, "told": []any{}}},
		{"pi", "block", map[string]any{"before": mark, "after": mark, "prompt": "handled", "compact": true, "sent": []any{mark, mark, mark, mark, mark}}},
		{"pi", "stop", map[string]any{"before": mark, "terminate": true, "prompt": "handled"}},
		{"pi", "ask", map[string]any{"before": mark, "asked": []any{mark, mark}, "prompt": "handled"}},
		{"pi", "change", map[string]any{"before": mark, "after": mark, "prompt": mark}},
		{"pi", "context", map[string]any{"before": "echo hi", "after": "hi\n" + mark + "\n\n" + mark, "prompt": "do it\n\n" + mark, "system": "base\n\n" + mark}},
		{"pi", "continue", map[string]any{"sent": []any{mark, mark, mark, mark, mark}}},
		{"pi", "notice", map[string]any{"before": "echo hi"}},
	} {
		t.Run(tt.agent+"/"+tt.do, func(t *testing.T) {
			got := run(t, tt.agent, tt.do, self(t, tt.agent), 20*time.Second)
			for name, want := range tt.want {
				have := got[name]
				if name == "toasts" && len(want.([]any)) > 0 {
					have = have.([]any)[:1]
				}
				if text, is := have.(string); is && want == mark {
					have = map[bool]any{true: mark, false: text}[strings.Contains(text, mark)]
				}
				if fmt.Sprint(have) != fmt.Sprint(want) {
					t.Errorf("%s is %v, want %v", name, got[name], want)
				}
			}
			if tt.do == "notice" && tt.agent == "pi" && !strings.Contains(fmt.Sprint(got["told"]), mark) {
				t.Errorf("told %v", got["told"])
			}
		})
	}
}

// TestWithoutHookdNothingPasses: when hookd is not there, dies, says nothing or nonsense, or
// hangs, what can be refused is refused, with the reason, in time, and no process is left.
func TestWithoutHookdNothingPasses(t *testing.T) {
	for _, agent := range []string{"opencode", "pi"} {
		for do, why := range map[string]string{
			"missing": "cannot be started", "die": "exit code 3: why it died", "killed": "SIGKILL", "silent": "no object", "garbage": "no object",
			"list": "no object", "hang": "no answer within 0.4 s", "flood": "too long",
		} {
			t.Run(agent+"/"+do, func(t *testing.T) {
				command, limit := self(t, agent), 20*time.Second
				switch do {
				case "missing":
					command = []string{filepath.Join(t.TempDir(), "hookd"), "bridge", agent}
				case "hang":
					limit = 400 * time.Millisecond
				}
				began := time.Now()
				got := run(t, agent, do, command, limit)
				for _, name := range []string{"before", "after"} {
					if text := fmt.Sprint(got[name]); !strings.Contains(text, "the check could not be made") || !strings.Contains(text, why) {
						t.Errorf("%s: %v", name, text)
					}
				}
				if text := fmt.Sprint(got["prompt"]); text == "do it" || text == "<nil>" {
					t.Errorf("the prompt passed: %v", text)
				}
				if took := time.Since(began); took > 25*time.Second {
					t.Errorf("it took %s", took)
				}
			})
		}
	}
}
