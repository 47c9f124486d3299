//go:build unix

package loader

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/prove"
)

// Every word of a command that names something of the project is part of what is
// allowed, in whatever form: what it names is changed afterwards, under a set that
// goes on ruling and under a new one, and the changed code never runs.
func TestWordsOfCommandsAreWatched(t *testing.T) {
	tests := map[string]struct {
		command string
		file    string // that holds the guard
		text    string // "" for that of sh
		program string
	}{
		"a file without ending":       {`["sh","guard"]`, "guard", "", "sh"},
		"with ./":                     {`["sh","./guard"]`, "guard", "", "sh"},
		"by its absolute path":        {`["sh","ROOT/guard"]`, "guard", "", "sh"},
		"by ..":                       {`["sh","tools/../guard"]`, "guard", "", "sh"},
		"by a link into the project":  {`["sh","LINK/guard"]`, "guard", "", "sh"},
		"the program itself":          {`["./guard"]`, "guard", "#!/bin/sh\n" + says["sh"], "sh"},
		"in an option":                {`["sh","--","guard"]`, "guard", "", "sh"},
		"a module without its ending": {`["node","tools/guard"]`, "tools/guard.js", says["node"], "node"},
		"a folder with index.js":      {`["node","tools"]`, "tools/index.js", says["node"], "node"},
		"a folder with __main__.py":   {`["python3","tools"]`, "tools/__main__.py", says["python3"], "python3"},
		"a helper in that folder":     {`["python3","tools/run.py"]`, "tools/run.py", says["python3"], "python3"},
		"perl":                        {`["perl","guard"]`, "guard", says["perl"], "perl"},
		"ruby":                        {`["ruby","guard"]`, "guard", says["ruby"], "ruby"},
		"another program's option":    {`["python3","-u","guard"]`, "guard", says["python3"], "python3"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			needs(t, test.program)
			w := newWorld(t)
			mark := filepath.Join(t.TempDir(), "mark")
			link := filepath.Join(t.TempDir(), "link")
			os.Symlink(w.project, link)
			os.Mkdir(w.path("tools"), 0o755)
			text := test.text
			if text == "" {
				text = says["sh"]
			}
			w.write(w.path(test.file), text+"\n", 0o755)
			command := strings.NewReplacer("ROOT", w.project, "LINK", link).Replace(test.command)
			w.settings(`{"hooks":{"use":[{"name":"g","command":` + command + `,"events":["tool-call-start"],"can":"block"}]}}`)
			w.allow()
			s := w.load()
			if outcome := w.fire(s.Set); outcome.Reason != "ours" {
				t.Fatalf("before: %q %v", outcome.Reason, outcome.Runs)
			}
			if what := find(s, "g").Unwatched; len(what) > 0 {
				t.Errorf("it is said to run more: %q", what)
			}
			w.write(w.path(test.file), "", 0o755)
			os.Remove(w.path(test.file))
			w.write(w.path(test.file), marker(mark, "#!/bin/sh\n"), 0o755)
			if outcome := w.fire(s.Set); outcome.Reason != "ours" {
				t.Errorf("the copy does not run: %q %v", outcome.Reason, outcome.Runs)
			}
			if outcome := w.fire(w.load().Set); outcome.Failure != protocol.FailUntrusted {
				t.Errorf("after the change: %s %q %v", outcome.Action, outcome.Reason, outcome.Runs)
			}
			if exists(mark) {
				t.Error("code that nobody allowed ran")
			}
		})
	}
	prove.Figure(t, "G11", "%d words of commands whose code was changed or replaced: 0 ran", len(tests))
}

// A file that appears in a folder that a word names is a change, and so is one that
// an interpreter would take before the one that was allowed.
func TestWhatIsPlantedBesideAWord(t *testing.T) {
	for name, planted := range map[string]string{"in the folder": "tools/more.js", "before it": "tools.js"} {
		t.Run(name, func(t *testing.T) {
			needs(t, "node")
			w := newWorld(t)
			w.write(w.path("tools", "index.js"), says["node"], 0o644)
			w.settings(`{"hooks":{"use":[{"name":"g","command":["node","./tools"],"events":["tool-call-start"],"can":"block"}]}}`)
			w.allow()
			s := w.load()
			w.write(w.path(planted), "", 0o644)
			if got := status(w.load(), "g"); got != "changed!untrusted" {
				t.Errorf("status %s", got)
			}
			if outcome := w.fire(s.Set); outcome.Reason != "ours" {
				t.Errorf("reason %q %v", outcome.Reason, outcome.Runs)
			}
		})
	}
}

// Arguments of hook files and of MCP servers count as those of commands do.
func TestWordsOfFilesAndServers(t *testing.T) {
	w := newWorld(t)
	w.write(w.path("rules.txt"), "one\n", 0o644)
	w.hook("g", "#!/bin/sh\n# hook: events=tool-call-start can=block\nread -r r <\"$1\"; echo \"{\\\"action\\\":\\\"block\\\",\\\"reason\\\":\\\"$r\\\"}\"\n")
	w.settings(`{"hooks":{"use":[{"name":"g","args":["rules.txt"]}]},"agent":{"mcpServers":{"s":{"command":"sh","args":["serve","--config=rules.txt"],"env":{"RULES":"rules.txt"}}}}}`)
	w.write(w.path("serve"), "", 0o644)
	w.allow()
	s := w.load()
	w.write(w.path("rules.txt"), "two\n", 0o644)
	if outcome := w.fire(s.Set); outcome.Reason != "one" {
		t.Errorf("reason %q %v", outcome.Reason, outcome.Runs)
	}
	server := s.Set.Settings.Agent.MCPServers["s"]
	if len(server.Args) != 2 || !files.Within(w.state, server.Args[0]) || !strings.HasPrefix(server.Args[1], "--config="+w.state) {
		t.Errorf("server %+v", server)
	}
	s = w.load()
	if got := status(s, "g"); got != "changed!untrusted" {
		t.Errorf("status %s", got)
	}
	if _, is := s.Set.Settings.Agent.MCPServers["s"]; is {
		t.Error("a server whose argument changed may be started")
	}
}

// What cannot be settled is said: in the plan, in the list and as a finding.
func TestUnwatchedCodeIsNamed(t *testing.T) {
	for command, want := range map[string]string{
		`["sh","-c","sh ./guard"]`: "-c", `["sh","-ec","x"]`: "-ec", `["python3","-m","guard"]`: "-m", `["python3","-Bc","x"]`: "-Bc",
		`["node","-e","x"]`: "-e", `["node","--import","tsx","x"]`: "--import", `["perl","-e","x"]`: "-e",
		`["make","-s","guard"]`: "make", `["npm","run","-s","guard"]`: "npm", `["npx","-y","x"]`: "npx", `["/usr/bin/env","sh","guard"]`: "env",
		`["bun","x.js"]`: "bun", `["uv","run","x"]`: "uv", `["go","run","."]`: "go", `["just","x"]`: "just", `["docker","run","x"]`: "docker", `["deno","run","x.ts"]`: "deno",
		`["sh","guard","."]`: "whole project", `["cat","guard","big"]`: "too large", `["cat","--path=a:guard.d/b"]`: "guard.d/b",
		`["sh","guard"]`: "", `["true"]`: "", `["grep","-c","x"]`: "", `["sh","guard","-c"]`: "", `["python3","guard","-m"]`: "",
	} {
		t.Run(command, func(t *testing.T) {
			w := newWorld(t)
			bin := t.TempDir()
			for _, name := range strings.Fields("bun uv just docker deno npm npx make go node perl python3") {
				w.write(filepath.Join(bin, name), "\x7fELF", 0o755)
			}
			t.Setenv("PATH", bin+":/usr/bin:/bin")
			w.write(w.path("guard"), "", 0o644)
			w.write(w.path("guard.d", "b"), "", 0o644)
			if strings.Contains(command, "big") {
				for i := range bundle.MaxTreeFiles + 1 {
					w.write(w.path("big", fmt.Sprint(i)), "", 0o644)
				}
			}
			server := strings.Replace(strings.Trim(command, "["), ",", `,"args":[`, 1)
			if !strings.Contains(command, ",") {
				server = strings.Trim(command, "[]")
			}
			w.settings(`{"hooks":{"use":[{"name":"g","command":` + command + `,"events":["tool-call-start"]}]},"agent":{"mcpServers":{"s":{"command":` + server + `}}}}`)
			s := w.load()
			for _, item := range w.plan().Items {
				if item.Kind == records.KindSettings {
					continue
				}
				if got := strings.Join(item.Unwatched, "; "); (got != "") != (want != "") || !strings.Contains(got, want) {
					t.Errorf("the plan says of %s %q, want %q (%v)", item.Hook, got, want, item.Problem)
				}
			}
			if got := strings.Join(find(s, "g").Unwatched, "; "); !strings.Contains(got, want) || (got == "") != (want == "") {
				t.Errorf("the list says %q", got)
			}
			if hasFinding(s.Findings, report.Unwatched, "g") != (want != "") {
				t.Errorf("findings %v", s.Findings)
			}
		})
	}
}
