//go:build unix

package loader

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
)

func TestAllowedHookRuns(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", blocks)
	if got := status(w.load(), "guard.sh"); got != "untrusted!untrusted" {
		t.Fatalf("before it is allowed: %s", got)
	}
	w.allow()
	s := w.load()
	if got := status(s, "guard.sh"); got != "ready" {
		t.Fatalf("after: %s %s %v", got, find(s, "guard.sh").Why, s.Findings)
	}
	outcome := w.fire(s.Set)
	if outcome.Action != protocol.Block || outcome.Failure != "" || outcome.Reason != "no" {
		t.Errorf("outcome %s %s %q", outcome.Action, outcome.Failure, outcome.Reason)
	}
	if h := find(s, "guard.sh"); h.InPlace || files.Within(w.project, h.Runs) {
		t.Errorf("%s runs, not the private copy", h.Runs)
	}
}

// H04, H05: a folder below the project, blanks and other letters in the path;
// the hook runs in the project's root, $0 is absolute and HOOK_FILE its own
// file.
func TestWhereHooksRun(t *testing.T) {
	w := worldAt(t, filepath.Join(t.TempDir(), "my proj (été)'$x"))
	out := filepath.Join(t.TempDir(), "out")
	w.hook("a b.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block\n"+
		`printf '%s\n%s\n%s\n%s\n' "$PWD" "$0" "$HOOK_FILE" "$HOOK_PROJECT_DIR" >'`+out+"'\n")
	deep := w.path("a", "b")
	os.MkdirAll(deep, 0o755)
	w.allow()
	opts := w.options()
	opts.Project, opts.Cwd = "", deep
	s, err := Load(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if s.Project != w.project {
		t.Fatalf("project %q, want %q", s.Project, w.project)
	}
	begin := time.Now()
	if outcome := w.fire(s.Set); outcome.Action != protocol.Observe {
		t.Fatalf("outcome %s: %s", outcome.Action, outcome.Reason)
	}
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("took %s", took)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{w.project, find(s, "a b.sh").Runs, w.hookPath("a b.sh"), w.project, ""}, "\n")
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if copied := find(s, "a b.sh").Runs; !filepath.IsAbs(copied) || filepath.Base(copied) != "a b.sh" {
		t.Errorf("the copy is %s", copied)
	}
}

// H38, H41: what is in a hooks folder and is no hook, or none that can run.
func TestDiscovery(t *testing.T) {
	guard := "# hook: events=tool-call-start can=block\n"
	tests := []struct {
		name  string
		make  func(w *world, dir string)
		want  string // status of the hook named x
		saw   string // part of the remedy or of why
		other string // a name that must not be a hook
	}{
		{"a script", func(w *world, dir string) { w.userHook("x", "#!/bin/sh\n"+guard) }, "ready", "", ""},
		{"a link to a script", func(w *world, dir string) {
			w.write(filepath.Join(w.home, "target"), "#!/bin/sh\n"+guard, 0o755)
			os.Symlink(filepath.Join(w.home, "target"), filepath.Join(dir, "x"))
		}, "ready", "", ""},
		{"a chain of links", func(w *world, dir string) {
			w.write(filepath.Join(w.home, "target"), "#!/bin/sh\n"+guard, 0o755)
			os.Symlink("target", filepath.Join(w.home, "middle"))
			os.Symlink("../../middle", filepath.Join(dir, "x"))
		}, "ready", "", ""},
		{"not executable", func(w *world, dir string) { w.write(filepath.Join(dir, "x"), "#!/bin/sh\n"+guard, 0o644) }, "broken!spawn", "chmod +x", ""},
		{"no interpreter line", func(w *world, dir string) { w.userHook("x", guard) }, "broken!spawn", "#!/bin/sh", ""},
		{"empty", func(w *world, dir string) {
			w.userHook("x", "")
			w.userSettings(`{"hooks":{"use":[{"name":"x","events":["tool-call-start"],"can":"block"}]}}`)
		}, "broken!spawn", "empty", ""},
		{"empty and unknown", func(w *world, dir string) { w.userHook("x", "") }, "rejected", "", ""},
		{"CRLF", func(w *world, dir string) { w.userHook("x", "#!/bin/sh\r\n"+guard) }, "broken!spawn", "LF line ends", ""},
		{"byte order mark", func(w *world, dir string) { w.userHook("x", "\ufeff#!/bin/sh\n"+guard) }, "broken!spawn", "without BOM", ""},
		{"missing interpreter", func(w *world, dir string) { w.userHook("x", "#!/no/such/sh\n"+guard) }, "broken!spawn", "/no/such/sh", ""},
		{"interpreter not on PATH", func(w *world, dir string) { w.userHook("x", "#!/usr/bin/env no-such-program\n"+guard) }, "broken!spawn", "hooks.path", ""},
		{"relative interpreter", func(w *world, dir string) { w.userHook("x", "#!sh\n"+guard) }, "broken!spawn", "absolute", ""},
		{"env with two words", func(w *world, dir string) { w.userHook("x", "#!/usr/bin/env sh -e\n"+guard) }, "broken!spawn", "env -S", ""},
		{"env -S", func(w *world, dir string) { w.userHook("x", "#!/usr/bin/env -S A=b sh -e\n"+guard) }, "ready", "", ""},
		{"setuid", func(w *world, dir string) {
			w.userHook("x", "#!/bin/sh\n"+guard)
			os.Chmod(filepath.Join(dir, "x"), 0o755|os.ModeSetuid)
		}, "broken!spawn", "setuid", ""},
		{"writable by others", func(w *world, dir string) {
			w.userHook("x", "#!/bin/sh\n"+guard)
			os.Chmod(filepath.Join(dir, "x"), 0o777)
		}, "broken!spawn", "writable by others", ""},
		{"folder writable by others", func(w *world, dir string) {
			w.userHook("x", "#!/bin/sh\n"+guard)
			os.Chmod(dir, 0o777)
		}, "broken!spawn", "writable by others", ""},
		{"a FIFO", func(w *world, dir string) {
			syscall.Mkfifo(filepath.Join(dir, "x"), 0o755)
			w.userSettings(`{"hooks":{"use":[{"name":"x","events":["tool-call-start"],"can":"block"}]}}`)
		}, "broken!spawn", "FIFO", ""},
		{"a link to nothing", func(w *world, dir string) {
			os.Symlink("nowhere", filepath.Join(dir, "x"))
			w.userSettings(`{"hooks":{"use":[{"name":"x","events":["tool-call-start"],"can":"block"}]}}`)
		}, "broken!spawn", "leads to nothing", ""},
		{"a folder", func(w *world, dir string) { os.MkdirAll(filepath.Join(dir, "x"), 0o755) }, "", "", ""},
		{"a link to a folder", func(w *world, dir string) { os.Symlink("/", filepath.Join(dir, "x")) }, "", "", ""},
		{"unknown key", func(w *world, dir string) {
			w.userHook("x", "#!/bin/sh\n# hook: events=tool-call-start can=block tymeout=5s\n")
		}, "rejected!settings", "timeout", ""},
		{"repeated key", func(w *world, dir string) {
			w.userHook("x", "#!/bin/sh\n# hook: events=tool-call-start can=block\n# hook: can=observe\n")
		}, "rejected!settings", "", ""},
		{"prose", func(w *world, dir string) { w.userHook("x", "#!/bin/sh\n# hook: this runs at start\n") }, "rejected", "pairs", ""},
		{"an observer with a typing error", func(w *world, dir string) {
			w.userHook("x", "#!/bin/sh\n# hook: events=tool-call-start can=observe tymeout=5s\n")
		}, "rejected", "timeout", ""},
		{"entry without a file", func(w *world, dir string) {
			w.userSettings(`{"hooks":{"use":[{"name":"x","events":["tool-call-start"],"can":"block"}]}}`)
		}, "broken!gone", "there is no such file", ""},
		{"side file", func(w *world, dir string) {
			w.userHook("x", "#!/bin/sh\n")
			w.write(filepath.Join(dir, "x.hook.yaml"), "events: [tool-call-start]\ncan: block\n", 0o644)
		}, "ready", "", "x.hook.yaml"},
		{"two side files", func(w *world, dir string) {
			w.userHook("x", "#!/bin/sh\n")
			w.write(filepath.Join(dir, "x.hook.yaml"), "events: [tool-call-start]\ncan: block\n", 0o644)
			w.write(filepath.Join(dir, "x.hook.json"), `{"events":["tool-call-start"],"can":"block"}`, 0o644)
		}, "rejected!settings", "keep one", ""},
		{"broken side file", func(w *world, dir string) {
			w.userHook("x", "#!/bin/sh\n# hook: events=tool-call-start\n")
			w.write(filepath.Join(dir, "x.hook.json"), `{"events":`, 0o644)
		}, "rejected!settings", "correct or remove it", ""},
		{"command", func(w *world, dir string) {
			w.userSettings(`{"hooks":{"use":[{"name":"x","command":["sh","-c","exit 0"],"events":["tool-call-start"],"can":"block"}]}}`)
		}, "ready", "", ""},
		{"command that is missing", func(w *world, dir string) {
			w.userSettings(`{"hooks":{"use":[{"name":"x","command":["no-such-program"],"events":["tool-call-start"],"can":"block"}]}}`)
		}, "broken!spawn", "hooks.path", ""},
		{"a user's command inside the project", func(w *world, dir string) {
			w.write(w.path("tool"), "#!/bin/sh\n", 0o755)
			w.userSettings(`{"hooks":{"use":[{"name":"x","command":["./tool"],"events":["tool-call-start"],"can":"block"}]}}`)
		}, "broken!spawn", "project", ""},
		{"switched off", func(w *world, dir string) {
			w.userHook("x", "#!/bin/sh\n"+guard)
			w.userSettings(`{"hooks":{"use":[{"name":"x","enabled":false}]}}`)
		}, "disabled", "switches it off", ""},
		{"discovery off", func(w *world, dir string) {
			w.userHook("x", "#!/bin/sh\n"+guard)
			w.userHook("y", "#!/bin/sh\n"+guard)
			w.userSettings(`{"hooks":{"discover":false,"use":[{"name":"x"}]}}`)
		}, "ready", "", "y"},
		{"newer protocol", func(w *world, dir string) {
			w.userHook("x", "#!/bin/sh\n# hook: events=tool-call-start can=block protocol=2\n")
		}, "rejected!settings", "", ""},
		{"bad matcher", func(w *world, dir string) {
			w.userHook("x", "#!/bin/sh\n# hook: events=tool-call-start can=block match.tool=/(/\n")
		}, "rejected!settings", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			dir := filepath.Join(w.home, ".acai", "hooks")
			os.MkdirAll(dir, 0o755)
			test.make(w, dir)
			begin := time.Now()
			s := w.load()
			if took := time.Since(begin); took > time.Second {
				t.Errorf("took %s", took)
			}
			if got := status(s, "x"); got != test.want {
				t.Errorf("status %q, want %q; findings %v", got, test.want, s.Findings)
			}
			if test.want != "ready" && test.want != "" && test.want != "disabled" && len(s.Findings) == 0 {
				t.Error("nothing is reported")
			}
			if !said(s, test.saw) {
				t.Errorf("nobody says %q: %v", test.saw, s.Findings)
			}
			if test.other != "" && find(s, test.other) != nil {
				t.Errorf("%s is a hook", test.other)
			}
			if strings.Contains(test.want, "!") {
				if outcome := w.fire(s.Set); outcome.Action != protocol.Block || outcome.Failure == "" {
					t.Errorf("outcome %s %q", outcome.Action, outcome.Failure)
				}
			}
		})
	}
}

// said reports whether a finding or a hook's why has the words.
func said(s *Snapshot, words string) bool {
	for _, f := range s.Findings {
		if strings.Contains(f.Message, words) || strings.Contains(f.Remedy, words) {
			return true
		}
	}
	for _, h := range s.Hooks {
		if strings.Contains(h.Why, words) {
			return true
		}
	}
	return words == ""
}

// H41: leftovers of editors are no hooks.
func TestLeftovers(t *testing.T) {
	w := newWorld(t)
	w.userHook("a.sh", blocks)
	for _, name := range []string{"a.sh~", ".a.sh.swp", "#a.sh#", "a.sh.bak", "4913", ".DS_Store", "README.md"} {
		w.userHook(name, blocks)
	}
	os.Mkdir(filepath.Join(w.home, ".acai", "hooks", "lib"), 0o755)
	s := w.load()
	if got := names(s.Set); got != "a.sh" || len(s.Hooks) != 1 {
		t.Errorf("hooks %q, %d in all", got, len(s.Hooks))
	}
}

// H40: the order is that of names, not of the file system.
func TestOrder(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.home, ".acai", "hooks")
	for _, name := range []string{"20-b", "10-a", "9-c", "100-d"} {
		w.userHook(name, blocks)
	}
	os.Remove(filepath.Join(dir, "10-a"))
	w.load()
	w.userHook("10-a", blocks)
	for range 2 {
		if got := names(w.load().Set); got != "9-c 10-a 20-b 100-d" {
			t.Errorf("order %q", got)
		}
	}
}

// H01: one bad entry leaves the others alone.
func TestOneBadEntry(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"1", "2", "3"} {
		w.userHook("h"+name, "#!/bin/sh\n# hook: events=session-end can=observe\n")
	}
	w.userSettings(`{"hooks":{"use":[{"name":"h1","priority":1},{"name":"h2","timeout":"soon"},{"name":"h3","priority":1}]}}`)
	s := w.load()
	if got := status(s, "h1") + " " + status(s, "h2") + " " + status(s, "h3"); got != "ready rejected ready" {
		t.Errorf("statuses %s", got)
	}
}

func TestMaxHooks(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"3", "1", "2"} {
		w.userHook("o"+name, "#!/bin/sh\n# hook: events=session-end can=observe\n")
	}
	w.userHook("z", blocks) // runs before observers, so it counts first
	w.userSettings(`{"hooks":{"maxHooks":2}}`)
	s := w.load()
	if got := names(s.Set); got != "z o1" {
		t.Errorf("loaded %q", got)
	}
	if !hasFinding(s.Findings, report.TooMany, "o3") || !hasFinding(s.Findings, report.TooMany, "o2") {
		t.Errorf("findings %v", s.Findings)
	}
}

func TestRequiredNames(t *testing.T) {
	w := newWorld(t)
	w.userHook("here", "#!/bin/sh\n# hook: events=tool-call-start\n")
	w.userSettings(`{"hooks":{"required":["here","missing.sh"]}}`)
	s := w.load()
	if h := find(s, "here"); !h.Required || h.OnFailure != protocol.RuleBlock || h.Status != executor.Ready {
		t.Errorf("here: %+v", h.Hook)
	}
	if got := status(s, "missing.sh"); got != "gone!gone" {
		t.Errorf("missing.sh: %s", got)
	}
	if outcome := w.fire(s.Set); outcome.Action != protocol.Block || outcome.Failure != protocol.FailGone {
		t.Errorf("outcome %s %s", outcome.Action, outcome.Failure)
	}
	w.userSettings(`{"hooks":{"required":["here"],"use":[{"name":"here","enabled":false}]}}`)
	if outcome := w.fire(w.load().Set); outcome.Action != protocol.Block {
		t.Errorf("a required hook was switched off: %s", outcome.Action)
	}
}

// No layer reaches a hook of a higher one.
func TestProjectDoesNotReachHigherHooks(t *testing.T) {
	w := newWorld(t)
	w.userHook("guard.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block onFailure=continue\n")
	before := find(w.load(), "guard.sh").Hook.Hook
	w.settings(`{"hooks":{"timeout":"10ms","onFailure":"stop","env":["X"],"enabled":false,"use":[{"name":"guard.sh","can":"observe","enabled":false}]}}`)
	s := w.load()
	var after *Info
	for i := range s.Hooks {
		if s.Hooks[i].Layer == protocol.User {
			after = &s.Hooks[i]
		}
	}
	if diff := cmp.Diff(before, after.Hook.Hook); diff != "" || after.Status != executor.Ready {
		t.Errorf("(-before +after) %s:\n%s", after.Status, diff)
	}
}

func TestManagedLayer(t *testing.T) {
	hook := "#!/bin/sh\n# hook: events=tool-call-start can=block\necho '{\"action\":\"block\",\"reason\":\"policy\"}'\n"
	tests := []struct {
		name   string
		make   func(w *world)
		reason string
		refuse bool
	}{
		{"as it should be", func(w *world) {}, "policy", false},
		{"a hook writable by others", func(w *world) { os.Chmod(filepath.Join(w.managed, "hooks", "m.sh"), 0o757) }, "", true},
		{"the folder writable by the group", func(w *world) { os.Chmod(w.managed, 0o775) }, "", true},
		{"the folder above writable", func(w *world) { os.Chmod(filepath.Dir(w.managed), 0o777) }, "", true},
		{"settings writable by others", func(w *world) { w.write(filepath.Join(w.managed, "acai.json"), "{}", 0o646) }, "", true},
		{"settings that cannot be read", func(w *world) { w.write(filepath.Join(w.managed, "acai.json"), "{", 0o644) }, "", true},
		{"another owner", func(w *world) { os.Chown(filepath.Join(w.managed, "hooks"), 12345, 0) }, "", true},
		{"the folder is a link", func(w *world) {
			os.Rename(w.managed, w.managed+"2")
			os.Symlink(w.managed+"2", w.managed)
		}, "", true},
		{"a lower layer allows less", func(w *world) {
			w.userSettings(`{"hooks":{"enabled":false,"allow":["user"],"maxHooks":1,"use":[{"name":"m.sh","enabled":false}]}}`)
		}, "policy", false},
		{"only managed hooks", func(w *world) {
			w.write(filepath.Join(w.managed, "acai.json"), `{"hooks":{"allow":["managed"]}}`, 0o644)
			w.userHook("u.sh", strings.ReplaceAll(hook, "policy", "user"))
		}, "policy", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.name == "another owner" && os.Geteuid() != 0 {
				t.Skip("only root may give a file to another user; CI runs this as root")
			}
			w := newWorld(t)
			w.write(filepath.Join(w.managed, "hooks", "m.sh"), hook, 0o755)
			test.make(w)
			opts := w.options()
			opts.Without = []string{"m.sh"}
			s, err := Load(context.Background(), opts)
			if err != nil {
				t.Fatal(err)
			}
			outcome := w.fire(s.Set)
			if outcome.Action != protocol.Block {
				t.Fatalf("outcome %s", outcome.Action)
			}
			if (outcome.Failure == protocol.FailSettings) != test.refuse || !test.refuse && outcome.Reason != test.reason {
				t.Errorf("failure %q reason %q; findings %v", outcome.Failure, outcome.Reason, s.Findings)
			}
		})
	}
}

func TestTrustSomeWay(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", blocks)
	hash := w.plan().Items[0].Now.Hash
	project := w.plan().Hash
	for _, settings := range []string{
		`{"hooks":{"trust":{"always":["` + filepath.Dir(w.project) + `"]}}}`,
		`{"hooks":{"trust":{"hashes":["` + hash + `"]}}}`,
		`{"hooks":{"trust":{"hashes":["` + project + `"]}}}`,
	} {
		w.userSettings(settings)
		s := w.load()
		if got := status(s, "guard.sh"); got != "ready" {
			t.Errorf("%s: %s", settings, got)
		}
		if inPlace := strings.Contains(settings, "always"); find(s, "guard.sh").InPlace != inPlace {
			t.Errorf("%s: in place %v", settings, !inPlace)
		}
		if outcome := w.fire(s.Set); outcome.Reason != "no" {
			t.Errorf("%s: reason %q", settings, outcome.Reason)
		}
	}
	// A prefix counts by whole components.
	w.userSettings(`{"hooks":{"trust":{"always":["` + w.project[:len(w.project)-2] + `"]}}}`)
	if got := status(w.load(), "guard.sh"); got != "untrusted!untrusted" {
		t.Errorf("half a name: %s", got)
	}
	// A project cannot say so itself.
	w.userSettings(`{}`)
	w.settings(`{"hooks":{"trust":{"always":["/"],"hashes":["` + hash + `"]},"allow":["project"]}}`)
	if got := status(w.load(), "guard.sh"); got != "untrusted!untrusted" {
		t.Errorf("the project trusts itself: %s", got)
	}
}

func TestAllowByHashOnly(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", blocks)
	w.hook("other.sh", blocks+"# other\n")
	hash := ""
	for _, item := range w.plan().Items {
		if item.Hook == "guard.sh" {
			hash = item.Now.Hash
		}
	}
	w.allow()
	w.write(filepath.Join(w.managed, "acai.json"), `{"hooks":{"allow":["managed","hashes"],"trust":{"hashes":["`+hash+`"]}}}`, 0o644)
	s := w.load()
	if got := status(s, "guard.sh") + " " + status(s, "other.sh"); got != "ready disabled" {
		t.Errorf("statuses %s", got)
	}
}

// What a project writes, trusted or not, takes no time from the hooks of the
// layers above it: a guard that is let pass at its limit would be switched off.
func TestBudgetOfAProjectDoesNotReachHigherLayers(t *testing.T) {
	const slow = "#!/bin/sh\n# hook: events=tool-call-start can=block onFailure=continue\nsleep 0.3\n" + `echo '{"action":"block","reason":"ours"}'` + "\n"
	for layer, write := range map[protocol.Layer]func(w *world){
		protocol.User: func(w *world) { w.userHook("u.sh", slow) },
		protocol.Managed: func(w *world) {
			w.write(filepath.Join(w.managed, "hooks", "m.sh"), slow, 0o755)
			w.userSettings(`{"hooks":{"budget":"100ms"}}`)
		},
	} {
		w := newWorld(t)
		write(w)
		w.settings(`{"hooks":{"budget":"100ms"}}`)
		if outcome := w.fire(w.load().Set); outcome.Reason != "ours" {
			t.Errorf("%s: reason %q %v", layer, outcome.Reason, outcome.Runs)
		}
	}
}

// A hook of the machine is started by, and finds, nothing that the user who runs
// hookd could have put in the way.
func TestManagedHooksFindNothingOfTheUser(t *testing.T) {
	const says = `{ grep -q . && echo '{"action":"block","reason":"ours"}'; } 2>/dev/null` + "\n"
	const header = "# hook: events=tool-call-start can=block\n"
	for name, tc := range map[string]struct{ planted, hook string }{
		"a program it calls":         {"grep", "#!/bin/sh\n" + header + says},
		"its interpreter":            {"bash", "#!/usr/bin/env bash\n" + header + says},
		"its interpreter, by a path": {"sh", "#!PLANTED\n" + header + says},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			theirs := filepath.Join(filepath.Dir(w.managed), "bin")
			w.write(filepath.Join(theirs, tc.planted), "#!/bin/sh\nexit 0\n", 0o755)
			os.Chmod(theirs, 0o777) // not root's alone
			t.Setenv("PATH", theirs+":"+os.Getenv("PATH"))
			w.write(filepath.Join(w.managed, "hooks", "m.sh"), strings.Replace(tc.hook, "PLANTED", filepath.Join(theirs, tc.planted), 1), 0o755)
			outcome := w.fire(w.load().Set)
			if outcome.Action != protocol.Block {
				t.Errorf("the event passes: %v", outcome.Runs)
			}
		})
	}
}
