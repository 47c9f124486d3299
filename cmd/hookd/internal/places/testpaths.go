package places

import (
	"path/filepath"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/testfile"
)

// TestPaths returns the paths at which tests of a hook may lie: beside its file, or for an
// entry of settings in the hooks folder of its layer.
func TestPaths(snapshot *loader.Snapshot, hook *executor.Hook) (paths []string) {
	base := filepath.Join(hooksFolder(snapshot, hook), filepath.Base(hook.Name))
	if IsFile(hook) {
		base = hook.Path
	}
	for _, suffix := range testfile.Suffixes {
		paths = append(paths, base+suffix)
	}
	return paths
}

// PackTestPaths returns the paths at which tests of a whole pack of rules may lie: beside
// its file.
func PackTestPaths(pack string) (paths []string) {
	for _, suffix := range testfile.Suffixes {
		paths = append(paths, filepath.Join(filepath.Dir(pack), loader.PackName(pack)+suffix))
	}
	return paths
}

// IsFile reports whether a hook is a file of its own, and no entry of settings.
func IsFile(hook *executor.Hook) bool {
	return hook.Path != "" && len(hook.Command) == 0 && hook.Imported == nil
}

// hooksFolder returns the hooks folder of a hook's layer.
func hooksFolder(snapshot *loader.Snapshot, hook *executor.Hook) string {
	if hook.Layer == protocol.Project {
		root := snapshot.Project
		if hook.Home != "" {
			root = hook.Home
		}
		return filepath.Join(root, ".acai", "hooks")
	}
	for _, s := range snapshot.Settings {
		if s.Layer == hook.Layer && s.File != "" {
			return filepath.Join(filepath.Dir(s.File), "hooks")
		}
	}
	return filepath.Dir(hook.Path)
}
