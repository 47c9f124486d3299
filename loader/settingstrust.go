package loader

import (
	"path/filepath"
	"slices"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/protocol"
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

// describing are the settings that say what a hook of the scope is: those in
// force for one that a person decided about, those that wait for any other.
func (p *load) describing(s *scope, f *found) *schema.LayerSettings {
	if s.waiting != nil && (f.base == "" || p.recordOf(s, f.base) == nil) {
		return &s.waiting.settings
	}
	return &s.settings
}

// safeFolder looks whose a project's .acai is. One that others could have made is
// no project's; where something of it was allowed, nothing passes until it is
// looked at.
func (p *load) safeFolder(s *scope) bool {
	_, unsafe, err := p.walk().Follow(s.dir)
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
	p.passOver(*s.passed)
	s.dir = ""
	return false
}

// passOver reports a folder that does not rule. Nothing passes where it was
// allowed to.
func (p *load) passOver(o workspace.PassedOver) {
	code := report.PassedOver
	if o.Outer {
		code = report.OuterUntrusted
	}
	f := report.New(code, filepath.Join(o.Folder, workspace.FolderName), 0, "", "its hooks and settings do not count: "+o.Why, o.Remedy)
	if o.Homeless {
		f.Severity = schema.SeverityError
		p.RefuseAll(o.Folder+": "+o.Why, o.Remedy)
	}
	if o.Recorded {
		f.Severity = schema.SeverityError
		p.RefuseAll(o.Folder+" was allowed, and does not count any more: "+o.Why, o.Remedy)
	}
	p.Add(f)
}

// projectSettings settles which settings of a project are in force: exactly those
// that a person allowed (protocol, section 0).
func (p *load) projectSettings(s *scope) {
	f := p.readLayer(s)
	b := settingsBundle(f)
	s.now, s.bundle = f, b
	record := p.recordOf(s, settingsRecord)
	switch {
	case p.asAllowed && s.outer == 0 && f.Bad != nil && record != nil && record.Decision == records.Allowed:
		p.keepAllowed(s, record) // hooks are judged by what is in force, not by a file that cannot be used
	case p.asAllowed && s.outer == 0:
		p.takeSettings(s, f)
	case s.always:
		p.takeSettings(s, f)
	case record != nil && record.Decision == records.Denied:
		s.state = SettingsDenied
	case record != nil && b != nil && b.Hash == record.Hash:
		p.takeSettings(s, f)
	case record != nil:
		p.keepAllowed(s, record)
	case f.Bad != nil:
		s.state = SettingsUnreadable
		p.Add(f.Bad.Finding())
		p.RefuseAll(f.Bad.Error(), f.Bad.Remedy)
	case f.Path == "", f.SaysNothing():
		p.takeSettings(s, f)
	case s.elsewhere != nil && s.elsewhere.Allows(settingsRecord, b), p.settingsListed(s, b):
		p.takeSettings(s, f)
	default:
		s.waiting, s.state = &waitingSettings{f.Settings, f.Path}, SettingsUntrusted
		p.Add(f.Findings...)
		p.Add(report.New(report.SettingsUntrusted, f.Path, 0, "", "the project's settings are not in force: nobody allowed them yet", s.trustRemedy()))
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
func (p *load) takeSettings(s *scope, f settings.File) {
	p.Add(f.Findings...)
	switch {
	case f.Bad == nil && f.Path == "":
	case f.Bad == nil:
		s.settings, s.state = f.Settings, SettingsInForce
		if s.always && f.Path != "" {
			p.good.Keep(s.project, f)
		}
	case s.always:
		s.settings = p.settingsLost(s, f.Bad)
	default: // shown by hookd trust, which allows no settings that cannot be read
		p.Add(f.Bad.Finding())
		p.RefuseAll(f.Bad.Error(), f.Bad.Remedy)
	}
}

// keepAllowed leaves the copy in force that was allowed, and says so.
func (p *load) keepAllowed(s *scope, record *records.Record) {
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
		p.RefuseAll("the settings that were allowed cannot be read: "+err.Error(), s.trustRemedy())
		return
	}
	s.settings = settings
	p.Add(finding)
}

// settingsListed reports whether hooks.trust.hashes names the settings, or the
// project with them.
func (p *load) settingsListed(s *scope, b *bundle.Bundle) bool {
	hashes := p.upper().Hooks.Trust.Hashes
	if len(hashes) == 0 {
		return false
	}
	return hashAmong(hashes, b.Hash) || s.outer == 0 && hashAmong(hashes, p.hashIfAllowed(b))
}

// hashIfAllowed is the hash of the whole project as it would be once it is
// allowed with these settings, which is what hookd trust --print shows. Settings that
// were swapped meanwhile have none.
func (p *load) hashIfAllowed(b *bundle.Bundle) string {
	survey, err := p.loader.surveyQuietly()
	if err != nil || survey.inner == nil || survey.inner.bundle == nil || survey.inner.bundle.Hash != b.Hash {
		return ""
	}
	return survey.projectHash()
}

// guardWaiting stands for the guards that settings nobody allowed may hold, as
// far as they are no hooks of their own: names that are required, commands that
// are denied, and changes of hooks that were allowed before.
func (p *load) guardWaiting(s *scope) {
	if s.waiting == nil {
		return
	}
	events, match, why := p.waitingGuards(s)
	if len(events) == 0 {
		return
	}
	name := filepath.Base(s.waiting.file)
	_, required := s.waiting.settings.Values["hooks.required"] // nobody switches off what is required
	f := &found{
		layer: s.layer, scope: s, base: name, name: s.prefix + name, path: s.waiting.file, listed: true, stands: true,
		resolution: schema.Resolution{DescribedBy: schema.FromSettings, Hook: schema.Hook{
			Name: s.prefix + name, Layer: s.layer, Path: s.waiting.file, Events: events, Match: match, Can: protocol.CanBlock, Mode: protocol.Enforce,
			OnFailure: protocol.RuleBlock, Enabled: true, Run: schema.Once, Timeout: s.own.Hooks.Timeout,
			Required: required, Protocol: protocol.Version, Dialect: schema.Dialects[0],
		}},
	}
	f.fail(executor.Untrusted, protocol.FailUntrusted, "nobody allowed the settings yet, and they "+why, s.trustRemedy())
	p.hooks = append(p.hooks, f)
}

// waitingGuards are the events at which settings that wait may hold a guard, and
// in words why.
func (p *load) waitingGuards(s *scope) (events []protocol.EventName, match schema.Match, why string) {
	settings := &s.waiting.settings
	listed := func(key string) bool {
		items, _ := settings.Values[key].V.([]string)
		return len(items) > 0
	}
	if listed("hooks.required") {
		return everywhere(), match, "require hooks"
	}
	add := func(more []protocol.EventName, reason string) {
		for _, event := range more {
			if !slices.Contains(events, event) {
				events = append(events, event)
			}
		}
		match, why = schema.Match{}, reason
	}
	if listed("agent.tools.bash.deny") {
		add([]protocol.EventName{protocol.ToolCallStart}, "deny commands")
		match.Tool = []string{"@shell"}
	}
	for i := range settings.Use {
		d := &settings.Use[i]
		if d.Name == nil || p.recordOf(s, *d.Name) == nil {
			continue // a hook of its own
		}
		r, _ := schema.Resolve(schema.Defaults{Layer: s.layer, Name: *d.Name}, *d)
		switch {
		case !r.Hook.Guards() && !(r.Rejected && r.Guards):
		case len(r.Hook.Events) == 0:
			add(everywhere(), "change a hook that was allowed")
		default:
			add(r.Hook.Events, "change a hook that was allowed")
		}
	}
	return events, match, why
}
