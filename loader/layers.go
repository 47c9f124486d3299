package loader

import (
	"slices"
	"time"

	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// readSettings reads the settings of every scope and merges them. The highest
// comes first: what the user's settings say of a project decides whether the
// project's own need to be allowed.
func (p *load) readSettings() {
	p.checkManaged()
	for _, s := range slices.Backward(p.scopes) {
		s.settings = schema.LayerSettings{Layer: s.layer}
		switch {
		case s.dir == "":
		case s.layer == protocol.Project:
			s.always = p.trustedAlways(s.project)
			if p.safeFolder(s) {
				p.projectSettings(s)
			}
		default:
			s.settings = p.layerSettings(s)
		}
		p.Add(s.settings.Waiting()...)
	}
	all := make([]schema.LayerSettings, len(p.scopes))
	for i, s := range p.scopes {
		all[i] = s.settings
	}
	merged, findings := settings.Merge(all...)
	p.settings = merged
	p.Add(findings...)
	for i, s := range p.scopes {
		// What a lower scope says never changes a hook of a higher one, so each
		// scope's own settings are merged without those below it.
		own, _ := settings.Merge(all[i:]...)
		s.own = &own
	}
	p.managed = p.machine.settings.Hash
}

// upper are the settings that no project has a say in.
func (p *load) upper() *schema.Settings {
	s, _ := settings.Merge(p.user.settings, p.machine.settings)
	return &s
}

// readLayer reads the settings file of a scope. A file that others could have
// written is one that cannot be read.
func (p *load) readLayer(s *scope) settings.File {
	look := settings.Look{See: p.Inputs.See}
	if s.layer != protocol.Managed { // checkManaged looks at the whole layer
		look.Check = p.onlyOurs
	}
	f := settings.Read(s.dir, s.layer, look)
	if f.Bad != nil && f.Bad.Remedy != workspace.OwnRemedy { // whose it is does not change by waiting
		if st, err := files.Stat(f.Bad.File); err == nil && p.JustChanged(st) {
			p.HalfWritten = true
		}
	}
	return f
}

// onlyOurs says so if somebody else could have written a file or folder of a
// layer. One that is not there is fine.
func (p *load) onlyOurs(path string) *schema.UnreadableError {
	_, unsafe, err := p.walk().Follow(path)
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
func (p *load) layerSettings(s *scope) schema.LayerSettings {
	f := p.readLayer(s)
	p.Add(f.Findings...)
	s.now = f
	if f.Bad == nil {
		if f.Path != "" {
			s.state = SettingsInForce
			p.good.Keep(s.project, f)
		}
		return f.Settings
	}
	return p.settingsLost(s, f.Bad)
}

// settingsLost are the settings in the place of those that cannot be read.
func (p *load) settingsLost(s *scope, bad *schema.UnreadableError) schema.LayerSettings {
	s.state = SettingsUnreadable
	p.Add(bad.Finding())
	if good, ok := p.good.Settings(s.project, s.layer); ok {
		p.Add(report.New(report.LastGood, bad.File, 0, "", "the last good settings stay in force", bad.Remedy))
		return good.Settings
	}
	p.RefuseAll(bad.Error(), bad.Remedy)
	return schema.LayerSettings{Layer: s.layer}
}

// projectDefaults are the defaults of a hook as the project's settings alone
// give them: those that were allowed, or for a hook that nobody allowed yet those
// that wait to be.
func (p *load) projectDefaults(f *found) schema.Defaults {
	values := p.describing(f.scope, f).Values
	d := schema.Defaults{Layer: f.layer, Name: f.name, Path: f.path}
	if v, ok := values["hooks.timeout"].V.(time.Duration); ok {
		d.Timeout = v
	}
	if v, ok := values["hooks.onFailure"].V.(string); ok {
		d.OnFailure = protocol.Rule(v)
	}
	if v, ok := values["hooks.required"].V.([]string); ok {
		d.Required = slices.Contains(v, f.base)
	}
	return d
}
