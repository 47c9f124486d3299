package loader

import (
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/document"
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
		p.add(s.settings.Waiting()...)
	}
	all := make([]schema.LayerSettings, len(p.scopes))
	for i, s := range p.scopes {
		all[i] = s.settings
	}
	merged, findings := MergeSettings(all...)
	p.settings = merged
	p.add(findings...)
	for i, s := range p.scopes {
		// What a lower scope says never changes a hook of a higher one, so each
		// scope's own settings are merged without those below it.
		own, _ := MergeSettings(all[i:]...)
		s.own = &own
	}
	p.managed = p.machine.settings.Hash
}

// upper are the settings that no project has a say in.
func (p *load) upper() *schema.Settings {
	s, _ := MergeSettings(p.user.settings, p.machine.settings)
	return &s
}

// layerFile is a settings file as it is now.
type layerFile struct {
	file     string // "" if there is none
	text     []byte
	settings schema.LayerSettings
	entry    protocol.RawMessage // canonical: what the file says in the keys hooks and agent
	findings []schema.Finding
	bad      *schema.UnreadableError // nothing in it counts
}

// readLayer reads the settings file of a scope. A file that others could have
// written is one that cannot be read.
func (p *load) readLayer(s *scope) layerFile {
	f := layerFile{settings: schema.LayerSettings{Layer: s.layer}}
	p.inputs.see(s.dir)
	for _, name := range SettingsNames {
		p.inputs.see(filepath.Join(s.dir, name))
	}
	err := p.readLayerInto(s, &f)
	if err != nil && !errors.As(err, &f.bad) {
		f.bad = &schema.UnreadableError{File: s.dir, Message: err.Error(), Err: err}
	}
	if f.bad != nil && f.bad.Remedy != ownRemedy { // whose it is does not change by waiting
		if st, err := stat(f.bad.File); err == nil && p.justChanged(st) {
			p.unsettled = true
		}
	}
	return f
}

func (p *load) readLayerInto(s *scope, f *layerFile) (err error) {
	if s.layer != protocol.Managed { // checkManaged looks at the whole layer
		if err := p.onlyOurs(s.dir); err != nil {
			return err
		}
	}
	if f.file, f.findings, err = settingsFile(s.dir); err != nil || f.file == "" {
		return err
	}
	if s.layer != protocol.Managed {
		if err := p.onlyOurs(f.file); err != nil {
			return err
		}
	}
	if f.text, err = readBounded(f.file); err != nil {
		return err
	}
	var findings []schema.Finding
	f.settings, findings, err = DecodeSettings(f.file, f.text, s.layer)
	f.findings = append(f.findings, findings...)
	if err == nil {
		f.entry, err = canonicalSettings(f.file, f.text)
	}
	return err
}

// onlyOurs is an error if somebody else could have written a file or folder of a
// layer. One that is not there is none.
func (p *load) onlyOurs(path string) error {
	_, unsafe, err := p.walk().follow(path)
	switch {
	case missing(err):
		return nil
	case err != nil:
		unsafe = cause(err)
	}
	if unsafe == "" {
		return nil
	}
	return &schema.UnreadableError{File: path, Message: "it does not count: " + unsafe, Remedy: ownRemedy}
}

// canonicalSettings is the meaning of a settings file, which a person allows:
// comments, order, format and the members of other programs are not part of it.
func canonicalSettings(file string, text []byte) (protocol.RawMessage, error) {
	root, err := document.Parse(formatOf(file), text)
	if err != nil {
		return nil, err
	}
	ours := &document.Node{Kind: document.Object}
	for _, m := range root.Members {
		if m.Key == "hooks" || m.Key == "agent" {
			ours.Members = append(ours.Members, m)
		}
	}
	entry, err := document.Canonical(ours)
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		return nil, &schema.UnreadableError{File: file, Line: syntax.Line, Message: syntax.Message, Remedy: "correct the file; hookd reads it again when it changes", Err: err}
	}
	return entry, err
}

// layerSettings are the settings of the user or the machine. If the file cannot
// be read, the last good one counts; without one every gate is refused, because
// nobody can tell which guards the file names.
func (p *load) layerSettings(s *scope) schema.LayerSettings {
	f := p.readLayer(s)
	p.add(f.findings...)
	s.now = f
	if f.bad == nil {
		if f.file != "" {
			s.state = SettingsInForce
			p.keepGood(s, f.file, f.text)
		}
		return f.settings
	}
	return p.settingsLost(s, f.bad)
}

// settingsLost are the settings in the place of those that cannot be read.
func (p *load) settingsLost(s *scope, bad *schema.UnreadableError) schema.LayerSettings {
	s.state = SettingsUnreadable
	p.add(bad.Finding())
	if file, text, ok := p.lastGood(s); ok {
		if settings, _, err := DecodeSettings(file, text, s.layer); err == nil {
			p.add(newFinding(CodeLastGood, bad.File, 0, "", "the last good settings stay in force", bad.Remedy))
			return settings
		}
	}
	p.refuseAll(bad.Error(), bad.Remedy)
	return schema.LayerSettings{Layer: s.layer}
}

// justChanged reports whether a file was written so recently that it may be
// half-written.
func (p *load) justChanged(st fileStat) bool {
	return max(st.Mtime, st.Ctime) > p.now.Add(-patience).UnixNano()
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
