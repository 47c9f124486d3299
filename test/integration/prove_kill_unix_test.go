//go:build unix

package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/test/prove"
)

// G16 with the real daemon: it is killed at a random moment under load, and
// every event that it had answered is in the record.
func TestKilledDaemonHasRecorded(t *testing.T) {
	var told atomic.Int64
	rounds := prove.Size(8, 300)
	t.Cleanup(func() {
		prove.Figure(t, "G16", "%d × kill -9 of `hookd serve`: %d events answered, 0 without a record", rounds, told.Load())
	})
	for i := range rounds {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.script(t, "quick.sh", promptHook+"cat >/dev/null\n")
			k := serve(t, b)
			go func() {
				for id := 1000; ; id++ {
					if _, err := fmt.Fprintf(k.in, `{"jsonrpc":"2.0","id":%d,"method":"event/fire","params":%s}`+"\n", id, k.event("go")); err != nil {
						return
					}
				}
			}()
			answered := answeredEvents(k.out, 1+rand.IntN(40), func() { k.cmd.Process.Kill() })
			k.cmd.Wait()
			recorded := map[string]bool{}
			for line, problem := range record.Read(filepath.Join(b.folder, "state", "hookd", "records"), "s1") {
				if problem != nil && !problem.Crash {
					t.Error(problem)
				}
				var e record.Event
				if line.Kind == record.KindEvent && line.Decode(&e) == nil {
					recorded[e.ID] = true
				}
			}
			for _, id := range answered {
				if !recorded[id] {
					t.Errorf("event %s was answered and is not recorded", id)
				}
			}
			told.Add(int64(len(answered)))
			if left := aliveAfter(b.folder, 2*time.Second); len(left) > 0 {
				t.Errorf("still alive: %s", strings.Join(left, "; "))
			}
		})
	}
}

// answeredEvents reads answers until the daemon is dead, which is killed after n
// of them, and returns the ids of the events they are about.
func answeredEvents(out *bufio.Reader, n int, kill func()) (ids []string) {
	for {
		line, err := out.ReadBytes('\n')
		if err != nil {
			return ids
		}
		var m struct {
			Result struct{ Event struct{ ID string } }
		}
		if json.Unmarshal(line, &m) == nil && m.Result.Event.ID != "" {
			if ids = append(ids, m.Result.Event.ID); len(ids) == n {
				kill()
			}
		}
	}
}

// G17 with the real program: what a killed `serve` or `run` had started is dead
// within a second, by the guardian, and what a killed `fire` had started itself.
func TestKilledHookdLeavesNoHook(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has the guardian reach other sessions")
	}
	var killed, survivors atomic.Int64
	t.Cleanup(func() {
		prove.Figure(t, "G17", "%d × kill -9 of `hookd serve`, `run` and `fire`: %d survivors after 1 s", killed.Load(), survivors.Load())
	})
	const tree = "trap '' TERM HUP\nsleep 61 & (setsid sleep 62 &)\ntouch \"$HOOK_PROJECT_DIR/started\"\nwhile :; do sleep 0.2; done\n"
	for i := range prove.Size(6, 220) {
		name := []string{"serve", "run", "serve", "run", "fire"}[i%5]
		t.Run(fmt.Sprint(name, i), func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			script := promptHook + tree
			if name == "fire" {
				script = promptHook + "touch \"$HOOK_PROJECT_DIR/started\"\nexec sleep 62\n" // the hook itself is all that is promised
			}
			b.script(t, "slow.sh", script)
			hookd := startBusy(t, b, name)
			for wait := time.Now(); !exists(filepath.Join(b.project, "started")); time.Sleep(5 * time.Millisecond) {
				if time.Since(wait) > 20*time.Second {
					t.Fatal("the hook was not started")
				}
			}
			time.Sleep(time.Duration(rand.Int64N(int64(30 * time.Millisecond))))
			hookd.Process.Kill()
			hookd.Wait()
			killed.Add(1)
			if left := aliveAfter(b.folder, killedBound()); len(left) > 0 {
				survivors.Add(int64(len(left)))
				t.Errorf("still alive: %s", strings.Join(left, "; "))
			}
		})
	}
}

// killedBound is how long what a killed hookd leaves may live.
func killedBound() time.Duration {
	if prove.Full() {
		return time.Second
	}
	return 3 * time.Second
}

// startBusy starts hookd so that it is in the middle of a prompt.
func startBusy(t *testing.T, b *box, command string) *exec.Cmd {
	t.Helper()
	switch command {
	case "serve":
		k := serve(t, b)
		k.send("event/fire", k.event("go"))
		go io.Copy(io.Discard, k.out)
		return k.cmd
	case "run":
		model := filepath.Join(b.project, "model.yaml")
		if err := os.WriteFile(model, []byte("turns:\n  - text: done\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return startIn(t, b.command("run", "--allow", "bash,write,mcp", "go", "--model", "scripted:"+model))
	}
	return startIn(t, b.command("fire", "prompt-submit"))
}

func startIn(t *testing.T, c *exec.Cmd) *exec.Cmd {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return c
}
