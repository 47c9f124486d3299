package records

import (
	"os"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
)

// FuzzTrustRecords reads arbitrary text as a person's decisions about a project.
// Whatever it says, a record vouches for nothing but the bundle that it lists.
func FuzzTrustRecords(f *testing.F) {
	const project = "/p"
	dir := f.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		f.Fatal(err)
	}
	r := Folder{Dir: dir}
	for _, seed := range []string{
		`{"v":1,"project":"/p","hooks":[],"disabled":[]}`,
		`{"v":1,"project":"/p","hooks":[{"hook":"a.sh","decision":"denied","hash":"","at":"2026-11-28T00:00:00Z","bundle":{}}],"disabled":[]}`,
		`{"v":1,"project":"/p","hooks":[{"hook":"a.sh","decision":"allowed","hash":"sha256:00","at":"2026-11-28T00:00:00Z","bundle":{}}],"disabled":[]}`,
		`{"v":1,"project":"/p","disabled":[{"layer":"user","hook":"a.sh","at":"2026-11-28T00:00:00Z","until":null}]}`,
		`{"v":2}`, `null`, `[`, "",
	} {
		f.Add([]byte(seed))
	}
	whole := Record{Hook: "guard.sh", Decision: Allowed, Bundle: bundle.Bundle{Entry: []byte(`{"can":"block"}`)}}
	if err := whole.Bundle.Seal(); err != nil {
		f.Fatal(err)
	}
	whole.Hash = whole.Bundle.Hash
	seed, err := json.Marshal(Decisions{V: 1, Project: project, Hooks: []Record{whole}})
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
			if err := again.Seal(); hook.Decision != Denied && (err != nil || again.Hash != hook.Hash) {
				t.Fatalf("%s is allowed by a record of another bundle: %v", hook.Hook, err)
			}
		}
	})
}
