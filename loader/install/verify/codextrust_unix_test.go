//go:build unix

package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/loader/install"
	"github.com/hookd-dev/hookd/loader/install/internal/configtext"
)

// The keys and hashes are those that Codex 0.171 itself wrote for this file when it was
// told to trust every hook in it (config/batchWrite with what hooks/list said).
func TestTrustHashesAreThoseOfCodex(t *testing.T) {
	hooks, config := golden(t, "hooks.json"), golden(t, "config.toml")
	w := newWorld(t)
	file := filepath.Join(w.home, ".codex", "hooks.json")
	w.write(file, hooks, 0o644)
	w.homeFile(".codex/config.toml", strings.ReplaceAll(config, "${FILE}", file))
	s := (&Verifier{Installer: w.installer, State: w.state}).subject(install.Find("codex"), install.User)
	if found := untrustedHooks(s); len(found) > 0 {
		t.Errorf("all are trusted, and: %+v", found)
	}

	// With a link on the way Codex names the real folder, or the one that HOME leads to.
	other := newWorld(t)
	if err := os.Symlink(filepath.Join(w.home, ".codex"), filepath.Join(other.home, ".codex")); err != nil {
		t.Fatal(err)
	}
	s = (&Verifier{Installer: other.installer, State: other.state}).subject(install.Find("codex"), install.User)
	if found := untrustedHooks(s); len(found) > 0 {
		t.Errorf("all are trusted through a link, and: %+v", found)
	}

	// Each part of a definition counts, and only the hook that was changed is named.
	for _, change := range [][2]string{
		{`PermissionRequest"}`, `PermissionRequest", "timeout": 7}`},
		{`codex PermissionRequest"`, `codex PermissionRequest --limit 9s"`},
		{`"PermissionRequest": [{"matcher": "x"`, `"PermissionRequest": [{"matcher": "y"`},
		{`"PermissionRequest": [{"matcher": "x", `, `"PermissionRequest": [{`},
		{`PermissionRequest"}`, `PermissionRequest", "statusMessage": "new"}`},
		{`PermissionRequest"}`, `PermissionRequest", "async": true}`},
	} {
		w.write(file, strings.Replace(hooks, change[0], change[1], 1), 0o644)
		s = (&Verifier{Installer: w.installer, State: w.state}).subject(install.Find("codex"), install.User)
		found := untrustedHooks(s)
		if len(found) != 1 || found[0].doubt || !strings.Contains(found[0].problem.Text, "another form of hookd's hooks for PermissionRequest:") {
			t.Errorf("%s: %+v", change[1], found)
		}
	}
	// A hook that moved in its list has another key: Codex does not know it.
	w.write(file, strings.Replace(hooks, `"PermissionRequest": [`, `"PermissionRequest": [{"hooks": []}, `, 1), 0o644)
	s = (&Verifier{Installer: w.installer, State: w.state}).subject(install.Find("codex"), install.User)
	if found := untrustedHooks(s); len(found) != 1 || !strings.Contains(found[0].problem.Text, "1 of the 9 hooks of hookd") {
		t.Errorf("moved: %+v", found)
	}
}

func golden(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "codex", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// trustCodex has Codex trust a number of the hooks of ours in a file, as they are now.
func (w *world) trustCodex(file string, number int) {
	w.t.Helper()
	root := parse(file)
	var text strings.Builder
	for _, event := range root.Get("hooks").Members {
		for group, g := range event.Value.Items {
			for i, h := range g.Get("hooks").Items {
				hook := codexHook{event.Name, group, i, textNode(g.Get("matcher")), h}
				if number--; number >= 0 {
					fmt.Fprintf(&text, "[hooks.state.%q]\ntrusted_hash = %q\n", hook.key(file), hook.hash("linux"))
				}
			}
		}
	}
	w.homeFile(".codex/config.toml", text.String())
	if parse(filepath.Join(w.home, ".codex/config.toml")).Find(configtext.Names("hooks", "state")) == nil && text.Len() > 0 {
		w.t.Fatal("no state was written")
	}
}
