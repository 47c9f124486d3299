package loader

import (
	"path/filepath"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/schema"
)

// settingsRecord is the name of a project's settings in the trust records. No
// hook can have it: a hook's name has no slash.
const settingsRecord = "settings/acai"

// waitingSettings are settings of a project that nobody allowed. They have no
// effect; but a guard that they name must not be merely absent.
type waitingSettings struct {
	settings schema.LayerSettings
	file     string
}

// safeFolder looks whose a project's .acai is. One that others could have made is
// no project's; where something of it was allowed, nothing passes until it is
// looked at.
func (t *settingsTrust) safeFolder(s *scope) bool {
	_, unsafe, err := ownership.User(t.exempt...).Follow(s.dir)
	switch {
	case files.Missing(err):
		return true // what was allowed is gone, and says so itself
	case err != nil:
		unsafe = files.Cause(err)
	}
	if unsafe == "" {
		return true
	}
	s.passed = &workspace.PassedOver{Folder: s.project, Why: unsafe, Remedy: workspace.OwnRemedy, Recorded: s.anyAllowed()}
	passOver(t.Report, *s.passed)
	s.dir = ""
	return false
}

// passOver reports a folder that does not rule. Nothing passes where it was
// allowed to.
func passOver(r *report.Report, o workspace.PassedOver) {
	code := report.PassedOver
	if o.Outer {
		code = report.OuterUntrusted
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

// projectSettings settles which settings of a project are in force: exactly those
// that a person allowed (protocol, section 0).
func (t *settingsTrust) projectSettings(s *scope) {
	f := t.readLayer(s)
	b := settingsBundle(f)
	s.now, s.bundle = f, b
	record := s.recordOf(settingsRecord)
	switch {
	case t.asAllowed && s.outer == 0 && f.Bad != nil && record != nil && record.Decision == records.Allowed:
		t.keepAllowed(s, record) // hooks are judged by what is in force, not by a file that cannot be used
	case t.asAllowed && s.outer == 0:
		t.takeSettings(s, f)
	case s.always:
		t.takeSettings(s, f)
	case record != nil && record.Decision == records.Denied:
		s.state = SettingsDenied
	case record != nil && b != nil && b.Hash == record.Hash:
		t.takeSettings(s, f)
	case record != nil:
		t.keepAllowed(s, record)
	case f.Bad != nil:
		s.state = SettingsUnreadable
		t.Add(f.Bad.Finding())
		t.RefuseAll(f.Bad.Error(), f.Bad.Remedy)
	case f.Path == "", f.SaysNothing():
		t.takeSettings(s, f)
	case s.elsewhere != nil && s.elsewhere.Allows(settingsRecord, b), t.settingsListed(s, b):
		t.takeSettings(s, f)
	default:
		s.waiting, s.state = &waitingSettings{f.Settings, f.Path}, SettingsUntrusted
		t.Add(f.Findings...)
		t.Add(report.New(report.SettingsUntrusted, f.Path, 0, "", "the project's settings are not in force: nobody allowed them yet", s.trustRemedy()))
	}
}

// settingsInfo is what the snapshot tells of the scope's settings file.
func (s *scope) settingsInfo() SettingsInfo {
	info := SettingsInfo{Layer: s.layer, File: s.now.Path, State: s.state}
	if info.File == "" {
		info.File = s.settings.File
	}
	if s.now.Bad != nil {
		info.File = s.now.Bad.File
	}
	if info.File == "" && info.State != "" && s.dir != "" { // denied, and gone
		info.File = filepath.Join(s.dir, settings.Names[0])
	}
	if s.bundle != nil {
		info.Hash = s.bundle.Hash
	}
	return info
}

// settingsBundle is what a person allows of a settings file; nil if there is none
// that can be read.
func settingsBundle(f settings.File) *bundle.Bundle {
	if f.Path == "" || f.Bad != nil {
		return nil
	}
	b := &bundle.Bundle{Name: settingsRecord, Entry: f.Entry, Members: []bundle.Member{}}
	if b.Seal() != nil {
		return nil
	}
	return b
}

// takeSettings puts the file into force as it is.
func (t *settingsTrust) takeSettings(s *scope, f settings.File) {
	t.Add(f.Findings...)
	switch {
	case f.Bad == nil && f.Path == "":
	case f.Bad == nil:
		s.settings, s.state = f.Settings, SettingsInForce
		if s.always && f.Path != "" {
			t.good.Keep(s.project, f)
		}
	case s.always:
		s.settings = t.settingsLost(s, f.Bad)
	default: // shown by hookd trust, which allows no settings that cannot be read
		t.Add(f.Bad.Finding())
		t.RefuseAll(f.Bad.Error(), f.Bad.Remedy)
	}
}

// keepAllowed leaves the copy in force that was allowed, and says so.
func (t *settingsTrust) keepAllowed(s *scope, record *records.Record) {
	file := filepath.Join(s.dir, settings.Names[0])
	s.state = SettingsGone
	finding := report.New(report.SettingsGone, file, 0, "", "the settings that were allowed stay in force: their file is gone", s.goneRemedy())
	switch f := s.now; {
	case f.Bad != nil:
		s.state = SettingsChanged
		finding = report.New(report.SettingsChanged, f.Bad.File, f.Bad.Line, "", "the settings that were allowed stay in force: the file cannot be used: "+f.Bad.Message, f.Bad.Remedy)
		file = f.Bad.File
	case f.Path != "":
		s.state = SettingsChanged
		finding = report.New(report.SettingsChanged, f.Path, 0, "", "the settings that were allowed stay in force: the file was changed since", s.trustRemedy())
		file = f.Path
	}
	// Its findings were shown when it was allowed, and its lines are not the file's.
	settings, _, err := settings.Decode(filepath.Join(filepath.Dir(file), settings.Names[0]), record.Bundle.Entry, s.layer)
	if err != nil { // the record was checked against its hash, so an earlier version wrote it
		t.RefuseAll("the settings that were allowed cannot be read: "+err.Error(), s.trustRemedy())
		return
	}
	s.settings = settings
	t.Add(finding)
}

// settingsListed reports whether hooks.trust.hashes names the settings, or the
// project with them.
func (t *settingsTrust) settingsListed(s *scope, b *bundle.Bundle) bool {
	hashes := t.upper().Hooks.Trust.Hashes
	if len(hashes) == 0 {
		return false
	}
	return hashAmong(hashes, b.Hash) || s.outer == 0 && hashAmong(hashes, t.projectHash(b))
}
