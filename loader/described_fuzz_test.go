//go:build unix

package loader

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/loader/internal/discover"
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
		for _, side := range discover.SideFiles {
			path := filepath.Join(dir, strings.TrimPrefix(side.Suffix, ".hook.")+".sh")
			if err := os.WriteFile(path+side.Suffix, text, 0o600); err != nil {
				t.Fatal(err)
			}
			d, member, findings := discover.DescribeSideFile(path, "a.sh", func(string) string { return "" })
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
