package discover

import (
	"errors"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// DescribeForTrust resolves a hook from header, side file and the settings of
// its own layer, and seals its bundle.
func (sc *Scanner) DescribeForTrust(f *candidate.Hook) {
	if f.StandIn != nil {
		return
	}
	defaults := f.ProjectDefaults()
	if f.Scope.Layer != protocol.Project {
		defaults = schema.DefaultsFor(f.Scope.Own, f.Scope.Layer, f.Name, f.Path)
		defaults.Budget = 0
	}
	f.Resolution, _ = schema.Resolve(defaults, f.Described...)
	e := bundle.EntryOf(f.Resolution)
	e.Enabled = e.Enabled && f.Scope.On() && (f.Listed || f.Scope.Layer != protocol.Project)
	e.Rejected = f.Faulty()
	in := *sc.Env.Builder(f.Scope, e.InPlace)
	if f.Import != nil && f.Import.Folder != "" {
		in.HooksDir = f.Import.Folder
	}
	if f.Rule {
		if err := f.SealRule(&in, f.Base, e); err != nil && f.Problem == nil {
			f.Problem = &report.Problem{Why: "its entry cannot be hashed: " + err.Error(), Remedy: "correct its settings entry"}
		}
		f.BelieveRecord()
		return
	}
	if f.File == nil && !f.IsCommand() || f.File != nil && f.File.Head == nil || f.IsCommand() && len(f.Argv) == 0 {
		return
	}
	in.HashBudget = sc.hashBudget(f.Scope, f.Record)
	missing, err := f.SealHook(&in, f.Base, f.Path, f.SideFile, e)
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
	f.BelieveRecord()
	for _, pattern := range missing {
		sc.Add(report.Newf(report.MissingHelper, f.Path, f.Name, "correct files, or put the helper there", "files: nothing answers to %q", pattern))
	}
}

// hashBudget returns how many bytes may be hashed for something of a scope. It returns
// nil, no bound, where the hash decides or is shown: there is a record, a list of
// hashes, or a person who looks.
func (sc *Scanner) hashBudget(s *candidate.Scope, r *records.Record) *int64 {
	if !s.NeedsTrust() || sc.HashAll || r != nil || s.Decided.InMain != nil || len(sc.Hashes) > 0 {
		return nil
	}
	return &sc.HashBudget
}
