//go:build unix

package loader

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/prove"
)

// managedGuard refuses a command and says so in its own words.
const managedGuard = "#!/bin/sh\n# hook: events=tool-call-start match.tool=bash can=block timeout=5s\n" +
	`grep -q forbidden && echo '{"action":"block","reason":"policy"}'; exit 0` + "\n"

// weakenings are attempts of what is below the managed layer to get its guard
// out of the way.
func weakenings() map[string]func(w *world, opts *Options) {
	rows := map[string]func(w *world, opts *Options){}
	settings := func(w *world, layer, format, text string) {
		folder := map[string]string{"user": w.home, "project": w.project}[layer]
		w.write(filepath.Join(folder, ".acai", "acai."+format), text, 0o644)
	}
	for _, layer := range []string{"user", "project"} {
		// By an entry for a hook of the same name.
		for _, field := range []string{
			`"enabled":false`, `"can":"observe"`, `"can":"modify"`, `"mode":"audit"`, `"match":{"tool":"edit"}`, `"match":{"when":"false"}`, `"events":["step-stop"]`,
			`"timeout":"10ms"`, `"onFailure":"continue"`, `"priority":-1000`, `"command":["true"]`, `"args":["--help"]`, `"required":false`, `"run":"resident"`,
			`"env":["PATH"]`, `"files":["x"]`, `"inPlace":true`, `"sensitive":true`, `"dialect":"claude"`, `"description":"no guard"`,
		} {
			rows[layer+" entry "+field] = func(w *world, opts *Options) {
				settings(w, layer, "json", `{"hooks":{"use":[{"name":"m.sh",`+field+`}]}}`)
			}
		}
		// By a setting of the whole layer.
		for _, setting := range []string{
			`"enabled":false`, `"discover":false`, `"maxHooks":1`, `"timeout":"10ms"`, `"budget":"100ms"`, `"grace":"0s"`, `"processes":1`, `"onFailure":"continue"`,
			`"parallel":16`, `"allow":["user"]`, `"allow":[]`, `"required":[]`, `"limits":{"event":1}`, `"limits":{"reply":1}`, `"records":{"values":"none"}`, `"maxDepth":1000`,
		} {
			rows[layer+" setting "+setting] = func(w *world, opts *Options) { settings(w, layer, "json", `{"hooks":{`+setting+`}}`) }
		}
		for format, text := range map[string]string{
			"yaml": "hooks:\n  enabled: false\n  use:\n    - {name: m.sh, enabled: false}\n", "toml": "[hooks]\nenabled = false\n[[hooks.use]]\nname = \"m.sh\"\nenabled = false\n",
		} {
			rows[layer+" "+format] = func(w *world, opts *Options) { settings(w, layer, format, text) }
		}
		// By a hook of the same or another name, before or behind.
		for name, answer := range map[string]string{
			"allow": `{"action":"allow"}`, "observe": `{"action":"observe"}`, "hide the command": `{"action":"modify","changes":{"args":{"shown":"ls"}}}`,
			"continue": `{"action":"continue","messages":[{"role":"user","content":"go on"}]}`, "metadata": `{"metadata":{"m.sh":"ok"},"state":1}`,
		} {
			for _, file := range []string{"m.sh", "0-first.sh", "zz-last.sh"} {
				rows[fmt.Sprintf("%s hook %s says %s", layer, file, name)] = func(w *world, opts *Options) {
					hook := "#!/bin/sh\n# hook: events=tool-call-start can=modify priority=1000\necho '" + answer + "'\n"
					if layer == "user" {
						w.userHook(file, hook)
						return
					}
					w.userSettings(`{"hooks":{"trust":{"always":["` + w.project + `"]}}}`)
					w.hook(file, hook)
				}
			}
		}
		rows[layer+" hook uses the time up"] = func(w *world, opts *Options) {
			hook := "#!/bin/sh\n# hook: events=tool-call-start can=modify timeout=10ms onFailure=continue\nsleep 5\n"
			settings(w, layer, "json", `{"hooks":{"budget":"100ms"}}`)
			if layer == "user" {
				w.userHook("slow.sh", hook)
			} else {
				w.hook("slow.sh", hook)
				w.allow()
			}
		}
		// By links.
		for _, target := range []string{"hooks", "acai.json", ".."} {
			rows[layer+" folder is a link to the managed "+target] = func(w *world, opts *Options) {
				folder := map[string]string{"user": w.home, "project": w.project}[layer]
				os.RemoveAll(filepath.Join(folder, ".acai"))
				os.Symlink(filepath.Join(w.managed, target), filepath.Join(folder, ".acai"))
			}
		}
		rows[layer+" link of the guard's name"] = func(w *world, opts *Options) {
			folder := map[string]string{"user": w.home, "project": w.project}[layer]
			os.MkdirAll(filepath.Join(folder, ".acai", "hooks"), 0o755)
			os.Symlink("/bin/true", filepath.Join(folder, ".acai", "hooks", "m.sh"))
		}
	}
	// By flags and by what a person may switch off.
	for _, names := range [][]string{{"m.sh"}, {"*"}, {"managed"}, {"m.sh", "m"}, {""}} {
		rows["--without "+strings.Join(names, ",")] = func(w *world, opts *Options) { opts.Without = names }
	}
	rows["hookd disable"] = func(w *world, opts *Options) { w.trust().Disable(context.Background(), "m.sh", nil) }
	rows["hookd disable for an hour"] = func(w *world, opts *Options) {
		soon := time.Now().Add(time.Hour)
		w.trust().Disable(context.Background(), "m.sh", &soon)
	}
	rows["hookd untrust"] = func(w *world, opts *Options) { w.trust().Deny(context.Background(), "m.sh") }
	rows["another project"] = func(w *world, opts *Options) { opts.Project = w.t.TempDir() }
	rows["no project"] = func(w *world, opts *Options) { opts.Project, opts.Cwd = "", w.t.TempDir() }
	rows["another home"] = func(w *world, opts *Options) { opts.Home = w.t.TempDir() }
	rows["no state folder"] = func(w *world, opts *Options) { opts.StateDir = filepath.Join(w.t.TempDir(), "none") }
	rows["a state folder that cannot be written"] = func(w *world, opts *Options) {
		os.RemoveAll(w.state)
		w.write(w.state, "", 0o644)
	}
	// By the managed files, where one could write to them.
	for _, part := range []string{"", "hooks", "hooks/m.sh", "acai.json", ".."} {
		for _, mode := range []os.FileMode{0o777, 0o775, 0o757, 0o666} {
			rows[fmt.Sprintf("managed %q has mode %o", part, mode)] = func(w *world, opts *Options) {
				os.Chmod(filepath.Join(w.managed, part), mode)
			}
		}
	}
	return rows
}

// foreignVariables are variables that other programs would obey.
var foreignVariables = []string{
	"HOOKD_HOOKS_ENABLED=false", "HOOKD_MANAGED=/tmp", "HOOKD_WITHOUT=m.sh", "HOOKD_DISABLE=1", "HOOKD_CONFIG=/dev/null", "ACAI_HOOKS_ENABLED=false", "HOOKS_ENABLED=false",
	"HOOKS_ALLOW=user", "HOOKS.ENABLED=false", "XDG_CONFIG_DIRS=/tmp", "XDG_CONFIG_HOME=/tmp", "HOOK_ACTION=describe", "HOOK_MODE=audit", "HOOKD_LOG=off", "ETC=/tmp",
}

// G20: whatever stands below the managed layer, its guard refuses, or the event
// is refused because the layer was meddled with.
func TestManagedGuardStands(t *testing.T) {
	rows := weakenings()
	for _, variable := range foreignVariables {
		name, value, _ := strings.Cut(variable, "=")
		rows["environment "+variable] = func(w *world, opts *Options) { w.t.(*testing.T).Setenv(name, value) }
	}
	attempts, passed := 0, 0
	for i, name := range slices.Sorted(maps.Keys(rows)) {
		if i%prove.Size(8, 1) != 0 {
			continue
		}
		attempts++
		weaken := rows[name]
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(filepath.Join(w.managed, "hooks", "m.sh"), managedGuard, 0o755)
			w.write(filepath.Join(w.managed, "acai.json"), `{"hooks":{}}`, 0o644)
			opts := w.options()
			weaken(w, &opts)
			s, err := Load(context.Background(), opts)
			if err != nil {
				return // nothing runs at all
			}
			o := w.fireEvent(s.Set, protocol.ToolCallStart, `{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"forbidden"},"parallel":1}`)
			if o.Action != protocol.Block && o.Action != protocol.Stop {
				passed++
				t.Errorf("the event passes with %s: runs %v, hooks %v, findings %v", o.Action, o.Runs, statuses(s), s.Findings)
			} else if o.Reason != "policy" && o.Failure == "" {
				t.Errorf("refused by %v for %q: not by the guard, nor for its absence", *o.By, o.Reason)
			}
		})
	}
	if len(rows) < 100 {
		t.Errorf("only %d attempts", len(rows))
	}
	prove.Figure(t, "G20", "%d attempts on a managed guard by flag, environment, file, link, order and matcher: %d passed", attempts, passed)
}
