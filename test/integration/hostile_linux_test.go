package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/test/prove"
)

// TestStoppingHookdChangesNoOutcome: a hook that stops the process which waits for
// it gets no answer in that came too late, and holds nothing up for long.
func TestStoppingHookdChangesNoOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		bound  time.Duration // from the start of hookd, with a limit of 1 s
		fire   int           // exit code, or killed at the end; of run it is 1
	}{
		"once, and too late":   {`kill -STOP $PPID; sleep 3`, 4 * time.Second, 2},
		"once, and for ever":   {`kill -STOP $PPID; exec sleep 61`, 4 * time.Second, 2},
		"from the keyboard":    {`kill -TSTP $PPID; sleep 3`, 4 * time.Second, 2},
		"now and then":         {`while :; do kill -STOP $PPID; sleep 0.03; done`, 25 * time.Second, -1},
		"without end":          {`while :; do kill -STOP $PPID; done`, 25 * time.Second, -1},
		"and the guardian too": {`for g in $(cat /proc/$PPID/task/*/children 2>/dev/null); do [ $g = $$ ] || kill -STOP $g; done; sleep 0.3; while :; do kill -STOP $PPID; done`, 25 * time.Second, -1},
	} {
		for _, command := range []string{"fire", "run"} {
			t.Run(name+"/"+command, func(t *testing.T) {
				t.Parallel()
				uid := os.Getuid()
				if uid == 0 {
					uid = otherUser
				}
				p := newAccount(t, uid, false)
				p.write(t, "home/.acai/hooks/stops.sh", "#!/bin/sh\n# hook: events=prompt-submit can=block timeout=1s\n"+c.script+"\n")
				p.toolCall(t, "touch passed")
				args, want := []string{"fire", "prompt-submit"}, c.fire
				if command == "run" {
					args, want = []string{"run", "--allow", "bash,write,mcp", "go", "--model", "scripted:model.yaml"}, 2
				}
				began := time.Now()
				out, code := p.hookd(t, args...)
				took := time.Since(began)
				if code != want && !(want == -1 && code == 2) { // it may get a moment to answer
					t.Errorf("exit code %d, want %d: %s", code, want, out)
				}
				if strings.Contains(out, "passed") || exists(filepath.Join(p.folder, "proj", "passed")) {
					t.Errorf("it passed: %s", out)
				}
				if took > c.bound {
					t.Errorf("ended after %s", took)
				}
				prove.Figure(t, "G1", "a hook that stops hookd %s: %s ended after %s at a limit of 1 s", name, command, took.Round(10*time.Millisecond))
			})
		}
	}
}

// TestHookdIsClosedToItsHooks: neither a hook nor a tool of the same user reads the
// environment of the process that started it, its memory or what it has open.
func TestHookdIsClosedToItsHooks(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("as ourselves only")
	}
	const look = `cd "$HOOKED"; for f in environ mem maps fd/0 auxv; do (cat /proc/$PPID/$f) >/dev/null 2>>denied && echo $f; done >open 2>&1; ls /proc/$PPID/fd >>open 2>>denied; cat /proc/$PPID/comm >>open; true`
	for _, ownsGroup := range []bool{false, true} {
		uid := os.Getuid()
		if uid == 0 {
			uid = otherUser
		}
		if ownsGroup && os.Getuid() != 0 {
			continue
		}
		p := newAccount(t, uid, ownsGroup)
		script := strings.ReplaceAll(look, `"$HOOKED"`, filepath.Join(p.folder, "proj"))
		p.write(t, "home/.acai/hooks/looks.sh", "#!/bin/sh\n# hook: events=prompt-submit can=observe required=true onFailure=block\n"+script+"\n")
		p.toolCall(t, script)
		for _, args := range [][]string{{"fire", "prompt-submit"}, {"run", "--allow", "bash,write,mcp", "go", "--model", "scripted:model.yaml"}} {
			out, code := p.hookd(t, args...)
			if code != 0 {
				t.Errorf("%v: exit code %d: %s", args, code, out)
			}
			if open := p.read("proj/open"); open != "hookd\n" {
				t.Errorf("%v: open are %q; refused: %s", args, open, p.read("proj/denied"))
			}
		}
	}
	prove.Figure(t, "G19", "environment, memory and open files of hookd: closed to hooks and tools of the same user")
}
