//go:build interop && unix

package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestDocumentedHooks: the examples of Gemini CLI's own page about hooks run in hookd's loop
// as that page gives them: the one refuses a secret in a file, the other adds the project's
// history to the prompt.
func TestDocumentedHooks(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("the example needs jq")
	}
	page, err := os.ReadFile(filepath.Join(peer(t, "@google/gemini-cli@latest"), "bundle", "docs", "hooks", "writing-hooks.md"))
	if err != nil {
		t.Skipf("the package has no such page any more: %v", err)
	}
	b := newBox(t)
	hook := func(name, header string) {
		found := regexp.MustCompile("(?s)`\\.gemini/hooks/" + regexp.QuoteMeta(name) + "`:\\*\\*\n\n```bash\n(#![^\n]*\n)(.*?)```").FindStringSubmatch(string(page))
		if found == nil {
			t.Skipf("the page has no example %s any more", name)
		}
		b.write(t, "home/.acai/hooks/"+name, found[1]+header+"\n"+found[2], 0o755)
	}
	hook("block-secrets.sh", "# hook: dialect=gemini events=BeforeTool matcher=write_file|replace")
	hook("inject-context.sh", "# hook: dialect=gemini events=BeforeAgent")
	k := b.talk(t, `turns:
- expect: [{in: messages, contains: "Recent commits:"}]
  toolCalls:
  - {id: keys, name: write_file, args: {path: keys.txt, content: "api_key = 1"}}
  - {id: plain, name: write_file, args: {path: plain.txt, content: nothing to hide}}
- expect: [{in: "toolResult:keys", contains: Potential secret detected in content}]
  text: all is done
`)
	k.say(`{"prompt":"go"}`)
	k.result("done")
	k.end()
	if _, err := os.Stat(filepath.Join(b.project, "keys.txt")); err == nil {
		t.Error("the file with a key in it was written")
	}
	if _, err := os.Stat(filepath.Join(b.project, "plain.txt")); err != nil {
		t.Errorf("a file that the hook does not mind: %v", err)
	}
}
