package loader

import (
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// rising are the layers from the lowest to the highest.
var rising = []protocol.Layer{protocol.Project, protocol.User, protocol.Managed}

// readSettings reads the settings of every layer and merges them.
func (p *load) readSettings() {
	p.checkManaged()
	var all []schema.LayerSettings
	for _, layer := range rising {
		settings := p.layerSettings(layer)
		p.layers[layer] = &settings
		p.add(settings.Waiting()...)
		all = append(all, settings)
	}
	merged, findings := MergeSettings(all...)
	p.settings = merged
	p.add(findings...)
	for i, layer := range rising {
		// A lower layer's default never shortens or re-rules a higher layer's
		// hook, so each layer is resolved without those below it.
		own, _ := MergeSettings(all[i:]...)
		p.own[layer] = &own
	}
	p.managed = p.layers[protocol.Managed].Hash
}

// layerSettings reads one layer's file. If it cannot be read, the last good one
// counts; without one every gate is refused, because nobody can tell which
// guards the file names.
func (p *load) layerSettings(layer protocol.Layer) schema.LayerSettings {
	none := schema.LayerSettings{Layer: layer}
	dir := p.layerDir(layer)
	if dir == "" {
		return none
	}
	p.inputs.see(dir)
	for _, name := range SettingsNames {
		p.inputs.see(filepath.Join(dir, name))
	}
	file, findings, err := settingsFile(dir)
	p.add(findings...)
	if err == nil && file == "" {
		return none
	}
	var text []byte
	var settings schema.LayerSettings
	if err == nil {
		text, err = readBounded(file)
	}
	if err == nil {
		settings, findings, err = DecodeSettings(file, text, layer)
	}
	if err == nil {
		p.add(findings...)
		p.keepGood(layer, file, text)
		return settings
	}
	var unreadable *schema.UnreadableError
	if !errors.As(err, &unreadable) {
		unreadable = &schema.UnreadableError{File: dir, Message: err.Error(), Err: err}
	}
	if st, statErr := stat(unreadable.File); statErr == nil && p.justChanged(st) {
		p.unsettled = true
	}
	p.add(unreadable.Finding())
	file, text, ok := p.lastGood(layer)
	if ok {
		if settings, _, err = DecodeSettings(file, text, layer); err == nil {
			p.add(newFinding(CodeLastGood, unreadable.File, 0, "", "the last good settings stay in force", unreadable.Remedy))
			return settings
		}
	}
	p.refuseAll(unreadable.Error(), unreadable.Remedy)
	return none
}

// justChanged reports whether a file was written so recently that it may be
// half-written.
func (p *load) justChanged(st fileStat) bool {
	return max(st.Mtime, st.Ctime) > p.now.Add(-patience).UnixNano()
}

// said is projectSays, made once.
func (p *load) said() jsontext.Value {
	if !p.saidMade {
		p.saidValue, p.saidMade = p.projectSays(), true
	}
	return p.saidValue
}

// projectSays is what the project's settings say of all its hooks. It is part of
// every bundle, so that a setting which shortens, re-rules or redirects the
// hooks that were allowed makes them changed.
func (p *load) projectSays() jsontext.Value {
	said := map[string]any{}
	for _, name := range []string{"hooks.budget", "hooks.env", "hooks.path"} {
		if value, ok := p.layers[protocol.Project].Values[name]; ok {
			if d, isDuration := value.V.(time.Duration); isDuration {
				said[name] = d.String()
			} else {
				said[name] = value.V
			}
		}
	}
	if len(said) == 0 {
		return nil
	}
	raw, err := canonical(said)
	if err != nil {
		return nil
	}
	return raw
}

// projectDefaults are the defaults of a hook as the project's settings alone
// give them.
func (p *load) projectDefaults(f *found) schema.Defaults {
	values := p.layers[protocol.Project].Values
	d := schema.Defaults{Layer: f.layer, Name: f.name, Path: f.path}
	if v, ok := values["hooks.timeout"].V.(time.Duration); ok {
		d.Timeout = v
	}
	if v, ok := values["hooks.onFailure"].V.(string); ok {
		d.OnFailure = protocol.Rule(v)
	}
	if v, ok := values["hooks.required"].V.([]string); ok {
		d.Required = slices.Contains(v, f.name)
	}
	return d
}

// layerOn reports whether the layer's own settings let its hooks run.
func (p *load) layerOn(layer protocol.Layer) bool { return p.settings.Hooks.Enabled[layer] }
