package tool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Folder is the part of the file system that the file tools may touch: the
// project folder without what rules the hooks.
type Folder struct {
	Project string   // absolute path
	Refused []string // absolute paths, refused with all below: the user's .acai, the state folder
}

// governing are the paths inside a project that hold hooks or hook settings,
// ours and other agents'. A model that could edit them could lift its own
// rules. They are compared without regard to case: some file systems do.
var governing = []string{
	".acai",
	".claude/settings.json", ".claude/settings.local.json", ".claude/hooks", ".claude/plugins",
	".gemini/settings.json", ".gemini/hooks", ".gemini/extensions",
	".codex", ".cursor/hooks.json", ".cursor/hooks", ".github/hooks", ".copilot",
	".openhands", ".opencode", "opencode.json", "opencode.jsonc", ".kodelet", "kodelet-config.yaml",
	".crush", "crush.json", ".crush.json", ".qwen/settings.json", ".mcp.json",
}

// errRefused is why a path is not opened although it is in the project.
var errRefused = errors.New("refused: it belongs to the hooks and their settings")

// open opens the project as a root that no path and no link leads out of.
func (f Folder) open() (*os.Root, error) {
	root, err := os.OpenRoot(f.Project)
	if err != nil {
		return nil, fmt.Errorf("project folder: %w", err)
	}
	return root, nil
}

// resolve turns a path as a model wrote it into the real path relative to the
// project, links followed, and refuses what leads out or to the hooks. What does
// not exist yet resolves through its nearest existing parent. All work is then
// done by [os.Root] on the resolved path, so that a link put there in between
// still leads nowhere outside.
func (f Folder) resolve(path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", errors.New("a path cannot hold a NUL character")
	}
	project, err := filepath.EvalSymlinks(f.Project)
	if err != nil {
		return "", fmt.Errorf("project folder: %w", err)
	}
	absolute := path
	if !filepath.IsAbs(path) {
		absolute = filepath.Join(project, path)
	} else if relative, err := filepath.Rel(f.Project, path); err == nil && filepath.IsLocal(relative) {
		absolute = filepath.Join(project, relative)
	}
	real, err := evalExisting(filepath.Clean(absolute), 0)
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(project, real)
	if err != nil || !filepath.IsLocal(relative) {
		return "", errors.New("outside the project folder")
	}
	if f.refuses(project, relative) {
		return "", errRefused
	}
	return relative, nil
}

// refuses reports whether a real path relative to the real project is one that
// rules the hooks.
func (f Folder) refuses(project, relative string) bool {
	slashed := strings.ToLower(filepath.ToSlash(relative))
	for _, g := range governing {
		// A nested project's settings count as well as this one's.
		if slashed == g || strings.HasPrefix(slashed, g+"/") ||
			strings.HasSuffix(slashed, "/"+g) || strings.Contains(slashed, "/"+g+"/") {
			return true
		}
	}
	return slices.ContainsFunc(f.Refused, func(path string) bool {
		real, err := evalExisting(filepath.Clean(path), 0)
		return err == nil && inside(filepath.Join(project, relative), real)
	})
}

// evalExisting follows the links of a path; what does not exist keeps its name.
func evalExisting(path string, depth int) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	// A dangling link would be followed when the file is created.
	if target, err := os.Readlink(path); err == nil {
		if depth > 40 {
			return "", errors.New("too many links")
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		return evalExisting(filepath.Clean(target), depth+1)
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path, nil
	}
	parent, err = evalExisting(parent, depth)
	return filepath.Join(parent, filepath.Base(path)), err
}

// read returns a regular file's bytes, at most limit of them.
func (f Folder) read(path string, limit int64) ([]byte, error) {
	relative, err := f.resolve(path)
	if err != nil {
		return nil, err
	}
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return readRegular(root, relative, limit)
}

func readRegular(root *os.Root, relative string, limit int64) ([]byte, error) {
	file, err := root.OpenFile(relative, os.O_RDONLY|nonblock, 0) // a FIFO would block for ever
	if err != nil {
		return nil, plain(err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, plain(err)
	case info.IsDir():
		return nil, errors.New("is a folder")
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	case info.Size() > limit:
		return nil, fmt.Errorf("has %d bytes, more than %d", info.Size(), limit)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1)) // it may grow while it is read
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("has more than %d bytes", limit)
	}
	return data, plain(err)
}

// write replaces or creates a regular file; folders on the way are made.
func (f Folder) write(path string, data []byte) error {
	relative, err := f.resolve(path)
	if err != nil {
		return err
	}
	root, err := f.open()
	if err != nil {
		return err
	}
	defer root.Close()
	if info, err := root.Stat(relative); err == nil && !info.Mode().IsRegular() {
		return errors.New("is not a regular file")
	}
	if err := root.MkdirAll(filepath.Dir(relative), 0o755); err != nil {
		return plain(err)
	}
	return plain(root.WriteFile(relative, data, 0o644))
}

// plain drops the operation and path of a file error: the tool names the path
// as the model wrote it.
func plain(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}
