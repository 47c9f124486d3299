//go:build unix

package loader

import (
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

// What starts a guard is part of what was allowed, however it is named: a file
// of the project that stands between the guard and its answer must not be able
// to change unseen.
func TestWhatStartsAGuardCannotLieInTheProject(t *testing.T) {
	const says = `echo '{"action":"block","reason":"ours"}'` + "\n"
	const header = "# hook: events=tool-call-start can=block\n"
	command := func(w *world, argv string) {
		w.settings(`{"hooks":{"use":[{"name":"g","command":` + argv + `,"events":["tool-call-start"],"can":"block"}]}}`)
	}
	for name, plant := range map[string]func(w *world) (planted string){
		"the interpreter of a command": func(w *world) string {
			w.write(w.path("tools", "g"), "#!"+w.path("bin", "sh")+"\n", 0o755)
			command(w, `["./tools/g"]`)
			return w.path("bin", "sh")
		},
		"a script named in the interpreter line": func(w *world) string {
			w.hook("g", "#!/bin/sh x.sh\n"+header)
			return w.path("x.sh")
		},
		"a word of the interpreter line": func(w *world) string {
			w.hook("g", "#!/bin/sh word\n"+header)
			return w.path("word")
		},
		"an absolute path in the interpreter line": func(w *world) string {
			w.hook("g", "#!/bin/sh "+w.path("x.sh")+"\n"+header)
			return w.path("x.sh")
		},
		"a script behind env -S": func(w *world) string {
			w.hook("g", "#!/usr/bin/env -S sh ./x.sh\n"+header)
			return w.path("x.sh")
		},
		"a script in an option": func(w *world) string {
			w.hook("g", "#!/usr/bin/env -S sh --rcfile=./x.sh ./x.sh\n"+header)
			return w.path("x.sh")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			planted := plant(w)
			w.write(planted, "#!/bin/sh\n"+says, 0o755)
			// Allowing it may be refused; then the guard fails until it is mended.
			_ = w.trust().Allow(w.plan())
			w.write(planted, "#!/bin/sh\n", 0o755)
			outcome := w.fire(w.load().Set)
			if outcome.Action != protocol.Block {
				t.Errorf("the event passes: %v", outcome.Runs)
			}
		})
	}
}

// Words that are no paths do not get in the way.
func TestInterpreterLinesWithWords(t *testing.T) {
	for _, line := range []string{"#!/bin/sh -e", "#!/usr/bin/env sh", "#!/usr/bin/env -S bash -euo pipefail", "#!/usr/bin/env -S FOO=1 sh -u"} {
		t.Run(line, func(t *testing.T) {
			w := newWorld(t)
			w.write(w.path("sh", "x"), "", 0o644) // a folder of an interpreter's name
			w.hook("g", line+"\n# hook: events=tool-call-start can=block\n"+`echo '{"action":"block","reason":"ours"}'`+"\n")
			w.allow()
			if outcome := w.fire(w.load().Set); outcome.Reason != "ours" {
				t.Errorf("reason %q %v", outcome.Reason, outcome.Runs)
			}
		})
	}
}

// A file that a command's option names is pinned like one that stands alone.
func TestOptionPathsAreCopied(t *testing.T) {
	w := newWorld(t)
	w.write(w.path("tools", "x.sh"), "", 0o644)
	w.settings(`{"hooks":{"use":[{"name":"g","command":["cat","--rules=tools/x.sh"],"events":["tool-call-start"],"can":"block"}]}}`)
	w.allow()
	w.write(w.path("tools", "x.sh"), "changed", 0o644)
	if got := status(w.load(), "g"); got != "changed!untrusted" {
		t.Errorf("status %s", got)
	}
}
