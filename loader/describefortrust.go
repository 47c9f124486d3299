package loader

import (
	"errors"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// describeForTrust resolves a hook from header, side file and the settings of
// its own layer, and seals its bundle.
func (sc *scanner) describeForTrust(f *hookCandidate) {
	if f.standIn != "" {
		return
	}
	defaults := projectDefaults(f)
	if f.scope.layer != protocol.Project {
		defaults = schema.DefaultsFor(f.scope.own, f.scope.layer, f.name, f.path)
		defaults.Budget = 0
	}
	f.resolution, _ = schema.Resolve(defaults, f.described...)
	e := bundle.EntryOf(f.resolution)
	e.Enabled = e.Enabled && f.scope.on() && (f.listed || f.scope.layer != protocol.Project)
	e.Rejected = f.faulty()
	in := *sc.env.builder(f.scope, e.InPlace)
	if f.file == nil && !f.IsCommand() || f.file != nil && f.file.content == nil || f.IsCommand() && len(f.Argv) == 0 {
		return
	}
	in.Spare = sc.spareFor(f.scope, f.record)
	missing, err := f.SealHook(&in, f.base, f.path, f.sideFile, e)
	if errors.Is(err, bundle.ErrNotHashed) {
		f.Bundle = nil
		return // it is unknown, whatever it holds
	}
	if err != nil {
		if f.Problem == nil {
			f.Problem = &report.Problem{Why: "its files cannot be used: " + err.Error(), Remedy: "correct what files names"}
		}
		return
	}
	f.believeRecord()
	for _, pattern := range missing {
		sc.Add(report.Newf(report.MissingHelper, f.path, f.name, "correct files, or put the helper there", "files: nothing answers to %q", pattern))
	}
}

// spareFor is what may be hashed of something of a layer; nil is all, since
// somebody asks for the hash: a record, a list of hashes, or a person.
func (sc *scanner) spareFor(s *scope, r *records.Record) *int64 {
	if !s.needsTrust() || sc.hashAll || r != nil || s.elsewhere != nil || len(sc.hashes) > 0 {
		return nil
	}
	return &sc.spare
}

// projectDefaults are the defaults of a hook as the project's settings alone
// give them: those that were allowed, or for a hook that nobody allowed yet those
// that wait to be.
func projectDefaults(f *hookCandidate) schema.Defaults {
	values := f.scope.describing(f.base).Values
	d := schema.Defaults{Layer: f.scope.layer, Name: f.name, Path: f.path}
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
