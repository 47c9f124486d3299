//go:build unix

package loader

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/trust"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/prove"
)

// needs skips a test on a machine without an interpreter on the fixed PATH.
func needs(t *testing.T, program string) string {
	t.Helper()
	for _, folder := range []string{"/usr/local/bin", "/usr/bin", "/bin"} {
		if path := filepath.Join(folder, program); interpreter.IsProgram(path) {
			return path
		}
	}
	t.Skipf("%s is not installed here", program)
	return ""
}

// says is a block in the words of several languages.
var says = map[string]string{
	"sh":      `echo '{"action":"block","reason":"ours"}'`,
	"bash":    `echo '{"action":"block","reason":"ours"}'`,
	"python3": `print('{"action":"block","reason":"ours"}')`,
	"node":    `console.log('{"action":"block","reason":"ours"}')`,
	"perl":    `print '{"action":"block","reason":"ours"}'`,
	"ruby":    `puts '{"action":"block","reason":"ours"}'`,
}

func comment(language string) string {
	if language == "node" {
		return "//"
	}
	return "#"
}

// A virtual environment, a version manager or anything else that comes first on
// the PATH of one shell changes neither whether a hook is trusted nor what starts
// it, in either direction.
func TestTrustDoesNotFollowPATH(t *testing.T) {
	for language := range says {
		for _, line := range []string{"#!/usr/bin/env " + language, "#!/usr/bin/env -S " + language} {
			t.Run(strings.TrimPrefix(line, "#!/usr/bin/"), func(t *testing.T) {
				needs(t, language)
				ours := os.Getenv("PATH")
				for _, first := range []bool{true, false} { // the other one comes first at trust, or afterwards
					w := newWorld(t)
					mark := filepath.Join(t.TempDir(), "mark")
					other := t.TempDir()
					w.write(filepath.Join(other, language), marker(mark, "#!/bin/sh\n")+"exec false\n", 0o755)
					w.hook("g", line+"\n"+comment(language)+" hook: events=tool-call-start can=block\n"+says[language]+"\n")
					paths := []string{other + ":" + ours, ours}
					if !first {
						paths[0], paths[1] = paths[1], paths[0]
					}
					t.Setenv("PATH", paths[0])
					w.allow()
					print := w.plan().Hash
					for _, path := range []string{paths[1], paths[0], "/nonexistent"} {
						t.Setenv("PATH", path)
						if outcome := w.fire(w.load().Set); outcome.Reason != "ours" {
							t.Errorf("PATH=%s: %q %v", path, outcome.Reason, outcome.Runs)
						}
						if got := w.plan().Hash; got != print {
							t.Errorf("PATH=%s: the project's hash depends on it", path)
						}
					}
					if exists(mark) {
						t.Error("what came first on PATH ran")
					}
				}
			})
		}
	}
	prove.Figure(t, "G11", "%d languages, PATH turned round at trust and afterwards: the same program, the same hash", len(says))
}

// The program of a command is pinned as the interpreter of a file is.
func TestCommandsArePinned(t *testing.T) {
	w := newWorld(t)
	ours, other := os.Getenv("PATH"), t.TempDir()
	mark := filepath.Join(t.TempDir(), "mark")
	w.write(filepath.Join(other, "sh"), marker(mark, "#!/bin/sh\n"), 0o755)
	w.write(w.path("tools", "guard.sh"), says["sh"]+"\n", 0o644)
	w.settings(`{"hooks":{"use":[{"name":"g","command":["sh","tools/guard.sh"],"events":["tool-call-start"],"can":"block"}]}}`)
	w.allow()
	t.Setenv("PATH", other+":"+ours)
	if outcome := w.fire(w.load().Set); outcome.Reason != "ours" || exists(mark) {
		t.Errorf("reason %q, other program ran %v", outcome.Reason, exists(mark))
	}
}

// What lies on nobody's fixed PATH is pinned where the shell that asked had it,
// and runs where PATH does not name it. A hash alone does not allow it.
func TestStrayInterpreter(t *testing.T) {
	w := newWorld(t)
	bin := t.TempDir()
	os.Symlink("/bin/sh", filepath.Join(bin, "rare-sh"))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	w.hook("g", "#!/usr/bin/env rare-sh\n# hook: events=tool-call-start can=block\n"+says["sh"]+"\n")
	if err := w.trust().Expect(context.Background(), w.plan().Hash); err == nil || !strings.Contains(err.Error(), "hooks.path") {
		t.Errorf("error %v", err)
	}
	w.allow()
	t.Setenv("PATH", "/usr/bin:/bin")
	if outcome := w.fire(w.load().Set); outcome.Reason != "ours" {
		t.Errorf("reason %q %v", outcome.Reason, outcome.Runs)
	}
}

// A pinned interpreter that is gone is replaced from the fixed PATH, with a notice
// that names both; never from the project, and never by what others can write.
func TestPinnedInterpreterIsGone(t *testing.T) {
	for name, test := range map[string]struct {
		line    string
		prepare func(w *world, bin string)
		want    string
	}{
		"another on the fixed PATH": {"#!/usr/bin/env sh", func(w *world, bin string) {}, "ours"},
		"none but in the project": {"#!/usr/bin/env rare-sh", func(w *world, bin string) {
			w.write(w.path("bin", "rare-sh"), "#!/bin/sh\ntrue\n", 0o755)
			os.Setenv("PATH", w.path("bin"))
		}, ""},
		"the place leads into the project now": {"#!/usr/bin/env rare-sh", func(w *world, bin string) {
			w.write(w.path("bin", "rare-sh"), "#!/bin/sh\ntrue\n", 0o755)
			os.Symlink(w.path("bin", "rare-sh"), filepath.Join(bin, "rare-sh"))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			bin := t.TempDir()
			name := strings.TrimPrefix(test.line, "#!/usr/bin/env ")
			shell, err := os.ReadFile("/bin/sh")
			if err != nil {
				t.Fatal(err)
			}
			w.write(filepath.Join(bin, name), string(shell), 0o755)
			w.settings(`{"hooks":{"path":["` + bin + `"]}}`)
			t.Setenv("PATH", os.Getenv("PATH"))
			w.hook("g", test.line+"\n# hook: events=tool-call-start can=block\n"+says["sh"]+"\n")
			w.allow()
			if outcome := w.fire(w.load().Set); outcome.Reason != "ours" {
				t.Fatalf("reason %q %v", outcome.Reason, outcome.Runs)
			}
			os.Remove(filepath.Join(bin, name))
			test.prepare(w, bin)
			s := w.load()
			outcome := w.fire(s.Set)
			if outcome.Action != protocol.Block || test.want != "" && outcome.Reason != test.want {
				t.Errorf("%s %q %v", outcome.Action, outcome.Reason, outcome.Runs)
			}
			if test.want == "" {
				if outcome.Failure != protocol.FailSpawn {
					t.Errorf("failure %q", outcome.Failure)
				}
				return
			}
			for _, f := range s.Findings {
				if f.Code == string(report.StarterReplaced) && strings.Contains(f.Message, bin) && strings.Contains(f.Message, "starts it now") {
					return
				}
			}
			t.Errorf("nothing names both: %v", s.Findings)
		})
	}
}

// A record of an earlier version has real paths among what was hashed. It is
// believed, and what it names is what is pinned.
func TestRecordsOfEarlierVersions(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", strings.Replace(blocks, "#!/bin/sh", "#!/usr/bin/env sh", 1))
	w.allow()
	fresh := w.plan().Hash
	sh, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	person := w.trust()
	if err := person.change(w.project, func(d *records.Decisions) error {
		r := &d.Hooks[0]
		r.Pins = interpreter.Pins{}
		r.Bundle.Interpreter = sh
		if err := r.Bundle.Seal(); err != nil {
			return err
		}
		r.Hash = r.Bundle.Hash
		return person.loader.store.Put(&bundle.Bundle{Members: memberAt(r.Bundle.Members, w.hookPath("guard.sh")), Hash: r.Hash})
	}); err != nil {
		t.Fatal(err)
	}
	s := w.load()
	if outcome := w.fire(s.Set); outcome.Reason != "no" {
		t.Errorf("%s: reason %q %v", status(s, "guard.sh"), outcome.Reason, outcome.Runs)
	}
	if plan := w.plan(); plan.Hash != fresh || plan.Items[0].State != trust.StateTrusted {
		t.Errorf("state %s, the project's hash is another: %v", plan.Items[0].State, plan.Hash != fresh)
	}
	w.hook("guard.sh", blocks+"#\n")
	if got := status(w.load(), "guard.sh"); got != "changed!untrusted" {
		t.Errorf("status %s", got)
	}
}

func memberAt(members []bundle.Member, path string) []bundle.Member {
	members = append([]bundle.Member(nil), members...)
	members[0].Path = path
	return members
}

// Words of an interpreter line, and what env sets there, that may make the
// interpreter run more than the hook are refused, whether there is such a file yet
// or not.
func TestInterpreterLinesThatLeadInside(t *testing.T) {
	w := newWorld(t)
	w.write(w.path("lib", "x.py"), "", 0o644)
	in := &interpreter.Finder{Root: w.project, Foreign: true, Pinned: true}
	lines := map[string]bool{
		"/bin/sh -eu": false, "/usr/bin/env -S python3 -u": false, "/usr/bin/env -S python3 -I": false,
		"/usr/bin/env -S FOO=1 sh -u": false, "/usr/bin/env -S NODE_ENV=production node": false, "/usr/bin/perl -Mstrict": false, "/usr/bin/perl -w": false,
		"/usr/bin/env -S ruby -rjson": false, "/usr/bin/env -S ruby -W:no-deprecated": false, "/usr/bin/env -S node --no-warnings": false,
		"/usr/bin/env -S NODE_OPTIONS=--max-old-space-size=99 node": false, "/usr/bin/env -S PYTHONPATH=1 python3": true, "/usr/bin/env -S NODE_OPTIONS=--require=1x node": true, "/usr/bin/env -S PYTHONPATH=/opt/lib python3": false,
		"/usr/bin/env -S bash -euo pipefail": false, "/usr/bin/awk -f": false,
		// The program comes on stdin, and that is the event.
		"/bin/bash -s": true, "/bin/sh -es": true, "/usr/bin/env -S python3 -": true, "/usr/bin/env -S node -": true, "/usr/bin/perl -": true, "/bin/sh -": false,
		"/usr/bin/env -S python3 -X pycache_prefix=not-there": true, "/usr/bin/env -S python3 -Xpycache_prefix=x": true, "/usr/bin/env -S python3 -X utf8": false,
		"/usr/bin/perl -d": true, "/usr/bin/perl -wd": true, "/usr/bin/perl -T": false,
		"/usr/bin/env -S PYTHONPATH=lib python3": true, "/usr/bin/env -S PYTHONPATH= python3": false, "/usr/bin/env -S PYTHONPATH=/opt:lib python3": true,
		"/usr/bin/env -S PYTHONPATH=not-there python3": true, "/usr/bin/env -S LD_PRELOAD=./x.so sh": true, "/usr/bin/env -S BASH_ENV=x bash": true,
		"/usr/bin/env -S ENV=x sh": true, "/usr/bin/env -S PERL5LIB=lib perl": true, "/usr/bin/env -S RUBYLIB=. ruby": true, "/usr/bin/env -S NODE_PATH=lib node": true,
		"/usr/bin/env -S 'NODE_OPTIONS=--require ./x' node": true, "/usr/bin/env -S 'NODE_OPTIONS=--require x' node": true, "/usr/bin/env -S PERL5OPT=-Mx perl": true,
		"/usr/bin/env -S ANY=" + w.path("lib") + " sh": true, "/usr/bin/env -S ANY=./lib sh": true, "/usr/bin/env -S A=$B sh": true,
		"/usr/bin/env -S python3 -m guard": true, "/usr/bin/env -S python3 -Im guard": true, "/usr/bin/env -S node -r dotenv/config": true, "/usr/bin/env -S node --require=x": true,
		"/usr/bin/env -S node --import tsx": true, "/usr/bin/perl -Ilib": true, "/usr/bin/perl -Mlib=lib": true, "/usr/bin/env -S ruby -r./x": true, "/usr/bin/env -S ruby -I lib": true,
		"/bin/sh x.sh": true, "/bin/sh lib/x.py": true, "/usr/bin/env -S bash --rcfile=x": true, "/usr/bin/env -S perl -I" + w.path("lib"): true, "/usr/bin/env -S perl -I/opt/lib": false,
	}
	for line, refused := range lines {
		p, bad := interpreter.ReadProgram([]byte("#!" + line + "\n"))
		if bad != nil {
			t.Fatalf("%s: %s", line, bad.Why)
		}
		l, bad := p.Line()
		if bad == nil {
			bad = in.LineLeadsInside(&l)
		}
		if (bad != nil) != refused {
			t.Errorf("%s: refused %v", line, bad)
		}
	}
	prove.Figure(t, "G11", "%d interpreter lines: what leads into the project is refused", len(lines))
}

// Each interpreter really starts as the kernel and env would start it.
func TestPinnedLinesRunAsTheKernelRunsThem(t *testing.T) {
	tests := map[string]string{
		"#!/bin/sh -f":                     `case $- in *f*) a=1; esac; echo "{\"action\":\"block\",\"reason\":\"$a$#${0##*/}\"}"`,
		"#!/usr/bin/env -S sh -f":          `case $- in *f*) a=1; esac; echo "{\"action\":\"block\",\"reason\":\"$a$#${0##*/}\"}"`,
		"#!/usr/bin/env -S ABC=1 sh":       `echo "{\"action\":\"block\",\"reason\":\"$ABC$#${0##*/}\"}"`,
		"#!/usr/bin/env -S 'ABC=1' \"sh\"": `echo "{\"action\":\"block\",\"reason\":\"$ABC$#${0##*/}\"}"`,
	}
	for line, body := range tests {
		w := newWorld(t)
		w.hook("g", line+"\n# hook: events=tool-call-start can=block\n"+body+"\n")
		w.allow()
		if outcome := w.fire(w.load().Set); outcome.Reason != "10g" {
			t.Errorf("%s: %q %v", line, outcome.Reason, outcome.Runs)
		}
	}
}

// A5: a Python or Node hook loads what lies beside it and was allowed, from the
// copy, whatever lies in the project's root or the user's own folders.
func TestHelpersOfOtherLanguages(t *testing.T) {
	tests := map[string]struct{ language, hook, helper, name, fake string }{
		"python": {"python3", "import _words\nprint(_words.say())\n", "def say():\n    return '{\"action\":\"block\",\"reason\":\"%s\"}'\n", "_words.py", "json.py"},
		"node":   {"node", "console.log(require('./_words').say())\n", "exports.say = () => '{\"action\":\"block\",\"reason\":\"%s\"}'\n", "_words.js", "fs.js"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			needs(t, test.language)
			w := newWorld(t)
			w.hook("g", "#!/usr/bin/env "+test.language+"\n"+comment(test.language)+" hook: events=tool-call-start can=block files="+test.name+"\n"+test.hook)
			w.write(w.hookPath(test.name), strings.Replace(test.helper, "%s", "ours", 1), 0o644)
			w.allow()
			s := w.load()
			other := strings.Replace(test.helper, "%s", "theirs", 1)
			w.write(w.path(test.name), other, 0o644)
			w.write(w.path(test.fake), "raise SystemExit(0)\n", 0o644)
			w.write(w.hookPath(test.name), other, 0o644)
			if outcome := w.fire(s.Set); outcome.Reason != "ours" {
				t.Errorf("reason %q %v", outcome.Reason, outcome.Runs)
			}
			// Without files it is named.
			w.hook("g", "#!/usr/bin/env "+test.language+"\n"+comment(test.language)+" hook: events=tool-call-start can=block\n"+test.hook)
			w.allow()
			if !hasFinding(Advice(w.load()), report.ImportUnnamed, "g") {
				t.Errorf("nothing names the import of %s", test.name)
			}
		})
	}
}

// An interpreter of the project is refused for copies; in place it is shown, and
// its bytes are part of what is allowed.
func TestVirtualEnvironmentOfTheProject(t *testing.T) {
	python := needs(t, "python3")
	w := newWorld(t)
	if out, err := exec.Command(python, "-m", "venv", "--without-pip", w.path(".venv")).CombinedOutput(); err != nil {
		t.Skipf("no virtual environment can be made here: %s", out)
	}
	body := "#!" + w.path(".venv", "bin", "python3") + "\n# hook: events=tool-call-start can=block inPlace=%\n" + says["python3"] + "\n"
	w.hook("g", strings.Replace(body, "%", "false", 1))
	if item := w.plan().Items[0]; item.Problem == nil || !strings.Contains(item.Problem.Why, "lies inside the project") {
		t.Errorf("problem %v", item.Problem)
	}
	w.hook("g", strings.Replace(body, "%", "true", 1))
	w.allow()
	s := w.load()
	if outcome := w.fire(s.Set); outcome.Reason != "ours" {
		t.Errorf("reason %q %v", outcome.Reason, outcome.Runs)
	}
	if len(find(s, "g").Unwatched) == 0 {
		t.Error("what the interpreter loads is not said to be unwatched")
	}
	os.Remove(w.path(".venv", "bin", "python3"))
	w.write(w.path(".venv", "bin", "python3"), "#!/bin/sh\n", 0o755)
	if outcome := w.fire(w.load().Set); outcome.Failure != protocol.FailUntrusted {
		t.Errorf("failure %q", outcome.Failure)
	}
}
