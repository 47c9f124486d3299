package show

import (
	"os"
	"path/filepath"
)

// Tilde writes a path below the home folder with a tilde.
func Tilde(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return path
	}
	if below, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(below) {
		return filepath.Join("~", below)
	}
	return path
}
