package discover

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/report"

	"github.com/hookd-dev/hookd/loader/internal/settings"
)

// sideMark is what the name of a side file has after the hook's.
const sideMark = ".hook."

// rulesMark is what the name of a file of rules has after the pack's.
const rulesMark = ".rules."

// reportUnreadNames reports what lies in a layer's folder under a name that hookd does
// not read but that somebody probably meant for it: settings that are silently
// left out may hold the guard that a person relies on.
func (p *Scanner) reportUnreadNames(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // what must be read of it says so itself
	}
	for _, entry := range entries {
		name := entry.Name()
		switch base := strings.TrimSuffix(name, filepath.Ext(name)); {
		case slices.Contains(settings.Names, name):
		case strings.EqualFold(base, "acai") && slices.Contains([]string{".json", ".jsonc", ".json5", ".yaml", ".yml", ".toml"}, strings.ToLower(filepath.Ext(name))):
			p.Add(report.New(report.Unread, filepath.Join(dir, name), 0, "", "hookd does not read a settings file of this name", "rename it to one of "+strings.Join(settings.Names, ", ")))
		case entry.IsDir() && name != "hooks" && (name == "hook" || strings.EqualFold(name, "hooks")):
			p.Add(report.New(report.Unread, filepath.Join(dir, name), 0, "", "hookd does not look for hooks in a folder of this name", "rename it to hooks"))
		}
	}
}

// reportLoneSideFiles reports side files that describe no hook of the folder, or have
// an ending that no side file has.
func (g *layerScan) reportLoneSideFiles(names []string) {
	for _, name := range slices.Sorted(maps.Keys(g.Sides)) {
		i := strings.LastIndex(name, sideMark)
		hook, ending := name[:i], name[i+len(sideMark):]
		if skipped(hook) {
			continue
		}
		path := filepath.Join(g.Dir, name)
		switch {
		case ending == "toml" || ending == "yml" || ending == "jsonc":
			g.Add(report.New(report.Unread, path, 0, hook, "hookd does not read a side file with this ending", "rename it to "+hook+".hook.json or "+hook+".hook.yaml"))
		case ending != "json" && ending != "yaml": // an editor's leftover
		case !slices.Contains(names, hook):
			g.Add(report.New(report.Unread, path, 0, hook, "it is a side file without its hook: there is no "+hook+" beside it", "put the hook there, or rename or remove the side file"))
		}
	}
}
