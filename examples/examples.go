// Package examples holds the example hooks, skills, recipes, servers,
// projects and clients of the daemon, so that the program can write them to a folder for a person who
// installed nothing else.
package examples

import (
	"bytes"
	"embed"
	"io/fs"
	"os"
	"path/filepath"
)

// Files are the examples. The compiled hooks are not among them: to build them
// takes this module.
//
//go:embed clients hooks mcp recipes skills all:agent all:project
var Files embed.FS

// Write copies the examples to a new folder. An embedded file has no mode, so
// those that begin with an interpreter line are made executable. The caller must
// not name a folder that exists: Write replaces nothing.
func Write(folder string) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	return fs.WalkDir(Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		target := filepath.Join(folder, filepath.FromSlash(path))
		if entry.IsDir() {
			return os.Mkdir(target, 0o755)
		}
		text, err := Files.ReadFile(path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if bytes.HasPrefix(text, []byte("#!")) {
			mode = 0o755
		}
		return os.WriteFile(target, text, mode)
	})
}
