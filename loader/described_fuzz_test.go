//go:build unix

package loader

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// FuzzSideFile reads arbitrary text as the file beside a hook, in both formats.
// It must end in a description within every range or in a finding.
func FuzzSideFile(f *testing.F) {
	f.Add([]byte("events: [tool-call-start]\ncan: block\ntimeout: 5s\nmatch: {tool: [bash, /^git/]}\n"))
	f.Add([]byte(`{"events":["tool-call-start"],"can":"block","onFailure":"block","run":"resident","files":["lib/*.sh"]}`))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("events: \"*\"\nevents: []\n"))
	f.Add([]byte("? {a: b}\n: !!binary x\n---\n- 1\n"))
	for _, tt := range entryMistakes {
		f.Add([]byte(tt.entry))
	}
	dir := f.TempDir()
	effective, _ := settings.Merge()
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, side := range sideFiles {
			path := filepath.Join(dir, strings.TrimPrefix(side.suffix, ".hook.")+".sh")
			if err := os.WriteFile(path+side.suffix, text, 0o600); err != nil {
				t.Fatal(err)
			}
			d, member, findings := describeSideFile(path, "a.sh")
			if member == "" {
				t.Fatal("the side file was not seen")
			}
			resolved, more := schema.Resolve(schema.DefaultsFor(&effective, protocol.Project, "a.sh", ""), d)
			checkResolved(t, resolved)
			if resolved.Rejected && len(findings)+len(more) == 0 {
				t.Fatal("a hook was rejected and nothing reported")
			}
		}
	})
}

// FuzzTrustRecords reads arbitrary text as a person's decisions about a project.
// Whatever it says, a record vouches for nothing but the bundle that it lists.
func FuzzTrustRecords(f *testing.F) {
	const project = "/p"
	dir := f.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		f.Fatal(err)
	}
	r := records.Folder{Dir: dir}
	for _, seed := range []string{
		`{"v":1,"project":"/p","hooks":[],"disabled":[]}`,
		`{"v":1,"project":"/p","hooks":[{"hook":"a.sh","decision":"denied","hash":"","at":"2026-11-28T00:00:00Z","bundle":{}}],"disabled":[]}`,
		`{"v":1,"project":"/p","hooks":[{"hook":"a.sh","decision":"allowed","hash":"sha256:00","at":"2026-11-28T00:00:00Z","bundle":{}}],"disabled":[]}`,
		`{"v":1,"project":"/p","disabled":[{"layer":"user","hook":"a.sh","at":"2026-11-28T00:00:00Z","until":null}]}`,
		`{"v":2}`, `null`, `[`, "",
	} {
		f.Add([]byte(seed))
	}
	whole := records.Record{Hook: "guard.sh", Decision: records.Allowed, Bundle: bundle.Bundle{Entry: []byte(`{"can":"block"}`)}}
	if err := whole.Bundle.Seal(); err != nil {
		f.Fatal(err)
	}
	whole.Hash = whole.Bundle.Hash
	seed, err := json.Marshal(records.Decisions{V: 1, Project: project, Hooks: []records.Record{whole}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(r.File(project), text, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := r.Load(project)
		if err != nil {
			return
		}
		for _, hook := range d.Hooks {
			again := hook.Bundle
			if err := again.Seal(); hook.Decision != records.Denied && (err != nil || again.Hash != hook.Hash) {
				t.Fatalf("%s is allowed by a record of another bundle: %v", hook.Hook, err)
			}
		}
	})
}
