package exechook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// scriptRuntime is a runtime for hooks that are shell scripts.
func scriptRuntime(t *testing.T) *process.Runtime {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no /bin/sh for hooks that are shell scripts")
	}
	rt, err := process.New(process.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

// processHook writes a script and returns a way to ask it about a tool call.
func processHook(t *testing.T, rt *process.Runtime, script string, c hookenv.Config) (*Program, *executor.Question) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "guard.sh")
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	dir := t.TempDir()
	p := New(rt, Config{Path: path, Args: []string{"one"}, Dir: dir, HookFile: "/p/.acai/hooks/guard.sh",
		Env: hookenv.ForHook(c, hookenv.Execute, "/p/.acai/hooks/guard.sh")})
	spec := protocol.Lookup(protocol.ToolCallStart)
	event := protocol.Event{Event: protocol.ToolCallStart, ID: "e1", Session: protocol.Session{ID: "s1"}}
	hook := &executor.Hook{Hook: schema.Hook{Name: "guard.sh", Layer: protocol.Project, Can: protocol.CanBlock, OnFailure: protocol.RuleBlock}}
	return p, &executor.Question{
		Hook: hook, Event: &event, Spec: spec, Payload: [][]byte{[]byte("{\"event\":"), []byte("\"tool-call-start\"}\n")},
		Grace: 20 * time.Millisecond, Limits: schema.Limits{Reply: 1 << 20, Stderr: 64 << 10, Depth: 512},
	}
}

// What the executor ends a context with.
var (
	overTime   = &protocol.Failure{Kind: protocol.FailTimeout, Detail: "timed out after 300ms"}
	overBudget = &protocol.Failure{Kind: protocol.FailBudget, Detail: "budget of 1m"}
)

const sayNo = `echo '{"action":"block","reason":"no"}'`

// TestProcessAnswers: every way in which a program can end, and what is made of
// it (H02, H03, H07, H13, H16, H22, H24).
func TestProcessAnswers(t *testing.T) {
	rt := scriptRuntime(t)
	tests := map[string]struct {
		script string
		limit  error // cause at 300 ms
		action protocol.Action
		kind   protocol.FailureKind
		detail string
	}{
		"nothing":                {"exit 0", nil, protocol.Observe, "", ""},
		"block":                  {"cat >/dev/null\n" + sayNo, nil, protocol.Block, "", ""},
		"block without reading":  {sayNo, nil, protocol.Block, "", ""},
		"block, exit 1":          {sayNo + "\nexit 1", nil, protocol.Block, "", ""},
		"block, killed":          {sayNo + "\nkill -9 $$", nil, protocol.Block, "", ""},
		"block, then sleeps":     {sayNo + "\nsleep 62", overTime, protocol.Block, "", ""},
		"block, child holds":     {"sleep 62 &\n" + sayNo, nil, protocol.Block, "", ""},
		"block after a banner":   {"echo hello from profile\n" + sayNo, nil, protocol.Block, "", ""},
		"block after 5 MB":       {"head -c 5000000 /dev/zero >&2\n" + sayNo, nil, protocol.Block, "", ""},
		"exit 2":                 {"exit 2", nil, protocol.Block, "", ""},
		"exit 1":                 {"echo trace >&2; exit 1", nil, "", protocol.FailExit, "exit code 1"},
		"exit 139":               {"exit 139", nil, "", protocol.FailExit, "exit code 139"},
		"exit 127 of its own":    {"nosuchprogram", nil, "", protocol.FailExit, "exit code 127"},
		"killed":                 {"kill -9 $$", nil, "", protocol.FailSignal, "SIGKILL"},
		"garbage":                {"echo hello", nil, "", protocol.FailReply, ""},
		"flood":                  {"head -c 3000000 /dev/zero", nil, "", protocol.FailOutput, "output over 1048576 bytes"},
		"timeout":                {"sleep 62", overTime, "", protocol.FailTimeout, "timed out after 300ms"},
		"budget":                 {"sleep 62", overBudget, "", protocol.FailBudget, "budget of 1m"},
		"abort":                  {"sleep 62", errors.New("user pressed escape"), "", protocol.FailAborted, "user pressed escape"},
		"abort discards a block": {sayNo + "\nsleep 62", errors.New("user pressed escape"), "", protocol.FailAborted, "user pressed escape"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, q := processHook(t, rt, "#!/bin/sh\n"+test.script+"\n", hookenv.Config{})
			ctx := t.Context()
			if test.limit != nil {
				limited, cancel := context.WithTimeoutCause(ctx, 300*time.Millisecond, test.limit)
				defer cancel()
				ctx = limited
			}
			began := time.Now()
			a := p.Ask(ctx, q)
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("took %s", took)
			}
			if (a.Reply == nil) == (a.Failure == nil) {
				t.Fatalf("reply %v and failure %v", a.Reply, a.Failure)
			}
			if a.Reply != nil && a.Reply.Action != test.action || a.Reply == nil && test.action != "" {
				t.Errorf("reply %+v, failure %v", a.Reply, a.Failure)
			}
			if a.Failure != nil && (a.Failure.Kind != test.kind || !strings.Contains(a.Failure.Detail, test.detail)) {
				t.Errorf("failure %+v", a.Failure)
			}
		})
	}
}

// TestProcessSpawn: what could not be started is named by the hook's own file
// (H06, H10, H11).
func TestProcessSpawn(t *testing.T) {
	rt := scriptRuntime(t)
	noPath := hookenv.Config{Environ: []string{"PATH=/nonexistent"}}
	tests := map[string]struct {
		script string
		env    hookenv.Config
		change func(*Program)
		kind   protocol.FailureKind
		detail string
	}{
		"env finds no interpreter": {"#!/usr/bin/env python3\n", noPath, nil, protocol.FailSpawn,
			"interpreter python3 of /p/.acai/hooks/guard.sh not found on PATH /nonexistent"},
		"no interpreter": {"#!/opt/none/python3\n", hookenv.Config{}, nil, protocol.FailSpawn,
			"interpreter /opt/none/python3 of /p/.acai/hooks/guard.sh not found"},
		"gone": {"#!/bin/sh\n", hookenv.Config{}, func(p *Program) { os.Remove(p.config.Path) }, protocol.FailGone,
			"no such file: /p/.acai/hooks/guard.sh"},
		"folder gone": {"#!/bin/sh\n", hookenv.Config{}, func(p *Program) { os.Remove(p.config.Dir) }, protocol.FailSpawn,
			"working directory missing: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, q := processHook(t, rt, test.script, test.env)
			if test.change != nil {
				test.change(p)
			}
			a := p.Ask(t.Context(), q)
			if a.Failure == nil || a.Failure.Kind != test.kind || !strings.Contains(a.Failure.Detail, test.detail) {
				t.Errorf("%+v, %+v; stderr %s", a.Failure, a.Reply, a.Stderr)
			}
		})
	}
	t.Run("hooks.path helps", func(t *testing.T) {
		tools := t.TempDir()
		if err := os.Symlink("/bin/sh", filepath.Join(tools, "python3")); err != nil {
			t.Fatal(err)
		}
		noPath.Path = []string{tools}
		p, q := processHook(t, rt, "#!/usr/bin/env python3\nexit 0\n", noPath)
		if a := p.Ask(t.Context(), q); a.Failure != nil {
			t.Errorf("%+v", a.Failure)
		}
	})
}

// TestProcessSees: the environment, folder and descriptors that a hook has.
func TestProcessSees(t *testing.T) {
	rt := scriptRuntime(t)
	script := `#!/bin/sh
{ echo "$0" "$1"; pwd; env | grep -E '^(HOOK_|FAKE|GIT_)' | sort; cat; echo "$TRACEPARENT" | cut -c1-3; } >&2
`
	t.Setenv("FAKE_API_KEY", "canary")
	t.Setenv("GIT_DIR", "/a/.git")
	p, q := processHook(t, rt, script, hookenv.Config{Project: "/p"})
	want := fmt.Sprintf(`%s one
%s
HOOK_ACTION=execute
HOOK_DEPTH=1
HOOK_EVENT=tool-call-start
HOOK_FILE=/p/.acai/hooks/guard.sh
HOOK_PROJECT_DIR=/p
HOOK_SESSION_ID=s1
{"event":"tool-call-start"}
00-
`, p.config.Path, p.config.Dir)
	if diff := cmp.Diff(want, p.Ask(t.Context(), q).Stderr); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, id := range []string{"", strings.Repeat("x", 1<<20), "a\x00b"} {
		q.Event.Session.ID = id
		if a := p.Ask(t.Context(), q); a.Failure != nil || strings.Contains(a.Stderr, "HOOK_SESSION_ID") {
			t.Errorf("session %.10q: %+v, %s", id, a.Failure, a.Stderr)
		}
	}
}

// TestProcessKey: command hooks that share one program do not wait for each
// other's overdue trees; a hook waits for its own only.
func TestProcessKey(t *testing.T) {
	rt := scriptRuntime(t)
	p, q := processHook(t, rt, "#!/bin/sh\ntrap '' TERM\ncase $HOOK_EVENT in step-start) sleep 62;; esac\n", hookenv.Config{})
	q.Grace = time.Second
	event := *q.Event
	event.Event = protocol.StepStart
	stuck := *q
	stuck.Event, stuck.Spec = &event, protocol.Lookup(protocol.StepStart)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, overTime)
	defer cancel()
	if a := p.Ask(ctx, &stuck); a.Failure == nil || a.Failure.Kind != protocol.FailTimeout {
		t.Fatalf("the stuck run came to %+v", a.ReadResult)
	}
	other := *q
	hook := *q.Hook
	hook.Name = "other"
	other.Hook = &hook
	if a := p.Ask(t.Context(), &other); a.Failure != nil || a.Took > 600*time.Millisecond {
		t.Errorf("another hook of the same program: %v after %s", a.Failure, a.Took)
	}
	if a := p.Ask(t.Context(), q); a.Failure != nil || a.Took < 300*time.Millisecond {
		t.Errorf("the same hook did not wait for its old tree: %v after %s", a.Failure, a.Took)
	}
}

// BenchmarkFireProcess is a program with nothing to say and everything that is on
// by default, with events of several sizes.
func BenchmarkFireProcess(b *testing.B) {
	rt, err := process.New(process.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer rt.Close()
	for _, size := range []int{1 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%d KiB", size>>10), func(b *testing.B) {
			h := executor.HookOf(goHook("a", protocol.CanBlock))
			h.Asker = New(rt, Config{Path: "/bin/true", Dir: "/", Env: hookenv.ForHook(hookenv.Config{Environ: os.Environ()}, hookenv.Execute, "/bin/true")})
			set, _ := executor.NewSet(executor.Set{Hooks: []*executor.Hook{h}})
			e := executor.New(set, executor.Options{StateDir: b.TempDir()})
			defer e.Close(context.Background())
			ev := toolEvent("")
			ev.Data = []byte(`{"toolCallId":"c","name":"bash","kind":"shell","args":{"command":"` + strings.Repeat("x", size) + `"}}`)
			b.ReportAllocs()
			for b.Loop() {
				if o, err := e.Fire(context.Background(), ev); err != nil || o.Refused() {
					b.Fatal(o, err)
				}
			}
		})
	}
}
