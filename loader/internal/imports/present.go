package imports

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/settings"
)

// Present returns the first of the agent's settings files below a folder in which hooks
// are, "" if there is none. It is for a hint, and judges nothing.
func (a *Agent) Present(scope Scope, folder string) string {
	if a.Folder != "" {
		if entries, _ := os.ReadDir(filepath.Join(folder, filepath.FromSlash(a.Folder))); len(entries) > 0 {
			return a.Folder
		}
	}
	for _, name := range a.Files[scope] {
		found, _ := filepath.Glob(filepath.Join(folder, filepath.FromSlash(name)))
		for _, file := range found {
			text, err := settings.ReadText(file)
			if err != nil {
				continue
			}
			if hooks, _, _ := a.Read([]Text{{File: file, Format: FormatOf(file), Bytes: text}}); len(hooks) > 0 {
				return strings.TrimPrefix(file, folder+string(filepath.Separator))
			}
		}
	}
	return ""
}
