//go:build unix

package integration

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/test/prove"
)

// dump is a hook that writes down all that it can see of its surroundings.
const dump = `{ env; tr '\0' '\n' </proc/$$/environ; tr '\0' '\n' </proc/$$/cmdline; ls -l /proc/$$/fd; for n in 3 4 5 6 7 8 9; do (cat <&$n); done; } >>"$HOOK_PROJECT_DIR/seen" 2>/dev/null; true
`

// secretNames are variables that hold secrets on machines of developers.
var secretNames = []string{
	"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "NPM_TOKEN", "PGPASSWORD",
	"SSH_AUTH_SOCK", "VAULT_TOKEN", "DATABASE_URL", "KUBECONFIG", "DOCKER_AUTH_CONFIG", "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_CLIENT_SECRET", "SLACK_TOKEN",
	"HOOK_SECRET", "HOOKD_KEY", "XDG_SECRET", "LD_PRELOAD_CANARY", "PYTHONPATH", "NODE_OPTIONS", "PERL5LIB", "GIT_DIR", "GIT_ASKPASS", "BASH_ENV", "ENV_SECRET", "HISTFILE",
}

// G19: secrets of the host, in its environment, its open files and its events,
// reach no hook, no tool and no record unless they are named.
func TestCanariesAreNotSeen(t *testing.T) {
	b := newBox(t)
	canary := func(n int) string { return fmt.Sprintf("canary-%03d-", n) + strings.Repeat("x", 8) }
	planted := 0
	env := []string{"NAMED_KEY=named-canary"}
	for ; planted < 150; planted++ {
		name := fmt.Sprintf("SECRET_%d", planted)
		if planted < len(secretNames) {
			name = secretNames[planted]
		}
		env = append(env, name+"="+canary(planted))
	}
	var open []*os.File
	for range 10 {
		path := filepath.Join(b.folder, fmt.Sprint("open", planted))
		if err := os.WriteFile(path, []byte(canary(planted)), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		open = append(open, f)
		planted++
	}
	b.script(t, "dump.sh", "#!/bin/sh\n# hook: events=tool-call-start,prompt-submit can=modify env=NAMED_KEY timeout=30s\n"+dump)
	b.script(t, "asked.sh", "#!/bin/sh\n"+dump+`test "$HOOK_ACTION" != describe || echo '{"events":["tool-call-start"],"can":"block"}'`+"\n")
	b.script(t, "changes.sh", "#!/bin/sh\n# hook: events=tool-call-start match.tool=edit can=modify timeout=30s\necho '{\"action\":\"modify\",\"changes\":{\"args\":{\"command\":\""+canary(planted)+"\"}}}'\n")
	planted++
	var args []string
	for ; planted < 205; planted++ {
		args = append(args, fmt.Sprintf(`"key%d":%q`, planted, canary(planted)))
	}
	fire := b.command("fire", "tool-call-start", "--session", "s1", "--data", `{"toolCallId":"c1","name":"edit","kind":"write","args":{`+strings.Join(args, ",")+`}}`)
	// A tool of the loop gets what hooks get.
	model := filepath.Join(b.project, "model.yaml")
	tool := strings.ReplaceAll(strings.TrimSpace(dump), "$HOOK_PROJECT_DIR", b.project)
	if err := os.WriteFile(model, []byte("turns:\n  - toolCalls:\n      - {name: bash, args: {command: "+fmt.Sprintf("%q", tool)+"}}\n  - text: done\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := b.command("run", "--allow", "bash,write,mcp", "go", "--model", "scripted:"+model)
	for i, c := range []*exec.Cmd{fire, run} {
		c.Env, c.ExtraFiles = append(c.Env, env...), open
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("command %d: %v\n%s", i, err, out)
		}
	}
	seen, err := os.ReadFile(filepath.Join(b.project, "seen"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(seen), "PATH="); n < 3 {
		t.Errorf("only %d dumps; this proof looks at too little", n)
	}
	if !strings.Contains(string(seen), "named-canary") {
		t.Error("the variable that was named is not there")
	}
	found := strings.Count(string(seen), "canary-")
	if found > 0 {
		t.Errorf("%d canaries were seen:\n%s", found, seen)
	}
	files := 0
	walk := func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		// What the hooks that were copied say themselves is no secret of the host.
		if files++; strings.Contains(string(text), "canary-") && !strings.Contains(path, "/store/") {
			found++
			t.Errorf("%s holds a canary:\n%s", strings.TrimPrefix(path, b.folder), text)
		}
		return err
	}
	if err := filepath.WalkDir(filepath.Join(b.folder, "state"), walk); err != nil {
		t.Fatal(err)
	}
	if files < 2 {
		t.Errorf("only %d files of state", files)
	}
	prove.Figure(t, "G19", "%d canaries in variables, open files, events and changes: %d seen by hooks, the asking for a description, tools, or in %d files of state", planted, found, files)
}
