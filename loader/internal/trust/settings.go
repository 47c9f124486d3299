package trust

import (
	"path/filepath"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/schema"
)

// safeFolder looks whose a project's .acai is. One that others could have made is
// no project's; where something of it was allowed, nothing passes until it is
// looked at.
func (t *Settings) safeFolder(s *candidate.Scope) bool {
	_, unsafe, err := ownership.User(t.Exempt...).Follow(s.Dir)
	switch {
	case files.Missing(err):
		return true // what was allowed is gone, and says so itself
	case err != nil:
		unsafe = files.Cause(err)
	}
	if unsafe == "" {
		return true
	}
	s.Ignored = &workspace.IgnoredFolder{Folder: s.Project, Why: unsafe, Remedy: workspace.OwnRemedy, Recorded: s.Decided.AnyAllowed()}
	ReportIgnored(t.Report, *s.Ignored)
	s.Dir = ""
	return false
}

// ReportIgnored reports a folder that does not count. Where something of it was allowed,
// every gate is refused.
func ReportIgnored(r *report.Report, o workspace.IgnoredFolder) {
	code := report.FolderIgnored
	if o.Outer {
		code = report.OuterIgnored
	}
	f := report.New(code, filepath.Join(o.Folder, workspace.FolderName), 0, "", "its hooks and settings do not count: "+o.Why, o.Remedy)
	if o.Homeless {
		f.Severity = schema.SeverityError
		r.RefuseAll(o.Folder+": "+o.Why, o.Remedy)
	}
	if o.Recorded {
		f.Severity = schema.SeverityError
		r.RefuseAll(o.Folder+" was allowed, and does not count any more: "+o.Why, o.Remedy)
	}
	r.Add(f)
}

// projectSettings decides which settings of a project are in force: exactly those
// that a person allowed (docs/trust.md).
func (t *Settings) projectSettings(s *candidate.Scope) {
	f := t.ReadLayer(s)
	b := settingsBundle(f)
	s.File.Now, s.File.Bundle = f, b
	decision := Decide(foundSettings(s), recordedBy(&s.Decided, candidate.SettingsRecord))
	shown := t.AsAllowed && s.Outer == 0
	switch {
	case shown && f.Bad != nil && decision.Record != nil && decision.Record.Decision == records.Allowed:
		t.keepAllowed(s, decision.Record) // hooks are judged by what is in force, not by a file that cannot be used
	case shown, s.Decided.Always, decision.MayRun():
		t.takeSettings(s, f)
	case decision.State == StateDenied:
		s.File.State = candidate.SettingsDenied
	case decision.State == StateChanged, decision.State == StateGone:
		t.keepAllowed(s, decision.Record)
	case f.Bad != nil:
		s.File.State = candidate.SettingsUnreadable
		t.Add(f.Bad.Finding())
		t.RefuseAll(f.Bad.Error(), f.Bad.Remedy)
	case f.Path == "", f.SaysNothing(), t.settingsListed(s, b):
		t.takeSettings(s, f)
	default:
		s.File.Waiting, s.File.State = &candidate.WaitingSettings{Settings: f.Settings, File: f.Path}, candidate.SettingsUntrusted
		t.Add(f.Findings...)
		t.Add(report.New(report.SettingsUntrusted, f.Path, 0, "", "the project's settings file is not in force: "+decision.Why, s.TrustRemedy()))
	}
}

// foundSettings returns what was found of a project's settings file.
func foundSettings(s *candidate.Scope) Found {
	found := Found{There: s.File.Now.Path != "" || s.File.Now.Bad != nil}
	if s.File.Bundle != nil {
		found.Hash = s.File.Bundle.Hash
	}
	return found
}

// settingsBundle is what a person allows of a settings file; nil if there is none
// that can be read.
func settingsBundle(f settings.File) *bundle.Bundle {
	if f.Path == "" || f.Bad != nil {
		return nil
	}
	b := &bundle.Bundle{Name: candidate.SettingsRecord, Entry: f.Entry, Members: []bundle.Member{}}
	if b.Seal() != nil {
		return nil
	}
	return b
}

// takeSettings puts the file into force as it is.
func (t *Settings) takeSettings(s *candidate.Scope, f settings.File) {
	t.Add(f.Findings...)
	switch {
	case f.Bad == nil && f.Path == "":
	case f.Bad == nil:
		s.File.InForce, s.File.State = f.Settings, candidate.SettingsInForce
		if s.Decided.Always && f.Path != "" {
			t.Good.Keep(s.Project, f)
		}
	case s.Decided.Always:
		s.File.InForce = t.lastGood(s, f.Bad)
	default: // shown by hookd trust, which allows no settings that cannot be read
		t.Add(f.Bad.Finding())
		t.RefuseAll(f.Bad.Error(), f.Bad.Remedy)
	}
}

// keepAllowed leaves the copy in force that was allowed, and says so.
func (t *Settings) keepAllowed(s *candidate.Scope, record *records.Record) {
	file := filepath.Join(s.Dir, settings.Names[0])
	s.File.State = candidate.SettingsGone
	finding := report.New(report.SettingsGone, file, 0, "", "the settings that were allowed stay in force: their file is gone", s.GoneRemedy())
	switch f := s.File.Now; {
	case f.Bad != nil:
		s.File.State = candidate.SettingsChanged
		finding = report.New(report.SettingsChanged, f.Bad.File, f.Bad.Line, "", "the settings that were allowed stay in force: the file cannot be used: "+f.Bad.Message, f.Bad.Remedy)
		file = f.Bad.File
	case f.Path != "":
		s.File.State = candidate.SettingsChanged
		finding = report.New(report.SettingsChanged, f.Path, 0, "", "the settings that were allowed stay in force: the file was changed since", s.TrustRemedy())
		file = f.Path
	}
	// Its findings were shown when it was allowed, and its lines are not the file's.
	settings, _, err := settings.Decode(filepath.Join(filepath.Dir(file), settings.Names[0]), record.Bundle.Entry, s.Layer)
	if err != nil { // the record was checked against its hash, so an earlier version wrote it
		t.RefuseAll("the settings that were allowed cannot be read: "+err.Error(), s.TrustRemedy())
		return
	}
	s.File.InForce = settings
	t.Add(finding)
}

// settingsListed reports whether hooks.trust.hashes names the settings, or the
// project with them.
func (t *Settings) settingsListed(s *candidate.Scope, b *bundle.Bundle) bool {
	hashes := t.user().Own.Hooks.Trust.Hashes // no project has a say in them
	if len(hashes) == 0 {
		return false
	}
	return hashAmong(hashes, b.Hash) || s.Outer == 0 && hashAmong(hashes, t.ProjectHash(b))
}
