package loader

import (
	"path/filepath"
	"slices"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// settingsTrust settles which settings of the layers are in force.
type settingsTrust struct {
	*report.Report
	scopes    []*scope // the lowest first
	home      string
	exempt    []ownership.Exemption
	good      *settings.LastGood
	asAllowed bool // the project's settings count as if they were allowed: to show what a person decides about

	// projectHash is the hash of the whole project as it would be with these settings,
	// "" if they were swapped meanwhile.
	projectHash func(b *bundle.Bundle) string
}

// read reads the settings of every scope and merges them. The highest comes first:
// what the user's settings say of a project decides whether the project's own need
// to be allowed.
func (t *settingsTrust) read() schema.Settings {
	for _, s := range slices.Backward(t.scopes) {
		s.settings = schema.LayerSettings{Layer: s.layer}
		switch {
		case s.dir == "":
		case s.layer == protocol.Project:
			s.always = t.trustedAlways(s.project)
			if t.safeFolder(s) {
				t.projectSettings(s)
			}
		default:
			s.settings = t.layerSettings(s)
		}
		t.Add(s.settings.Waiting()...)
	}
	all := make([]schema.LayerSettings, len(t.scopes))
	for i, s := range t.scopes {
		all[i] = s.settings
	}
	merged, findings := settings.Merge(all...)
	t.Add(findings...)
	for i, s := range t.scopes {
		// What a lower scope says never changes a hook of a higher one, so each
		// scope's own settings are merged without those below it.
		own, _ := settings.Merge(all[i:]...)
		s.own = &own
	}
	return merged
}

// upper are the settings that no project has a say in.
func (t *settingsTrust) upper() *schema.Settings {
	var layers []schema.LayerSettings
	for _, s := range t.scopes {
		if s.layer != protocol.Project {
			layers = append(layers, s.settings)
		}
	}
	merged, _ := settings.Merge(layers...)
	return &merged
}

// readLayer reads the settings file of a scope. A file that others could have
// written is one that cannot be read.
func (t *settingsTrust) readLayer(s *scope) settings.File {
	look := settings.Look{See: t.Inputs.See}
	if s.layer != protocol.Managed { // checkManaged looks at the whole layer
		look.Check = t.onlyOurs
	}
	f := settings.Read(s.dir, s.layer, look)
	if f.Bad != nil && f.Bad.Remedy != workspace.OwnRemedy { // whose it is does not change by waiting
		if st, err := files.Stat(f.Bad.File); err == nil && t.JustChanged(st) {
			t.HalfWritten = true
		}
	}
	return f
}

// onlyOurs says so if somebody else could have written a file or folder of a
// layer. One that is not there is fine.
func (t *settingsTrust) onlyOurs(path string) *schema.UnreadableError {
	_, unsafe, err := ownership.User(t.exempt...).Follow(path)
	switch {
	case files.Missing(err):
		return nil
	case err != nil:
		unsafe = files.Cause(err)
	}
	if unsafe == "" {
		return nil
	}
	return &schema.UnreadableError{File: path, Message: "it does not count: " + unsafe, Remedy: workspace.OwnRemedy}
}

// layerSettings are the settings of the user or the machine. If the file cannot
// be read, the last good one counts; without one every gate is refused, because
// nobody can tell which guards the file names.
func (t *settingsTrust) layerSettings(s *scope) schema.LayerSettings {
	f := t.readLayer(s)
	t.Add(f.Findings...)
	s.now = f
	if f.Bad == nil {
		if f.Path != "" {
			s.state = SettingsInForce
			t.good.Keep(s.project, f)
		}
		return f.Settings
	}
	return t.settingsLost(s, f.Bad)
}

// settingsLost are the settings in the place of those that cannot be read.
func (t *settingsTrust) settingsLost(s *scope, bad *schema.UnreadableError) schema.LayerSettings {
	s.state = SettingsUnreadable
	t.Add(bad.Finding())
	if good, ok := t.good.Settings(s.project, s.layer); ok {
		t.Add(report.New(report.LastGood, bad.File, 0, "", "the last good settings stay in force", bad.Remedy))
		return good.Settings
	}
	t.RefuseAll(bad.Error(), bad.Remedy)
	return schema.LayerSettings{Layer: s.layer}
}

// trustedAlways reports whether the user's settings name a folder above a
// project as one where nothing is asked.
func (t *settingsTrust) trustedAlways(project string) bool {
	prefixes, _ := t.user().settings.Values["hooks.trust.always"].V.([]string)
	for _, prefix := range prefixes {
		real, err := filepath.EvalSymlinks(files.ExpandHome(prefix, t.home))
		if err == nil && project != "" && files.Within(real, project) {
			return true
		}
	}
	return false
}

// user is the scope of the user.
func (t *settingsTrust) user() *scope {
	return t.scopes[slices.IndexFunc(t.scopes, func(s *scope) bool { return s.layer == protocol.User })]
}
