package places

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A link of a clone does not lead what init and new write out of the project.
func TestWritingStaysInTheProject(t *testing.T) {
	for name, test := range map[string]struct {
		links map[string]string // in the project, by what they lead to
		says  string            // "": the folder is taken
	}{
		"nothing there":     {},
		"a link inside":     {links: map[string]string{".acai": "shared"}},
		"the folder":        {links: map[string]string{".acai": "../home/.acai"}, says: "outside of this project"},
		"the hooks":         {links: map[string]string{".acai/hooks": "../../home/.acai/hooks"}, says: "outside of this project"},
		"to nothing":        {links: map[string]string{".acai/hooks": "../../home/none"}, says: "leads nowhere"},
		"the folder itself": {links: map[string]string{".acai": "../home/none"}, says: "leads nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			project := filepath.Join(top, "project")
			for _, folder := range []string{"home/.acai/hooks", "project/shared/hooks"} {
				if err := os.MkdirAll(filepath.Join(top, folder), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for link, target := range test.links {
				link = filepath.Join(project, link)
				if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(filepath.FromSlash(target), link); err != nil {
					t.Skip("this user may make no symbolic links, as on Windows without developer mode; CI tests it on Linux")
				}
			}
			got, err := (&Project{Folder: project}).WriteFolder()
			switch {
			case test.says == "" && (err != nil || got != project):
				t.Errorf("%q, %v", got, err)
			case test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)):
				t.Errorf("%q, %v, want %q", got, err, test.says)
			}
		})
	}
}
