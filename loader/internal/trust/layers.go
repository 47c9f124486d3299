package trust

import (
	"path/filepath"
	"slices"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Settings decides which settings of the layers are in force.
type Settings struct {
	*report.Report
	Scopes    []*candidate.Scope // the lowest first
	Home      string
	Exempt    []ownership.Exemption
	Good      *settings.LastGood
	AsAllowed bool // the project's settings count as if they were allowed: to show what a person decides about

	// ProjectHash returns the hash of the whole project as it would be with these settings,
	// "" if they were swapped meanwhile.
	ProjectHash func(b *bundle.Bundle) string
}

// Merge reads the settings of every scope, gives each scope its own settings, and
// returns those of all scopes together. The highest scope comes first: what the
// user's settings say of a project decides whether the project's own need to be
// allowed.
func (t *Settings) Merge() schema.Settings {
	var findings []schema.Finding
	for i, s := range slices.Backward(t.Scopes) {
		s.File.InForce = schema.LayerSettings{Layer: s.Layer}
		switch {
		case s.Dir == "":
		case s.Layer == protocol.Project:
			s.Decided.Always = t.trustedAlways(s.Project)
			if t.safeFolder(s) {
				t.projectSettings(s)
			}
		default:
			s.File.InForce = t.layerSettings(s)
		}
		if i+1 < len(t.Scopes) && s.Layer != t.Scopes[i+1].Layer && len(s.File.InForce.Values)+len(s.File.InForce.Unread) == 0 {
			s.Own = t.Scopes[i+1].Own // as for most scopes: it sets nothing
			continue
		}
		s.Own, findings = mergeFrom(t.Scopes[i:])
	}
	t.Add(findings...)
	return *t.Scopes[0].Own
}

// mergeFrom merges the settings of a scope with those of the scopes above it. What a
// lower scope says never changes a hook of a higher one, so the scopes below are left
// out.
func mergeFrom(scopes []*candidate.Scope) (*schema.Settings, []schema.Finding) {
	layers := make([]schema.LayerSettings, len(scopes))
	for i, s := range scopes {
		layers[i] = s.File.InForce
	}
	merged, findings := settings.Merge(layers...)
	return &merged, findings
}

// ReadLayer reads the settings file of a scope. A file that others could have
// written is one that cannot be read.
func (t *Settings) ReadLayer(s *candidate.Scope) settings.File {
	look := settings.Look{See: t.Inputs.See}
	if s.Layer != protocol.Managed { // checkManaged looks at the whole layer
		look.Check = func(path string) *schema.UnreadableError {
			if real := s.LeadsOut(path); real != "" && path != s.Dir {
				return &schema.UnreadableError{File: path, Message: candidate.LinkOut + real, Remedy: candidate.LinkOutRemedy}
			}
			return t.onlyOurs(path)
		}
	}
	f := settings.Read(s.Dir, s.Layer, look)
	if f.Bad != nil && f.Bad.Remedy != workspace.OwnRemedy { // whose it is does not change by waiting
		if st, err := files.Stat(f.Bad.File); err == nil && t.JustChanged(st) {
			t.HalfWritten = true
		}
	}
	return f
}

// onlyOurs returns an error if somebody else could have written a file or folder of a
// layer. One that is not there is fine.
func (t *Settings) onlyOurs(path string) *schema.UnreadableError {
	_, unsafe, err := ownership.User(t.Exempt...).Follow(path)
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
func (t *Settings) layerSettings(s *candidate.Scope) schema.LayerSettings {
	f := t.ReadLayer(s)
	t.Add(f.Findings...)
	s.File.Now = f
	if f.Bad == nil {
		if f.Path != "" {
			s.File.State = candidate.SettingsInForce
			t.Good.Keep(s.Project, f)
		}
		return f.Settings
	}
	return t.lastGood(s, f.Bad)
}

// lastGood returns what counts in place of settings that cannot be read: the last ones
// that could be. Without those every gate is refused.
func (t *Settings) lastGood(s *candidate.Scope, bad *schema.UnreadableError) schema.LayerSettings {
	s.File.State = candidate.SettingsUnreadable
	t.Add(bad.Finding())
	if good, ok := t.Good.Settings(s.Project, s.Layer); ok {
		t.Add(report.New(report.LastGood, bad.File, 0, "", "the last good settings stay in force", bad.Remedy))
		return good.Settings
	}
	t.RefuseAll(bad.Error(), bad.Remedy)
	return schema.LayerSettings{Layer: s.Layer}
}

// trustedAlways reports whether the user's settings name a folder above a
// project as one where nothing is asked.
func (t *Settings) trustedAlways(project string) bool {
	prefixes, _ := t.user().File.InForce.Values["hooks.trust.always"].V.([]string)
	for _, prefix := range prefixes {
		real, err := filepath.EvalSymlinks(files.ExpandHome(prefix, t.Home))
		if err == nil && project != "" && files.Within(real, project) {
			return true
		}
	}
	return false
}

// user is the scope of the user.
func (t *Settings) user() *candidate.Scope {
	return t.Scopes[slices.IndexFunc(t.Scopes, func(s *candidate.Scope) bool { return s.Layer == protocol.User })]
}
