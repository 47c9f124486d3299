//go:build unix

package loader

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/trust"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/prove"
)

// hostile is one thing that a project, or what runs inside it, does to get its
// own code run or a guard out of the way. It must lead to no execution of
// anything that was not allowed, and to no event that the guard would have
// refused passing.
type hostile struct {
	name string
	do   func(w *world, mark string)
}

const guardName = "guard.sh"

// marks is a script that leaves a mark and says yes, under a guard's header.
func marks(mark string) string { return marker(mark, guardHeader) }

// hostileLayouts are made by combining what is attacked with how. Each way is a
// row; the table is the product.
func hostileLayouts() []hostile {
	var rows []hostile
	add := func(name string, do func(w *world, mark string)) { rows = append(rows, hostile{name, do}) }

	// The guard's own file.
	for name, write := range map[string]func(w *world, path, text string){
		"in place":      func(w *world, path, text string) { w.write(path, text, 0o755) },
		"by rename":     func(w *world, path, text string) { w.write(path+".new", text, 0o755); os.Rename(path+".new", path) },
		"removed first": func(w *world, path, text string) { os.Remove(path); w.write(path, text, 0o755) },
		"by link": func(w *world, path, text string) {
			w.write(w.path("x"), text, 0o755)
			os.Remove(path)
			os.Symlink(w.path("x"), path)
		},
		"by a chain": func(w *world, path, text string) {
			w.write(w.path("x"), text, 0o755)
			os.Symlink("x", w.path("y"))
			os.Remove(path)
			os.Symlink("../../y", path)
		},
		"by hard link": func(w *world, path, text string) {
			w.write(w.path("x"), text, 0o755)
			os.Remove(path)
			os.Link(w.path("x"), path)
		},
		"with old times": func(w *world, path, text string) {
			st, _ := os.Stat(path)
			w.write(path, text, 0o755)
			os.Chtimes(path, st.ModTime(), st.ModTime())
		},
		"folder replaced": func(w *world, path, text string) {
			dir := filepath.Dir(path)
			os.Rename(dir, dir+"2")
			w.write(path, text, 0o755)
		},
		".acai replaced": func(w *world, path, text string) {
			os.Rename(w.path(".acai"), w.path("acai2"))
			w.write(path, text, 0o755)
		},
		".acai is a link": func(w *world, path, text string) {
			w.write(w.path("evil", "hooks", guardName), text, 0o755)
			os.RemoveAll(w.path(".acai"))
			os.Symlink("evil", w.path(".acai"))
		},
		"hooks is a link": func(w *world, path, text string) {
			w.write(w.path("evil", guardName), text, 0o755)
			os.RemoveAll(w.path(".acai", "hooks"))
			os.Symlink("../evil", w.path(".acai", "hooks"))
		},
	} {
		for what, text := range map[string]func(mark string) string{
			"other body":        marks,
			"one byte":          func(string) string { return blocks + "\n" },
			"other class":       func(m string) string { return marker(m, strings.Replace(guardHeader, "can=block", "can=observe", 1)) },
			"no description":    func(m string) string { return marker(m, "#!/bin/sh\n") },
			"other events":      func(m string) string { return marker(m, "#!/bin/sh\n# hook: events=session-end can=block\n") },
			"audit":             func(m string) string { return marker(m, guardHeader+"# hook: mode=audit\n") },
			"other tool":        func(m string) string { return marker(m, strings.Replace(guardHeader, "tool=bash", "tool=none", 1)) },
			"lenient":           func(m string) string { return marker(m, guardHeader+"# hook: onFailure=continue\n") },
			"faulty":            func(m string) string { return marker(m, "#!/bin/sh\n# hook: events=session-end can=block bogus=1\n") },
			"no interpreter":    func(string) string { return "exit 0\n" },
			"empty":             func(string) string { return "" },
			"planted program":   func(m string) string { return marker(m, strings.Replace(guardHeader, "#!/bin/sh", "#!./sh", 1)) },
			"another's dialect": func(m string) string { return marker(m, guardHeader+"# hook: dialect=claude\n") },
		} {
			add("file "+name+", "+what, func(w *world, mark string) { write(w, w.hookPath(guardName), text(mark)) })
		}
	}

	// The guard is no longer there, or no longer what it was.
	path := func(w *world) string { return w.hookPath(guardName) }
	add("deleted", func(w *world, mark string) { os.Remove(path(w)) })
	add("hooks deleted", func(w *world, mark string) { os.RemoveAll(w.path(".acai", "hooks")) })
	add(".acai deleted", func(w *world, mark string) { os.RemoveAll(w.path(".acai")) })
	add("renamed", func(w *world, mark string) { os.Rename(path(w), path(w)+".bak") })
	add("renamed and replaced", func(w *world, mark string) { os.Rename(path(w), path(w)+"2"); w.hook(guardName, marks(mark)) })
	add("not executable", func(w *world, mark string) { os.Chmod(path(w), 0o644) })
	add("setuid", func(w *world, mark string) { os.Chmod(path(w), 0o755|os.ModeSetuid) })
	add("writable by all", func(w *world, mark string) { os.Chmod(path(w), 0o777) })
	add("no mode at all", func(w *world, mark string) { os.Chmod(path(w), 0) })
	add("a FIFO", func(w *world, mark string) { os.Remove(path(w)); syscall.Mkfifo(path(w), 0o755) })
	add("a folder", func(w *world, mark string) { os.Remove(path(w)); os.Mkdir(path(w), 0o755) })
	add("a link to nothing", func(w *world, mark string) { os.Remove(path(w)); os.Symlink("none", path(w)) })
	add("a link to itself", func(w *world, mark string) { os.Remove(path(w)); os.Symlink(guardName, path(w)) })
	add("a link to a device", func(w *world, mark string) { os.Remove(path(w)); os.Symlink("/dev/zero", path(w)) })
	add("another owner", func(w *world, mark string) { os.Chown(path(w), 12345, 12345) })
	add("folder of another owner", func(w *world, mark string) { os.Chown(filepath.Dir(path(w)), 12345, 12345) })
	add("folder writable by all", func(w *world, mark string) { os.Chmod(filepath.Dir(path(w)), 0o777) })
	add("project writable by all", func(w *world, mark string) { os.Chmod(w.project, 0o777) })
	add(".acai is a file", func(w *world, mark string) { os.RemoveAll(w.path(".acai")); w.write(w.path(".acai"), "", 0o644) })
	add("hooks is a file", func(w *world, mark string) {
		os.RemoveAll(w.path(".acai", "hooks"))
		w.write(w.path(".acai", "hooks"), "", 0o644)
	})

	// Settings.
	entry := func(fields string) string { return `{"hooks":{"use":[{"name":"guard.sh",` + fields + `}]}}` }
	for name, text := range map[string]string{
		"re-class":           entry(`"can":"observe"`),
		"re-class to modify": entry(`"can":"modify"`),
		"re-match":           entry(`"match":{"tool":"none"}`),
		"never when":         entry(`"match":{"when":"false"}`),
		"other events":       entry(`"events":["session-end"]`),
		"audit":              entry(`"mode":"audit"`),
		"re-rule":            entry(`"onFailure":"continue"`),
		"shorten":            entry(`"timeout":"10ms","onFailure":"continue"`),
		"disable":            entry(`"enabled":false`),
		"reorder":            entry(`"priority":-1000`),
		"arguments":          entry(`"args":["--off"]`),
		"variables":          entry(`"env":["LD_PRELOAD"]`),
		"in place":           entry(`"inPlace":true`),
		"helpers":            entry(`"files":["**"]`),
		"dialect":            entry(`"dialect":"claude"`),
		"command":            entry(`"command":["true"]`),
		"unknown key":        entry(`"mode":"audit","bogus":1`),
		"bad value":          entry(`"can":"nothing"`),
		"bad name":           `{"hooks":{"use":[{"name":"../hooks/guard.sh","enabled":false}]}}`,
		"twice":              `{"hooks":{"use":[{"name":"guard.sh","mode":"audit"},{"name":"guard.sh","enabled":false}]}}`,
		"layer off":          `{"hooks":{"enabled":false}}`,
		"discovery off":      `{"hooks":{"discover":false}}`,
		"no hooks at all":    `{"hooks":{"maxHooks":1}}`,
		"layer's rule":       `{"hooks":{"onFailure":"continue"}}`,
		"layer's time":       `{"hooks":{"timeout":"10ms"}}`,
		"budget":             `{"hooks":{"budget":"100ms"}}`,
		"path":               `{"hooks":{"path":["./bin"]}}`,
		"variables for all":  `{"hooks":{"env":["BASH_ENV","ENV"]}}`,
		"trust":              `{"hooks":{"trust":{"always":["/"]}}}`,
		"allow":              `{"hooks":{"allow":[]}}`,
		"required elsewhere": `{"hooks":{"required":[]}}`,
		"half-written":       `{"hooks":{"use":[{"name":"guard.sh","ena`,
		"no bytes":           ``,
		"not an object":      `[]`,
		"use is no list":     `{"hooks":{"use":{"name":"guard.sh","enabled":false}}}`,
		"hooks twice":        `{"hooks":{},"hooks":{"enabled":false}}`,
		"capitals":           `{"Hooks":{"enabled":false}}`,
	} {
		add("settings: "+name, func(w *world, mark string) { w.settings(text) })
	}
	add("settings in YAML", func(w *world, mark string) {
		w.write(w.path(".acai", "acai.yaml"), "hooks: {use: [{name: guard.sh, enabled: false}]}\n", 0o644)
	})
	add("settings are a FIFO", func(w *world, mark string) { syscall.Mkfifo(w.path(".acai", "acai.json"), 0o644) })
	for name, text := range map[string]string{
		"audit": `{"mode":"audit"}`, "observer": `{"can":"observe"}`, "broken": `{`, "empty": ``, "helpers": `{"files":["*"]}`,
	} {
		add("side file: "+name, func(w *world, mark string) { w.write(w.hookPath("guard.sh.hook.json"), text, 0o644) })
	}
	add("side file in YAML", func(w *world, mark string) { w.write(w.hookPath("guard.sh.hook.yaml"), "mode: audit\n", 0o644) })

	// Files around it.
	add("a hundred other hooks before it", func(w *world, mark string) {
		for i := range 150 {
			w.hook(fmt.Sprintf("0-%d", i), marker(mark, "#!/bin/sh\n# hook: events=tool-call-start can=modify priority=1000\n"))
		}
	})
	add("a hundred guards before it", func(w *world, mark string) {
		for i := range 150 {
			w.hook(fmt.Sprintf("0-%d", i), marker(mark, guardHeader+"# hook: priority=1000 onFailure=continue\n"))
		}
	})
	add("a new hook that must be asked", func(w *world, mark string) { w.hook("new", marker(mark, "#!/bin/sh\n")) })
	add("a new hook with a side file", func(w *world, mark string) {
		w.hook("new", marker(mark, "#!/bin/sh\n"))
		w.write(w.hookPath("new.hook.json"), `{"events":"*","can":"modify"}`, 0o644)
	})
	add("a new command", func(w *world, mark string) {
		w.settings(`{"hooks":{"use":[{"name":"new","command":["sh","-c","echo >` + mark + `"],"events":"*"}]}}`)
	})
	add("a new command in the project", func(w *world, mark string) {
		w.write(w.path("run"), marker(mark, "#!/bin/sh\n"), 0o755)
		w.settings(`{"hooks":{"use":[{"name":"new","command":["./run"],"events":"*"}]}}`)
	})
	add("a command that leaves the project", func(w *world, mark string) {
		w.write(filepath.Join(filepath.Dir(w.project), "run"), marker(mark, "#!/bin/sh\n"), 0o755)
		w.settings(`{"hooks":{"use":[{"name":"new","command":["../run"],"events":"*"}]}}`)
	})
	add("helpers that leave the folder", func(w *world, mark string) {
		w.hook("new", marker(mark, "#!/bin/sh\n# hook: events=tool-call-start files=../../secret\n"))
		w.write(w.path("secret"), "", 0o644)
	})
	add("a project below", func(w *world, mark string) {
		w.write(w.path("sub", ".acai", "hooks", "new"), marks(mark), 0o755)
	})
	add("programs on PATH", func(w *world, mark string) {
		for _, name := range []string{"sh", "env", "echo", "cat"} {
			w.write(w.path("bin", name), marker(mark, "#!/bin/sh\n"), 0o755)
		}
	})
	add("a planted sh in the working directory", func(w *world, mark string) { w.write(w.path("sh"), marker(mark, "#!/bin/sh\n"), 0o755) })
	add("the state folder's name in the project", func(w *world, mark string) {
		w.write(w.path(".local", "state", "hookd", "trust", "x.json"), "{}", 0o600)
	})

	// The private copy: not reachable from inside the project, but checked.
	add("copy changed", func(w *world, mark string) {
		matches, _ := filepath.Glob(filepath.Join(w.state, "store", "*", guardName))
		w.write(matches[0], marks(mark), 0o755)
	})
	add("copy removed", func(w *world, mark string) { os.RemoveAll(filepath.Join(w.state, "store")) })
	add("copy is a link", func(w *world, mark string) {
		matches, _ := filepath.Glob(filepath.Join(w.state, "store", "*", guardName))
		w.write(w.path("x"), marks(mark), 0o755)
		os.Remove(matches[0])
		os.Symlink(w.path("x"), matches[0])
	})
	add("copy with company", func(w *world, mark string) {
		matches, _ := filepath.Glob(filepath.Join(w.state, "store", "*"))
		w.write(filepath.Join(matches[0], "extra"), "", 0o644)
	})
	add("records open to others", func(w *world, mark string) {
		matches, _ := filepath.Glob(filepath.Join(w.state, "trust", "*.json"))
		os.Chmod(matches[0], 0o666)
	})
	add("records damaged", func(w *world, mark string) {
		matches, _ := filepath.Glob(filepath.Join(w.state, "trust", "*.json"))
		w.write(matches[0], "{", 0o600)
	})
	return rows
}

// G11: code of a project that nobody allowed runs zero times, and a guard that
// was allowed is never weakened from inside the project. A guard that goes on
// refusing with its own words, or fails and refuses by its rule: both are fine.
func TestHostileLayouts(t *testing.T) {
	rows := hostileLayouts()
	if len(rows) < 200 {
		t.Errorf("%d layouts, want 200", len(rows))
	}
	var ran, passed atomic.Int64
	t.Cleanup(func() {
		prove.Figure(t, "G11", "%d hostile layouts: %d executions, %d weakenings", len(rows), ran.Load(), passed.Load())
	})
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			mark := filepath.Join(t.TempDir(), "mark")
			w.hook(guardName, blocks)
			w.allow()
			row.do(w, mark)
			opts := w.options()
			opts.Project = "" // found anew, as a session that begins now would
			if exists(w.path("sub")) {
				opts.Cwd = w.path("sub")
			}
			begin := time.Now()
			s, err := Load(context.Background(), opts)
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); took > 20*time.Second { // all of them run at once
				t.Errorf("the load took %s", took)
			}
			for range 2 {
				outcome := w.fire(s.Set)
				if outcome.Action != protocol.Block && outcome.Action != protocol.Stop {
					passed.Add(1)
					t.Errorf("weakened: the event passes with %s; project %q, hooks %v, findings %v", outcome.Action, s.Project, statuses(s), s.Findings)
				}
			}
			if exists(mark) {
				ran.Add(1)
				t.Errorf("code that nobody allowed ran; hooks %v", statuses(s))
			}
		})
	}
}

// Whatever the project's settings or a side file say of an allowed hook is part
// of what was allowed, also where the guard would have refused all the same.
func TestDescriptionIsPartOfTheHash(t *testing.T) {
	entry := func(fields string) string { return `{"hooks":{"use":[{"name":"guard.sh",` + fields + `}]}}` }
	changed := map[string]string{
		"class": entry(`"can":"modify"`), "matcher": entry(`"match":{"tool":["bash","x"]}`), "events": entry(`"events":["tool-call-start","agent-stop"]`),
		"mode": entry(`"mode":"audit"`), "rule": entry(`"onFailure":"stop"`), "time": entry(`"timeout":"4s"`), "order": entry(`"priority":1`),
		"off": entry(`"enabled":false`), "args": entry(`"args":["x"]`), "env": entry(`"env":["X"]`), "files": entry(`"files":["*"]`),
		"in place": entry(`"inPlace":true`), "required": entry(`"required":true`), "sensitive": entry(`"sensitive":true`), "run": entry(`"run":"standby"`),
		"layer off": `{"hooks":{"enabled":false}}`, "discovery off": `{"hooks":{"discover":false}}`, "required by name": `{"hooks":{"required":["guard.sh"]}}`,
	}
	same := map[string]string{
		"nothing": `{}`, "what is the default": entry(`"can":"block","mode":"enforce","enabled":true`), "another hook": `{"hooks":{"use":[{"name":"x","command":["true"],"events":["agent-stop"]}]}}`,
		"budget": `{"hooks":{"budget":"1s"}}`, "env for all": `{"hooks":{"env":["X"]}}`, "path for all": `{"hooks":{"path":["/opt/x"]}}`,
		"the agent's part": `{"agent":{"model":"x"}}`, "a default it does not use": `{"hooks":{"timeout":"7s","onFailure":"stop"}}`,
	}
	for other, table := range map[bool]map[string]string{true: changed, false: same} {
		for name, settings := range table {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.hook(guardName, guardHeader+"# hook: onFailure=block\n")
				w.allow()
				hash, before := planItem(w.plan(), guardName).Now.Hash, find(w.load(), guardName).Hook.Hook
				w.settings(settings)
				s := w.load()
				if got := status(s, guardName); got != "ready" {
					t.Errorf("settings that nobody allowed make it %s: %s", got, find(s, guardName).Why)
				}
				if diff := cmp.Diff(before, find(s, guardName).Hook.Hook); diff != "" {
					t.Errorf("settings that nobody allowed change the hook (-before +after):\n%s", diff)
				}
				if got := planItem(w.plan(), guardName).Now.Hash != hash; got != other {
					t.Errorf("its hash under these settings is another one: %v, want %v", got, other)
				}
			})
		}
	}
}

func statuses(s *Snapshot) map[string]string {
	all := map[string]string{}
	for _, h := range s.Hooks {
		all[h.Name] = status(s, h.Name)
	}
	return all
}

// H17: opening a fresh project runs nothing, and what would run is listed.
func TestFreshProject(t *testing.T) {
	w := newWorld(t)
	mark := filepath.Join(t.TempDir(), "mark")
	w.hook("boot", marker(mark, "#!/bin/sh\n# hook: events=session-start,tool-call-start\n"))
	w.hook("asked", marker(mark, "#!/bin/sh\n"))
	w.settings(`{"hooks":{"trust":{"always":["/"]}}}`)
	s := w.load()
	w.fireEvent(s.Set, protocol.SessionStart, `{"source":"startup"}`)
	outcome := w.fire(s.Set)
	if exists(mark) {
		t.Fatal("it ran")
	}
	if outcome.Action != protocol.Observe {
		t.Errorf("hooks that guard nothing refuse: %s", outcome.Action)
	}
	if got := strings.Join(s.Unallowed, " "); got != "asked boot" {
		t.Errorf("unasked %q", got)
	}
	for _, name := range []string{"boot", "asked"} {
		if !hasFinding(s.Findings, report.Untrusted, name) {
			t.Errorf("nothing says that %s is not run", name)
		}
	}
}

func TestStates(t *testing.T) {
	w := newWorld(t)
	state := func() string {
		var all []string
		for _, item := range w.plan().Items {
			all = append(all, item.Hook+"="+string(item.State))
		}
		return strings.Join(all, " ")
	}
	check := func(want, load string) {
		t.Helper()
		if got := state(); got != want {
			t.Errorf("plan %q, want %q", got, want)
		}
		if got := status(w.load(), "o.sh"); got != load {
			t.Errorf("load %q, want %q", got, load)
		}
	}
	observer := "#!/bin/sh\n# hook: events=session-end can=observe\n"
	w.hook("o.sh", observer)
	check("o.sh=new", "untrusted")
	w.allow()
	check("o.sh=trusted", "ready")
	w.hook("o.sh", observer+"#\n")
	check("o.sh=changed", "changed")
	w.hook("o.sh", observer)
	check("o.sh=trusted", "ready")
	os.Remove(w.hookPath("o.sh"))
	check("o.sh=gone", "gone")
	w.allow()
	check("", "")
	w.hook("o.sh", observer)
	check("o.sh=new", "untrusted")
	if err := w.trust().Deny(context.Background(), "o.sh"); err != nil {
		t.Fatal(err)
	}
	check("o.sh=denied", "disabled")
	w.userSettings(`{"hooks":{"trust":{"always":["` + w.project + `"]}}}`)
	check("o.sh=denied", "disabled")
	w.userSettings(`{}`)
	w.allow()
	check("o.sh=trusted", "ready")
}

// What is shown is what is allowed: a file that is swapped in between is not.
func TestSwapAfterShowing(t *testing.T) {
	w := newWorld(t)
	mark := filepath.Join(t.TempDir(), "mark")
	w.hook("guard.sh", blocks)
	w.hook("good.sh", "#!/bin/sh\n# hook: events=session-end\n")
	plan := w.plan()
	w.hook("guard.sh", marks(mark))
	err := w.trust().Allow(plan)
	if !errors.Is(err, trust.ErrChangedSince) {
		t.Fatalf("error %v", err)
	}
	s := w.load()
	if got := status(s, "guard.sh") + " " + status(s, "good.sh"); got != "untrusted!untrusted ready" {
		t.Errorf("statuses %s", got)
	}
	if w.fire(s.Set); exists(mark) {
		t.Error("it ran")
	}
}

func TestPlanShowsWhatChanged(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block files=lib/*.sh\n. \"$(dirname \"$0\")/lib/a.sh\"\n")
	w.write(w.hookPath("lib/a.sh"), "one\n", 0o644)
	w.allow()
	w.write(w.hookPath("lib/a.sh"), "two\n", 0o644)
	w.write(w.hookPath("lib/b.sh"), "new\n", 0o644)
	item := w.plan().Items[0]
	if item.State != trust.StateChanged || !item.Guard || item.Was.Hash == "" || item.Was.Hash == item.Now.Hash {
		t.Errorf("item %+v", item)
	}
	var got []string
	for _, f := range item.Files {
		if f.Changed() {
			got = append(got, fmt.Sprintf("%s: %q→%q", f.Name, f.WasText, f.Text))
		}
	}
	if want := `lib/a.sh: "one\n"→"two\n" lib/b.sh: ""→"new\n"`; strings.Join(got, " ") != want {
		t.Errorf("changes %v", got)
	}
	if s := w.load(); status(s, "guard.sh") != "changed!untrusted" || !said(s, "lib/a.sh") || !said(s, "lib/b.sh is new") {
		t.Errorf("status %s: %s", status(s, "guard.sh"), find(s, "guard.sh").Why)
	}
	w.allow()
	os.Remove(w.hookPath("lib/b.sh"))
	if s := w.load(); !said(s, "lib/b.sh is missing") {
		t.Errorf("why %s", find(s, "guard.sh").Why)
	}
}

// A helper that was named runs from the copy; the project's own may change.
func TestHelpersRunFromTheCopy(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block files=lib\n. \"$(dirname \"$0\")/lib/say.sh\"\n")
	w.settings(`{"hooks":{"use":[{"name":"guard.sh","files":["lib/**/*.sh"]}]}}`)
	w.write(w.hookPath("lib/say.sh"), `echo '{"action":"block","reason":"helper"}'`+"\n", 0o644)
	w.allow()
	s := w.load()
	mark := filepath.Join(t.TempDir(), "mark")
	w.write(w.hookPath("lib/say.sh"), marker(mark, ""), 0o644) // after the snapshot was built
	if outcome := w.fire(s.Set); outcome.Reason != "helper" {
		t.Errorf("reason %q", outcome.Reason)
	}
	if outcome := w.fire(w.load().Set); outcome.Failure != protocol.FailUntrusted {
		t.Errorf("failure %q", outcome.Failure)
	}
	if exists(mark) {
		t.Error("the changed helper ran")
	}
}

func TestCommandsRunFromTheCopy(t *testing.T) {
	w := newWorld(t)
	w.write(w.path("tools", "guard.sh"), `echo '{"action":"block","reason":"'"$1"'"}'`+"\n", 0o644)
	w.settings(`{"hooks":{"use":[{"name":"g","command":["sh","tools/guard.sh","word"],"events":["tool-call-start"],"can":"block"}]}}`)
	if got := status(w.load(), "g"); got != "untrusted!untrusted" {
		t.Fatalf("status %s", got)
	}
	w.allow()
	s := w.load()
	mark := filepath.Join(t.TempDir(), "mark")
	w.write(w.path("tools", "guard.sh"), marker(mark, ""), 0o644)
	if outcome := w.fire(s.Set); outcome.Reason != "word" {
		t.Errorf("reason %q %v", outcome.Reason, outcome.Runs)
	}
	if outcome := w.fire(w.load().Set); outcome.Failure != protocol.FailUntrusted || exists(mark) {
		t.Errorf("failure %q, ran %v", outcome.Failure, exists(mark))
	}
}

// A hook in place finds beside $0 what lies beside its file, named or not; what
// runs of itself are the bytes that were allowed.
func TestInPlaceIsHashedToo(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", guardHeader+"# hook: inPlace=true\n"+`. "$(dirname "$0")/lib/say.sh"`+"\n")
	w.write(w.hookPath("lib/say.sh"), `echo '{"action":"block","reason":"beside"}'`+"\n", 0o644)
	w.allow()
	s := w.load()
	if outcome := w.fire(s.Set); outcome.Reason != "beside" {
		t.Errorf("reason %q %v", outcome.Reason, outcome.Runs)
	}
	if !find(s, "guard.sh").InPlace {
		t.Error("it is not said to run in place")
	}
	w.write(w.hookPath("lib/say.sh"), `echo '{"action":"block","reason":"edited"}'`+"\n", 0o644)
	if outcome := w.fire(s.Set); outcome.Reason != "edited" {
		t.Errorf("a helper is not the one that lies there: %q %v", outcome.Reason, outcome.Runs)
	}
	w.hook("guard.sh", blocks)
	if got := status(w.load(), "guard.sh"); got != "changed!untrusted" {
		t.Errorf("status %s", got)
	}
	if outcome := w.fire(s.Set); outcome.Reason != "edited" {
		t.Errorf("what was not allowed ran: %q %v", outcome.Reason, outcome.Runs)
	}
}

// Red-team 2: a hook in place whose file is swapped all the time, under a snapshot
// that goes on ruling. No swapped byte runs, by another file nor within the same.
func TestInPlaceUnderASwapLoop(t *testing.T) {
	for name, swap := range map[string]func(w *world, text string){
		"another file": func(w *world, text string) {
			other := w.path("next")
			w.write(other, text, 0o755)
			os.Rename(other, w.hookPath("guard.sh"))
		},
		"the same file": func(w *world, text string) { w.hook("guard.sh", text) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			mark := filepath.Join(t.TempDir(), "mark")
			good := guardHeader + "# hook: inPlace=true\n" + `echo '{"action":"block","reason":"ours"}'` + "\n"
			w.hook("guard.sh", good)
			w.allow()
			s := w.load()
			done := make(chan struct{})
			stopped := make(chan struct{})
			go func() {
				defer close(stopped)
				for {
					select {
					case <-done:
						return
					default:
					}
					swap(w, marker(mark, guardHeader))
					swap(w, good)
				}
			}()
			for range 50 {
				if outcome := w.fire(s.Set); outcome.Reason != "ours" {
					t.Errorf("reason %q, %v", outcome.Reason, outcome.Runs)
				}
			}
			close(done)
			<-stopped
			if exists(mark) {
				t.Error("code that nobody allowed ran")
			}
		})
	}
	prove.Figure(t, "G11", "2 × 50 starts of a hook that is swapped all the time: the allowed bytes ran")
}

// A modifier that failed under continue is reported, and passes.
func TestChangedUnderTheStricterRule(t *testing.T) {
	w := newWorld(t)
	w.hook("m.sh", "#!/bin/sh\n# hook: events=tool-call-start can=modify\n")
	w.hook("stop.sh", "#!/bin/sh\n# hook: events=tool-call-end can=block onFailure=stop\n")
	w.allow()
	w.hook("m.sh", "#!/bin/sh\n# hook: events=tool-call-start can=modify onFailure=block\n")
	os.Remove(w.hookPath("stop.sh"))
	s := w.load()
	if got := status(s, "m.sh") + " " + status(s, "stop.sh"); got != "changed!untrusted gone!gone" {
		t.Fatalf("statuses %s", got)
	}
	if outcome := w.fire(s.Set); outcome.Action != protocol.Block || len(outcome.Runs) != 1 || outcome.Runs[0].Failure == "" {
		t.Errorf("the stricter new rule does not count: outcome %s, runs %+v", outcome.Action, outcome.Runs)
	}
	if find(s, "stop.sh").OnFailure != protocol.RuleStop {
		t.Error("the recorded rule does not count")
	}
	w.hook("m.sh", "#!/bin/sh\n# hook: events=tool-call-start can=modify\n# another\n")
	if outcome := w.fire(w.load().Set); outcome.Action != protocol.Observe || len(outcome.Runs) != 1 || outcome.Runs[0].Failure == "" {
		t.Errorf("outcome %s, runs %+v", outcome.Action, outcome.Runs)
	}
}

func TestExpectAndPrint(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", blocks)
	person := w.trust()
	hash := w.plan().Hash
	w.hook("more.sh", blocks)
	if err := person.Expect(context.Background(), hash); !errors.Is(err, ErrUnexpected) {
		t.Errorf("error %v", err)
	}
	os.Remove(w.hookPath("more.sh"))
	if err := person.Expect(context.Background(), hash); err != nil {
		t.Error(err)
	}
	if got := status(w.load(), "guard.sh"); got != "ready" {
		t.Errorf("status %s", got)
	}
}

// Another agent decides nothing either, by whatever script it comes here. It may install
// hookd, which takes nothing away.
func TestNeverGrantsBelowAnotherAgent(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", blocks)
	plan, person := w.plan(), w.trust()
	for _, mark := range []string{"CLAUDECODE", "GEMINI_CLI", "CODEX_THREAD_ID", "CURSOR_AGENT"} {
		t.Setenv(mark, "1")
		for name, do := range map[string]func() error{
			"allow":  func() error { return person.Allow(plan) },
			"deny":   func() error { return person.Deny(context.Background()) },
			"expect": func() error { return person.Expect(context.Background(), plan.Hash) },
			"follow": func() error { return person.Follow(context.Background(), nil) },
			"enable": func() error { return person.Enable(context.Background(), "guard.sh") },
		} {
			if err := do(); !errors.Is(err, trust.ErrBelow) {
				t.Errorf("%s, %s: error %v", mark, name, err)
			}
		}
		if err := trust.MayInstall(); err != nil {
			t.Error(err)
		}
		os.Unsetenv(mark)
	}
	if got := status(w.load(), "guard.sh"); got != "untrusted!untrusted" {
		t.Errorf("status %s", got)
	}
}

func TestNeverGrantsBelowAHook(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", blocks)
	plan, person := w.plan(), w.trust()
	t.Setenv(hookenv.VarDepth, "1")
	until := time.Now().Add(time.Hour)
	for name, do := range map[string]func() error{
		"allow":   func() error { return person.Allow(plan) },
		"deny":    func() error { return person.Deny(context.Background()) },
		"expect":  func() error { return person.Expect(context.Background(), plan.Hash) },
		"follow":  func() error { return person.Follow(context.Background(), nil) },
		"disable": func() error { return person.Disable(context.Background(), "guard.sh", &until) },
	} {
		if err := do(); !errors.Is(err, trust.ErrBelow) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	os.Unsetenv(hookenv.VarDepth)
	if got := status(w.load(), "guard.sh"); got != "untrusted!untrusted" {
		t.Errorf("status %s", got)
	}
}

// Unsetting the variable does not help: hookd itself stands above.
func TestNeverGrantsBelowHookdItself(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the processes above are not to be seen here")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `env -u HOOK_DEPTH "$0"; true`, self)
	cmd.Env = append(os.Environ(), decideVariable+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "true" {
		t.Errorf("%s %v", out, err)
	}
}

func TestDisable(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", blocks)
	w.userHook("user.sh", blocks)
	w.userHook("must.sh", guardHeader+"# hook: required=true\n")
	w.write(filepath.Join(w.managed, "hooks", "m.sh"), blocks, 0o755)
	w.allow()
	w.hook("guard.sh", blocks+"#\n") // broken for now
	person := w.trust()
	soon := time.Now().Add(3 * time.Second)
	for _, name := range []string{"guard.sh", "user.sh"} {
		if err := person.Disable(context.Background(), name, &soon); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"must.sh", "m.sh", "none"} {
		if err := person.Disable(context.Background(), name, nil); err == nil {
			t.Errorf("%s could be switched off", name)
		}
	}
	s := w.load()
	if got := status(s, "guard.sh") + " " + status(s, "user.sh"); got != "disabled disabled" {
		t.Errorf("statuses %s", got)
	}
	time.Sleep(time.Until(soon))
	s = w.load()
	if got := status(s, "guard.sh") + " " + status(s, "user.sh"); got != "changed!untrusted ready" {
		t.Errorf("afterwards %s", got)
	}
	if err := person.Disable(context.Background(), "user.sh", nil); err != nil {
		t.Fatal(err)
	}
	if err := person.Enable(context.Background(), "user.sh"); err != nil {
		t.Fatal(err)
	}
	if got := status(w.load(), "user.sh"); got != "ready" {
		t.Errorf("enabled again: %s", got)
	}
}

func TestList(t *testing.T) {
	w := newWorld(t)
	w.hook("a", blocks)
	w.hook("b", blocks)
	w.allow()
	w.hook("b", blocks+"#\n")
	list, err := w.trust().List(context.Background())
	if err != nil || len(list) != 2 || list[0].State != trust.StateTrusted || list[1].State != trust.StateChanged || list[0].Project != w.project {
		t.Errorf("list %+v, %v", list, err)
	}
}

// A state folder in any checkout could have come with it.
func TestStateInsideAnotherCheckout(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", blocks)
	opts := w.options()
	clone := filepath.Join(filepath.Dir(w.home), "clone")
	opts.StateDir = filepath.Join(clone, ".local", "state", "hookd")
	os.MkdirAll(opts.StateDir, 0o700)
	os.MkdirAll(filepath.Join(clone, ".git"), 0o755)
	if _, err := OpenTrust(opts); err == nil {
		t.Error("decisions are kept inside a checkout")
	}
	opts.Home = clone // unless the checkout is the user's home
	if _, err := OpenTrust(opts); err != nil {
		t.Error(err)
	}
}

func TestStateInsideTheProject(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", blocks)
	opts := w.options()
	opts.StateDir = w.path("state")
	if _, err := OpenTrust(opts); err == nil {
		t.Error("decisions are kept inside the project")
	}
	s, err := Load(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if outcome := w.fire(s.Set); outcome.Failure != protocol.FailSettings {
		t.Errorf("outcome %s %s", outcome.Action, outcome.Failure)
	}
}
