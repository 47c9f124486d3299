//go:build unix

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSafeGitRunsNothing holds the function of docs/hooks.md against a repository whose
// settings make git run a program wherever it can.
func TestSafeGitRunsNothing(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	docs, err := os.ReadFile("../../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, function, found := strings.Cut(string(docs), "```sh\nsafe_git() (")
	function, _, _ = strings.Cut(function, "```")
	if !found {
		t.Fatal("docs/hooks.md has no safe_git")
	}
	function = "safe_git() (" + function
	folder := t.TempDir()
	repo, ran, evil := filepath.Join(folder, "repo"), filepath.Join(folder, "ran"), filepath.Join(folder, "evil")
	run := func(script string) string {
		t.Helper()
		c := exec.Command("sh", "-c", script)
		c.Dir, c.Env = repo, append(os.Environ(), "HOME="+folder, "GIT_CONFIG_NOSYSTEM=1", "EVIL="+evil)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", script, err, out)
		}
		return string(out)
	}
	for _, dir := range []string{repo, filepath.Join(folder, "hooks")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho \"$*\" >>"+ran+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	run(`git init -q . && git config user.name x && git config user.email x@example.org && echo a >a && git add a && git commit -qm one
for key in core.fsmonitor core.sshCommand core.pager core.editor core.askPass diff.external gpg.program pager.status pager.log pager.diff \
  filter.x.clean filter.x.smudge filter.x.process diff.x.textconv diff.x.command remote.origin.uploadpack credential.helper; do git config $key "$EVIL"; done
git config filter.x.required true; git config log.showSignature true; git config core.hooksPath "$HOME/hooks"
for hook in post-index-change pre-commit reference-transaction fsmonitor-watchman; do cp "$EVIL" "$HOME/hooks/$hook"; done
echo '* filter=x diff=x' >.gitattributes; mkdir -p .git/info; cp .gitattributes .git/info/attributes; echo b >>a`)
	for _, command := range []string{
		"status --porcelain", "diff", "diff --stat", "diff --name-only", "diff-index HEAD", "diff-files -p", "log -1", "log -p -1", "show HEAD",
		"ls-files -m", "rev-parse HEAD", "branch --show-current",
	} {
		if out := run("touch a; " + function + "\nsafe_git " + command + " </dev/null"); out == "" {
			t.Errorf("git %s printed nothing", command)
		}
		if log, err := os.ReadFile(ran); err == nil {
			t.Errorf("git %s ran: %s", command, log)
			os.Remove(ran)
		}
	}
	// The repository is hostile indeed.
	_ = exec.Command("git", "-C", repo, "diff").Run()
	if _, err := os.Stat(ran); err != nil {
		t.Error("git by itself ran nothing: the repository of this test is harmless")
	}
}
