//go:build unix

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The edge cases that seed document 001 lists under "Edge Cases & Error
// Handling", word for word what happens, each line twice: under 001's own rule
// (onFailure=continue) and for a guard (onFailure=block).
func TestSeedEdgeCases(t *testing.T) {
	const header = "#!/bin/sh\n# hook: events=prompt-submit can=CLASS onFailure=RULE timeout=700ms\n"
	type want struct {
		action  string // of the outcome
		failure string // of the hook "h", "" if none
		prompt  string // the final prompt
	}
	passes := func(failure string) want { return want{"observe", failure, "hello"} }
	refuses := func(failure string) want { return want{"block", failure, "hello"} }
	for _, test := range []struct {
		line     string
		files    map[string]string // below the user's .acai/hooks; "" removes the folder
		settings string
		open     want // onFailure=continue
		guard    want // onFailure=block
	}{
		{
			line:  "Hook Timeout",
			files: map[string]string{"h": header + "sleep 30"},
			open:  passes("timeout"), guard: refuses("timeout"),
		}, {
			line:  "Hook Error",
			files: map[string]string{"h": header + "echo broken >&2; exit 1"},
			open:  passes("exit"), guard: refuses("exit"),
		}, {
			line:  "Hook Returns Invalid JSON",
			files: map[string]string{"h": header + `echo '{"action": block}'`},
			open:  passes("reply"), guard: refuses("reply"),
		}, {
			line:  "Hook Returns Invalid Action",
			files: map[string]string{"h": header + `echo '{"action":"explode"}'`},
			open:  passes("reply"), guard: refuses("reply"),
		}, {
			line: "Multiple Hooks for Same Event",
			files: map[string]string{
				"1-first": header + "exit 0",
				"h":       header + `echo '{"action":"block","reason":"second says no"}'`,
				"z-third": header + `touch "$HOOK_PROJECT_DIR/third-ran"`,
			},
			open: refuses(""), guard: refuses(""),
		}, {
			line:  "Hook Blocks Event",
			files: map[string]string{"h": header + `echo '{"action":"block","reason":"no"}'`},
			open:  refuses(""), guard: refuses(""),
		}, {
			line:  "Hook Modifies Event",
			files: map[string]string{"h": strings.Replace(header, "CLASS", "modify", 1) + `echo '{"action":"modify","changes":{"prompt":"changed"}}'`},
			open:  want{"modify", "", "changed"}, guard: want{"modify", "", "changed"},
		}, {
			line:     "Hook Not Found",
			settings: `{"hooks":{"use":[{"name":"h","command":["/no/such/hook"],"events":["prompt-submit"],"can":"CLASS","onFailure":"RULE"}]}}`,
			open:     passes("spawn"), guard: refuses("spawn"),
		}, {
			line:  "Hook Metadata Invalid",
			files: map[string]string{"h": "#!/bin/sh\n# hook: events=prompt-submit can=CLASS onFailure=RULE timeout=never\n"},
			open:  passes("settings"), guard: refuses("settings"),
		}, {
			line: "Hook Directory Missing",
			open: passes(""), guard: passes(""),
		}, {
			line:  "Hook Process Spawn Fails",
			files: map[string]string{"h": strings.Replace(header, "#!/bin/sh", "#!/no/such/program", 1)},
			open:  passes("spawn"), guard: refuses("spawn"),
		}, {
			line:     "Hook Exceeds Max Hooks",
			settings: `{"hooks":{"maxHooks":2}}`,
			files: map[string]string{
				"1-a": header + "exit 0", "2-b": header + "exit 0",
				"3-c": header + `touch "$HOOK_PROJECT_DIR/third-ran"`,
			},
			// Only the first N load; a guard among the rest is not merely absent.
			open: passes(""), guard: refuses(""),
		},
	} {
		for _, rule := range []string{"continue", "block"} {
			t.Run(strings.ReplaceAll(test.line, " ", "-")+"/"+rule, func(t *testing.T) {
				t.Parallel()
				b := newBox(t)
				fill := strings.NewReplacer("CLASS", "block", "RULE", rule)
				hooks := filepath.Join(b.home, ".acai", "hooks")
				if test.files == nil && os.Remove(hooks) != nil {
					t.Fatal("cannot remove the hooks folder")
				}
				for name, text := range test.files {
					if err := os.WriteFile(filepath.Join(hooks, name), []byte(fill.Replace(text)), 0o755); err != nil {
						t.Fatal(err)
					}
				}
				if test.settings != "" {
					if err := os.WriteFile(filepath.Join(b.home, ".acai", "acai.json"), []byte(fill.Replace(test.settings)), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want := test.open
				if rule == "block" {
					want = test.guard
				}
				o, exit := b.fireEvent(t, "prompt-submit", `{"prompt":"hello","source":"user","attachments":[]}`)
				got := want
				got.action, got.failure = o.Action, ""
				if r := o.run("h"); r != nil && r.Failure != nil {
					got.failure = *r.Failure
				}
				if !strings.Contains(string(o.Event), fmt.Sprintf(`"prompt":%q`, want.prompt)) {
					got.prompt = string(o.Event)
				}
				if got != want {
					t.Errorf("got %+v, want %+v; reason %q, runs %+v", got, want, o.Reason, o.Runs)
				}
				if refused := want.action == "block"; (exit == 2) != refused {
					t.Errorf("exit code %d", exit)
				}
				if _, err := os.Stat(filepath.Join(b.project, "third-ran")); err == nil {
					t.Error("the third hook ran")
				}
				if left := aliveAfter(b.folder, time.Second); len(left) > 0 {
					t.Errorf("still alive: %s", strings.Join(left, "; "))
				}
			})
		}
	}
}

// The one line of the list that needs a hand: the user aborts while a hook runs.
func TestSeedAbortDuringHook(t *testing.T) {
	for _, rule := range []string{"continue", "block"} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.install(t, "h", hookFile{body: "#!/bin/sh\nHEADER\ntouch \"$HOOK_PROJECT_DIR/started\"\nsleep 30\n"}, rule)
			path := filepath.Join(b.home, ".acai", "hooks", "h")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			long := strings.Replace(string(text), "timeout="+limit.String(), "timeout=60s", 1)
			if err := os.WriteFile(path, []byte(long), 0o755); err != nil {
				t.Fatal(err)
			}
			c := b.command("fire", "tool-call-start")
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			for !exists(filepath.Join(b.project, "started")) {
				time.Sleep(5 * time.Millisecond)
			}
			began := time.Now()
			if err := c.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			c.Wait()
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("ended %v after the signal", took)
			}
			if code := c.ProcessState.ExitCode(); code != 130 {
				t.Errorf("exit code %d, want 130", code)
			}
			if left := aliveAfter(b.folder, time.Second); len(left) > 0 {
				t.Errorf("still alive: %s", strings.Join(left, "; "))
			}
		})
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
