package main

import (
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/schema"
)

// tellOfFiles says that what decides is not what lies in the files (protocol,
// section 6.1), to programs too.
func (a *app) tellOfFiles(s *loader.Snapshot) {
	for _, f := range s.Findings {
		if isTold(f) && f.Code != string(loader.CodeSettingsUntrusted) { // that is said with all else that waits
			a.note(f.File+": "+f.Message, f.Remedy)
		}
	}
}

// isTold reports whether a finding is said in each process.
func isTold(f schema.Finding) bool { return slices.Contains(loader.Told, schema.Code(f.Code)) }

// tellOnce says which hooks are absent although somebody put them there: nobody
// allowed them, nothing says what they are for, or something is wrong with them
// or with the settings. Others fail by name. loop says that the agent loop runs,
// which uses skills, recipes and servers too.
func (a *app) tellOnce(s *loader.Snapshot, loop bool) {
	a.tellOfFiles(s)
	a.tellWaiting(s, loop)
	if a.json && a.noted == nil {
		return
	}
	told := map[string]bool{}
	a.tellAimless(s.Set.Hooks, told)
	a.tellProblems(s.Findings, told)
}

// tellWaiting says in one line what of the project does not count because nobody
// allowed it.
func (a *app) tellWaiting(s *loader.Snapshot, loop bool) {
	var parts []string
	settings := slices.ContainsFunc(s.Findings, func(f schema.Finding) bool { return f.Code == string(loader.CodeSettingsUntrusted) })
	if settings {
		parts = append(parts, "the settings")
	}
	if a.json && a.noted == nil && !settings {
		return
	}
	named := func(what string, names []string) {
		if len(names) > 0 {
			parts = append(parts, plural(len(names), what)+" ("+show.Shorten(joinLines(names), 120)+")")
		}
	}
	named("hook", s.Unasked)
	if loop {
		what := "skill, recipe or server"
		if len(s.UnaskedMaterials) > 1 {
			what = "skills, recipes or server" // with the s of the plural
		}
		named(what, s.UnaskedMaterials)
	}
	guards := waitingGuards(s)
	refuse := ""
	if len(guards) > 0 && !a.reviewed {
		refuse = "; until then " + show.Shorten(joinLines(guards), 120) + " refuse their events"
		if len(guards) == 1 {
			refuse = "; until then " + guards[0] + " refuses its events"
		}
	}
	switch {
	case len(parts) > 0:
		a.note("not in force in this project, nobody allowed it yet: "+andList(parts)+refuse, "hookd trust shows it and asks")
	case refuse != "":
		a.note("nobody allowed the guards of this project as they are"+refuse, "hookd trust shows them and asks")
	}
}

// waitingGuards are the guards of the project that refuse until a person looks at them:
// new ones, and those that changed or are gone since they were allowed.
func waitingGuards(s *loader.Snapshot) (guards []string) {
	for _, h := range s.Hooks {
		waits := h.Status == executor.Untrusted && h.DescribedBy != "" || h.Status == executor.Changed || h.Status == executor.Gone
		if waits && h.Fault != nil && h.Outer == 0 {
			guards = append(guards, h.Name)
		}
	}
	return guards
}

// tellAimless names the hooks that no event is known of, those with the same
// reason in one line: a folder full of them must not bury the outcome.
func (a *app) tellAimless(hooks []*executor.Hook, told map[string]bool) {
	var reasons []string
	names := map[string][]string{}
	for _, h := range hooks {
		told[h.Name] = told[h.Name] || h.Fault != nil
		if h.Status != executor.Rejected || len(h.Events) > 0 {
			continue
		}
		told[h.Name] = true
		why := strings.TrimPrefix(h.Why, h.Name+": ")
		if names[why] == nil {
			reasons = append(reasons, why)
		}
		names[why] = append(names[why], h.Name)
	}
	for _, why := range reasons {
		who := names[why][0] + " is"
		if n := len(names[why]); n > 1 {
			who = plural(n, "hook") + " (" + show.Shorten(joinLines(names[why]), 200) + ") are"
		}
		a.note(who+" not run: "+why, "hookd check says what to do")
	}
}

// tellProblems says that something is wrong beyond what was said by name, with
// one example.
func (a *app) tellProblems(findings []schema.Finding, told map[string]bool) {
	var first *schema.Finding
	errors := 0
	for i := range findings {
		f := &findings[i]
		byName := f.Hook != nil && told[*f.Hook] || isTold(*f) || f.Code == string(schema.CodeUnreadable) ||
			f.Code == string(loader.CodeStateFolder) // that nothing is recorded was said
		if f.Severity != schema.SeverityError || byName {
			continue
		}
		if errors++; first == nil {
			first = f
		}
	}
	if first != nil {
		a.note(plural(errors, "problem")+" in hooks or settings: "+first.File+": "+show.Shorten(first.Message, 200), "hookd check shows them with their remedies")
	}
}
