//go:build unix

package loader

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/prove"
)

// Programs of user and machine never run a file of a project, however its name
// comes to be looked for there.
func TestProgramsOfUserAndMachineDoNotRunTheProject(t *testing.T) {
	tests := map[string]struct {
		command string
		planted []string
		program string
	}{
		"a relative script":         {`["sh","tools/lint.sh"]`, []string{"tools/lint.sh"}, "sh"},
		"a script without a slash":  {`["sh","lint"]`, []string{"lint"}, "sh"},
		"a module":                  {`["python3","-m","companyguard"]`, []string{"companyguard.py", "companyguard/__main__.py"}, "python3"},
		"a module of the library":   {`["python3","-m","json.tool"]`, []string{"json.py", "json/tool.py", "json/__init__.py"}, "python3"},
		"an import of a one-liner":  {`["python3","-c","import json"]`, []string{"json.py"}, "python3"},
		"a package of node":         {`["node","-e","require('company')"]`, []string{"node_modules/company/index.js"}, "node"},
		"a module of perl":          {`["perl","-e","require './guard.pl'"]`, []string{"guard.pl"}, "perl"},
		"a program by its path":     {`["./guard"]`, []string{"guard"}, "sh"},
		"a program of node_modules": {`["guard"]`, []string{"node_modules/.bin/guard", "guard"}, "sh"},
		"a startup file":            {`["sh","-c",". ./env.sh"]`, []string{"env.sh"}, "sh"},
	}
	code := func(name, mark string) string {
		switch filepath.Ext(name) {
		case ".py":
			return "open('" + mark + "', 'w')\n"
		case ".js":
			return "require('fs').writeFileSync('" + mark + "', '')\n"
		case ".pl":
			return "open(F, '>', '" + mark + "');\n"
		}
		return marker(mark, "#!/bin/sh\n")
	}
	for name, test := range tests {
		for _, layer := range []protocol.Layer{protocol.User, protocol.Managed} {
			t.Run(name+" of "+string(layer), func(t *testing.T) {
				needs(t, test.program)
				w := newWorld(t)
				mark := filepath.Join(t.TempDir(), "mark")
				for _, file := range test.planted {
					w.write(w.path(file), code(file, mark), 0o755)
				}
				settings := `{"hooks":{"use":[{"name":"g","command":` + test.command + `,"events":["tool-call-start"],"can":"block"}]}}`
				if layer == protocol.User {
					w.userSettings(settings)
				} else {
					w.write(filepath.Join(w.managed, "acai.json"), settings, 0o644)
				}
				t.Setenv("PATH", w.path("node_modules", ".bin")+":"+w.project+":"+os.Getenv("PATH"))
				t.Setenv("PYTHONPATH", w.project)
				opts := w.options()
				for _, cwd := range []string{w.project, w.path(".acai")} {
					opts.Cwd = cwd
					s, err := Load(context.Background(), opts)
					if err != nil {
						t.Fatal(err)
					}
					w.fire(s.Set)
				}
				if exists(mark) {
					t.Error("code of the project ran")
				}
			})
		}
	}
	prove.Figure(t, "G11", "%d programs of user and machine among files planted for them: 0 ran one", 2*len(tests))
}

// What relative words mean is beside the settings; where the hook starts is no
// place of the project; and the project is told all the same.
func TestWhereHooksOfTheUserStart(t *testing.T) {
	w := newWorld(t)
	w.write(filepath.Join(w.home, ".acai", "tools", "g.sh"), `echo "{\"action\":\"block\",\"reason\":\"$PWD $HOOK_PROJECT_DIR $1\"}"`+"\n", 0o644)
	w.write(filepath.Join(w.home, ".acai", "rules"), "", 0o644)
	w.userSettings(`{"hooks":{"use":[{"name":"g","command":["sh","tools/g.sh","rules"],"events":["tool-call-start"],"can":"block"}]}}`)
	want := filepath.Join(w.state, "start") + " " + w.project + " " + filepath.Join(w.home, ".acai", "rules")
	if outcome := w.fire(w.load().Set); outcome.Reason != want {
		t.Errorf("reason %q, want %q %v", outcome.Reason, want, outcome.Runs)
	}
	st, err := os.Stat(filepath.Join(w.state, "start"))
	if err != nil || st.Mode().Perm() != 0o500 {
		t.Errorf("%v %v", st, err)
	}
	// Something was put there: it is not believed.
	t.Cleanup(func() { os.Chmod(filepath.Join(w.state, "start"), 0o700) })
	os.Chmod(filepath.Join(w.state, "start"), 0o700)
	w.write(filepath.Join(w.state, "start", "json.py"), "", 0o644)
	s := w.load()
	if outcome := w.fire(s.Set); !strings.HasPrefix(outcome.Reason, "/ ") || !hasFinding(s.Findings, report.OwnFolder, "") {
		t.Errorf("reason %q, findings %v", outcome.Reason, s.Findings)
	}
	// The machine's start in the root folder, whatever the state folder holds.
	w.write(filepath.Join(w.managed, "hooks", "m"), "#!/bin/sh\n# hook: events=tool-call-end can=block\n"+`echo "{\"action\":\"block\",\"reason\":\"$PWD $HOME ${https_proxy-none} ${SSL_CERT_FILE-none} $PYTHONNOUSERSITE\"}"`+"\n", 0o755)
	t.Setenv("HOME", w.home)
	t.Setenv("https_proxy", "http://127.0.0.1:1")
	t.Setenv("SSL_CERT_FILE", "/x")
	outcome := w.fireEvent(w.load().Set, protocol.ToolCallEnd, `{"toolCallId":"c1","name":"bash","kind":"shell","args":{},"result":{"content":"x","isError":false},"durationMs":1,"synthetic":false}`)
	if !strings.HasPrefix(outcome.Reason, "/ ") || strings.Contains(outcome.Reason, w.home) || !strings.HasSuffix(outcome.Reason, " none none 1") {
		t.Errorf("reason %q", outcome.Reason)
	}
}

// dir: project counts only where a person allowed the project.
func TestDirOfTheProject(t *testing.T) {
	w := newWorld(t)
	hook := "#!/bin/sh\n# hook: events=tool-call-start can=block dir=project\n" + `echo "{\"action\":\"block\",\"reason\":\"$PWD\"}"` + "\n"
	w.userHook("g", hook)
	s := w.load()
	if outcome := w.fire(s.Set); outcome.Failure != protocol.FailSpawn || !hasFinding(s.Findings, report.DirNotAllowed, "g") {
		t.Errorf("failure %q, %v", outcome.Failure, s.Findings)
	}
	w.userSettings(`{"hooks":{"trust":{"always":["` + w.project + `"]}}}`)
	if outcome := w.fire(w.load().Set); outcome.Reason != w.project {
		t.Errorf("below trust.always: %q", outcome.Reason)
	}
	w.userSettings(`{}`)
	w.hook("o", "#!/bin/sh\n# hook: events=session-end can=observe\n")
	w.allow()
	if outcome := w.fire(w.load().Set); outcome.Reason != w.project {
		t.Errorf("allowed: %q", outcome.Reason)
	}
	// In the project's own settings it means nothing.
	w.hook("own", "#!/bin/sh\n# hook: events=tool-call-end dir=own\n")
	w.allow()
	if !hasFinding(w.load().Findings, "field-without-effect", "own") {
		t.Error("nothing says that dir means nothing there")
	}
}

// A hook of the user whose file is one of the project's does not run there.
func TestUserHooksThatLieInTheProject(t *testing.T) {
	w := newWorld(t)
	mark := filepath.Join(t.TempDir(), "mark")
	w.write(w.path("tools", "g"), marker(mark, guardHeader), 0o755)
	os.MkdirAll(filepath.Join(w.home, ".acai", "hooks"), 0o755)
	os.Symlink(w.path("tools", "g"), filepath.Join(w.home, ".acai", "hooks", "g"))
	if outcome := w.fire(w.load().Set); outcome.Failure != protocol.FailSpawn || exists(mark) {
		t.Errorf("failure %q, ran %v", outcome.Failure, exists(mark))
	}
	// Reached by a link of an argument, and as an interpreter.
	os.Symlink(w.path("tools"), filepath.Join(w.home, ".acai", "tools"))
	os.Remove(filepath.Join(w.home, ".acai", "hooks", "g"))
	w.userSettings(`{"hooks":{"use":[{"name":"c","command":["sh","./tools/g"],"events":["tool-call-start"],"can":"block"}]}}`)
	w.userHook("i", "#!"+w.path("tools", "g")+"\n# hook: events=tool-call-start can=block\n")
	s := w.load()
	if got := status(s, "c") + " " + status(s, "i"); got != "broken!spawn broken!spawn" {
		t.Errorf("statuses %s", got)
	}
	if w.fire(s.Set); exists(mark) {
		t.Error("it ran")
	}
	os.Remove(filepath.Join(w.home, ".acai", "acai.json"))
	os.Remove(filepath.Join(w.home, ".acai", "hooks", "i"))
	os.Symlink(w.path("tools", "g"), filepath.Join(w.home, ".acai", "hooks", "g"))
	// The same in a checkout that is no project of hookd's.
	os.RemoveAll(w.path(".acai"))
	os.Mkdir(w.path(".git"), 0o755)
	opts := w.options()
	opts.Project = ""
	s, err := Load(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if outcome := w.fire(s.Set); outcome.Failure != protocol.FailSpawn || exists(mark) {
		t.Errorf("without .acai: failure %q, ran %v", outcome.Failure, exists(mark))
	}
}

// Servers of the user start in that folder, too, and are told of the project only
// where it was allowed.
func TestServersOfTheUser(t *testing.T) {
	w := newWorld(t)
	w.userSettings(`{"agent":{"mcpServers":{"plain":{"command":"sh","args":["x"]},"told":{"command":"sh","args":["${project}"]}}}}`)
	s := w.load()
	servers := s.Set.Settings.Agent.MCPServers
	if servers["plain"].Dir != filepath.Join(w.state, "start") {
		t.Errorf("it starts in %s", servers["plain"].Dir)
	}
	if _, is := servers["told"]; is || !hasFinding(s.Findings, report.ResourceUnusable, "mcpServers/told") {
		t.Errorf("a server is told of a project that nobody allowed; findings %v", s.Findings)
	}
	w.hook("o", "#!/bin/sh\n# hook: events=session-end can=observe\n")
	w.allow()
	s = w.load()
	if got := s.Set.Settings.Agent.MCPServers["told"].Args; len(got) != 1 || got[0] != w.project {
		t.Errorf("args %q", got)
	}
	for _, m := range s.Resources {
		if m.KnowsProject != (m.Name == "told") {
			t.Errorf("%s: given %v", m.Name, m.KnowsProject)
		}
	}
}

// A server of a project sets no variable by which it would load other code.
func TestServersOfTheProjectSetNoCode(t *testing.T) {
	for env, bad := range map[string]bool{`{"PYTHONPATH":"lib"}`: true, `{"PATH":"./bin"}`: true, `{"LD_PRELOAD":"x.so"}`: true, `{"TOKEN":"lib"}`: false, `{"NODE_ENV":"test"}`: false} {
		w := newWorld(t)
		w.settings(`{"agent":{"mcpServers":{"s":{"command":"sh","args":["x"],"env":` + env + `}}}}`)
		if item := planItem(w.plan(), "mcpServers/s"); (item.Problem != nil) != bad {
			t.Errorf("%s: %v", env, item.Problem)
		}
	}
}

// Variables by which programs load code reach no hook of a project, though its
// settings name them: their value is whatever started hookd had.
func TestVariablesThatLoadCodeAreNotPassed(t *testing.T) {
	w := newWorld(t)
	t.Setenv("PYTHONPATH", w.project)
	t.Setenv("MY_TOKEN", "x")
	w.hook("g", "#!/bin/sh\n# hook: events=tool-call-start can=block env=PYTHONPATH,MY_TOKEN\n"+`echo "{\"action\":\"block\",\"reason\":\"${PYTHONPATH-none}$MY_TOKEN\"}"`+"\n")
	w.allow()
	s := w.load()
	if outcome := w.fire(s.Set); outcome.Reason != "nonex" || !hasFinding(s.Findings, report.NotPassed, "g") {
		t.Errorf("reason %q, findings %v", outcome.Reason, s.Findings)
	}
}

// PATH of hooks leaves out what lies in some checkout, and version managers stay.
func TestFoldersOfCheckoutsAreNotOnPATH(t *testing.T) {
	w := newWorld(t)
	other := filepath.Join(w.home, "work", "other")
	os.MkdirAll(filepath.Join(other, ".git"), 0o755)
	venv, nvm, local := filepath.Join(other, ".venv", "bin"), filepath.Join(w.home, ".nvm", "bin"), filepath.Join(w.home, "bin")
	for _, dir := range []string{venv, nvm, local, filepath.Join(w.home, ".nvm", ".git"), filepath.Join(w.home, ".git")} {
		os.MkdirAll(dir, 0o755)
	}
	t.Setenv("PATH", venv+":"+nvm+":"+local+":/usr/bin:/bin:/usr/bin")
	w.userHook("g", "#!/bin/sh\n# hook: events=tool-call-start can=block\n"+`echo "{\"action\":\"block\",\"reason\":\"$PATH\"}"`+"\n")
	if outcome := w.fire(w.load().Set); outcome.Reason != nvm+":"+local+":/usr/bin:/bin" {
		t.Errorf("PATH %q", outcome.Reason)
	}
}

// check names hooks of the user that take the project for their working directory.
func TestAdviceForHooksOfTheUser(t *testing.T) {
	for text, want := range map[string]bool{
		"git status\n": true, "x=$(git rev-parse HEAD)\n": true, "cat ./Makefile\n": true, "# git is not called\ntrue\n": false,
		"git -C \"$HOOK_PROJECT_DIR\" status\n": false, "cd \"$HOOK_PROJECT_DIR\" && git status\n": false, "echo digits\n": false,
	} {
		w := newWorld(t)
		w.userHook("g", guardHeader+text)
		if got := hasFinding(Advice(w.load()), report.StartsElsewhere, "g"); got != want {
			t.Errorf("%q: %v", text, got)
		}
		w.userHook("g", strings.Replace(guardHeader, "can=block", "can=block dir=project", 1)+text)
		if hasFinding(Advice(w.load()), report.StartsElsewhere, "g") {
			t.Errorf("%q with dir=project is named", text)
		}
	}
}
