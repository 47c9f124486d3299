package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// refusing is a guard of a project that refuses everything, and tells who asked it.
const refusing = `#!/bin/sh
# hook: events=tool-call-start can=block
echo "$PPID" >>"$HOME/asked"
printf '{"action":"block","reason":"not in %s"}\n' "$(basename "$HOOK_PROJECT_DIR")"
`

// project makes a project with a guard, and allows it.
func (s *station) projectWith(name, guard string, allowed bool) string {
	s.t.Helper()
	folder := filepath.Join(s.folder, name)
	if err := os.MkdirAll(filepath.Join(folder, ".acai", "hooks"), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if guard != "" {
		if err := os.WriteFile(filepath.Join(folder, ".acai", "hooks", "house.sh"), []byte(guard), 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
	if allowed {
		c := s.command("trust", "--yes")
		c.Dir = folder
		if out, err := c.CombinedOutput(); err != nil {
			s.t.Fatalf("%v: %s", err, out)
		}
	}
	return folder
}

// The hooks of a project are asked wherever the agent starts its hook programs: Cursor does
// it in a folder of its own, and a model may have changed the working directory.
func TestBridgeAsksTheProjectThatTheAgentNames(t *testing.T) {
	t.Parallel()
	for _, with := range []string{"a daemon", "none"} {
		t.Run(with, func(t *testing.T) {
			s := newStation(t, binary)
			guarded := s.projectWith("guarded", refusing, true)
			second := s.projectWith("second", refusing, true)
			open := s.projectWith("open", "#!/bin/sh\n# hook: events=tool-call-start can=block\necho '{\"action\":\"observe\"}'\n", true)
			strange := s.projectWith("strange", refusing, false)
			daemons := map[string]*daemon{}
			if with == "a daemon" {
				daemons["/"] = s.daemonIn("/", "nobody else")
				daemons[open] = s.daemonIn(open, "nobody else")
				daemons[second] = s.daemonIn(second, "nobody else")
			}
			away := filepath.Join(s.home, ".cursor")
			if err := os.MkdirAll(away, 0o755); err != nil {
				t.Fatal(err)
			}
			claude := func(cwd string) string {
				return `{"session_id":"s","cwd":"` + cwd + `","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"allowed"}}`
			}
			cursor := func(cwd string, roots ...string) string {
				return `{"conversation_id":"s","workspace_roots":["` + strings.Join(roots, `","`) + `"],"hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{"command":"allowed"},"tool_use_id":"c","cwd":"` + cwd + `"}`
			}
			for name, test := range map[string]struct {
				dir, agent, input, variable, says string
			}{
				"its open folder":                 {dir: away, agent: "cursor", input: cursor("", guarded), says: "not in guarded"},
				"the second open folder":          {dir: away, agent: "cursor", input: cursor("", open, guarded), says: "not in guarded"},
				"the folder of the command":       {dir: away, agent: "cursor", input: cursor(guarded, open), says: "not in guarded"},
				"a folder that is gone":           {dir: away, agent: "cursor", input: cursor("", filepath.Join(guarded, "gone", "deep")), says: "not in guarded"},
				"its variable":                    {dir: open, agent: "claude", input: claude(open), variable: "CLAUDE_PROJECT_DIR=" + guarded, says: "not in guarded"},
				"its variable, outside of any":    {dir: "/", agent: "claude", input: claude("/"), variable: "CLAUDE_PROJECT_DIR=" + guarded, says: "not in guarded"},
				"another agent's variable":        {dir: open, agent: "claude", input: claude(open), variable: "GEMINI_PROJECT_DIR=" + guarded},
				"its working directory":           {dir: "/", agent: "claude", input: claude(guarded), says: "not in guarded"},
				"nobody allowed it":               {dir: away, agent: "cursor", input: cursor("", strange), says: "(untrusted)"},
				"one that nobody allowed besides": {dir: open, agent: "claude", input: claude(strange)},
				"two":                             {dir: second, agent: "claude", input: claude(guarded), says: "not in second"},
				"none":                            {dir: "/", agent: "claude", input: claude("/nowhere/at/all")},
				"nonsense":                        {dir: open, agent: "cursor", input: cursor("x\\u0000y", "", "relative", "/\\u0000", strings.Repeat("/x", 5000))},
			} {
				event := map[string]string{"claude": "PreToolUse", "cursor": "preToolUse"}[test.agent]
				for door, c := range s.doors(test.agent, event) {
					c.Dir = test.dir
					c.Env = append(c.Env, "WHO=nobody else")
					if test.variable != "" {
						c.Env = append(c.Env, test.variable)
					}
					a := s.run(c, test.input)
					d := daemons[test.dir]
					if test.dir == away {
						d = daemons["/"] // it lies in no project
					}
					if d != nil && door == "messenger" && test.says != "(untrusted)" && !s.byDaemon(d.Process.Pid) {
						t.Errorf("%s: the daemon was not asked", name)
					}
					refused := a.refused() || strings.Contains(a.stdout, `"permission":"deny"`)
					if refused != (test.says != "") || !strings.Contains(a.stdout, test.says) {
						t.Errorf("%s, %s: %+v", name, door, a)
					}
				}
			}
		})
	}
}
