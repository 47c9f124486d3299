package engine

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/schema"
)

// startNotes prints what the person must know about a project before its hooks run.
type startNotes struct {
	console  *cli.Console
	loop     bool // the agent loop runs, which uses skills, recipes and servers too
	reviewed bool // the person was asked about what of the project waits
}

// StartNotes returns what hookd bridge and hookd fire print before the hooks of a snapshot
// decide an event, for who decides events in their place.
func StartNotes(s *loader.Snapshot) []byte {
	var text bytes.Buffer
	startNotes{console: &cli.Console{Err: show.New(&text)}}.print(s)
	return text.Bytes()
}

// print names the hooks that are absent although somebody put them there: nobody allowed
// them, nothing says what they are for, or something is wrong with them or with the
// settings. Hooks that fail are named where they fail.
func (n startNotes) print(s *loader.Snapshot) {
	n.files(s)
	if !n.reviewed {
		n.waiting(s)
	}
	if !n.console.NotesArePrinted() {
		return
	}
	told := map[string]bool{}
	n.withoutEvents(s.Set.Hooks, told)
	n.problems(s.Findings, told)
}

// files says, to programs too, where the files are not what decides (protocol, section
// 6.1).
func (n startNotes) files(s *loader.Snapshot) {
	for _, f := range s.Findings {
		if IsTold(f) && f.Code != string(loader.CodeSettingsUntrusted) { // that is said with all else that waits
			n.console.Note(f.File+": "+f.Message, f.Remedy)
		}
	}
}

// IsTold reports whether each process prints a finding.
func IsTold(f schema.Finding) bool { return slices.Contains(loader.ToldOnce, schema.Code(f.Code)) }

// waiting names on one line what of the project is not in force because nobody allowed it.
func (n startNotes) waiting(s *loader.Snapshot) {
	var parts []string
	settings := slices.ContainsFunc(s.Findings, func(f schema.Finding) bool { return f.Code == string(loader.CodeSettingsUntrusted) })
	if settings {
		parts = append(parts, "the settings")
	}
	if !n.console.NotesArePrinted() && !settings {
		return
	}
	named := func(what string, names []string) {
		if len(names) > 0 {
			parts = append(parts, text.Count(len(names), what)+" ("+show.Shorten(strings.Join(names, " "), 120)+")")
		}
	}
	named("hook", s.Unallowed)
	if n.loop {
		files, others := instructionFiles(s.UnallowedResources)
		what := "skill, recipe or server"
		if len(others) > 1 {
			what = "skills, recipes or server" // with the s of the plural
		}
		named(what, others)
		parts = append(parts, files...)
		n.changedInstructions(s)
	}
	guards := WaitingGuards(s)
	refuse := ""
	if len(guards) > 0 {
		refuse = "; until then " + show.Shorten(strings.Join(guards, " "), 120) + " refuse their events"
		if len(guards) == 1 {
			refuse = "; until then " + guards[0] + " refuses its events"
		}
	}
	switch {
	case len(parts) > 0:
		n.console.Note("not in force in this project, nobody allowed it yet: "+show.AndList(parts)+refuse, "hookd trust shows it and asks")
	case refuse != "":
		n.console.Note("nobody allowed the guards of this project as they are"+refuse, "hookd trust shows them and asks")
	}
}

// instructionFiles tells the files of instructions among resources from the others.
func instructionFiles(resources []string) (files, others []string) {
	for _, name := range resources {
		before := len(name) - len(strings.TrimLeft(name, "./")) // the way to a project above
		if file, is := strings.CutPrefix(name[before:], "instructions/"); is {
			files = append(files, show.Line(name[:before]+file))
		} else {
			others = append(others, name)
		}
	}
	return files, others
}

// changedInstructions names the files of instructions that are not read because they are not
// what was allowed.
func (n startNotes) changedInstructions(s *loader.Snapshot) {
	var names []string
	for _, m := range s.Resources {
		if m.Kind == loader.KindInstructions && m.Status == executor.Changed {
			names = append(names, show.Line(m.Name))
		}
	}
	switch {
	case len(names) == 1:
		n.console.Note(names[0]+" is not read: it changed since it was allowed", "hookd trust shows what changed and asks")
	case len(names) > 1:
		n.console.Note(show.AndList(names)+" are not read: they changed since they were allowed", "hookd trust shows what changed and asks")
	}
}

// WaitingGuards returns the guards of the project that refuse until a person looks at them:
// new ones, and those that changed or are gone since they were allowed.
func WaitingGuards(s *loader.Snapshot) (guards []string) {
	for _, h := range s.Hooks {
		waits := h.Status == executor.Untrusted && h.DescribedBy != "" || h.Status == executor.Changed || h.Status == executor.Gone
		if waits && h.Fault != nil && h.Outer == 0 {
			guards = append(guards, h.Name)
		}
	}
	return guards
}

// withoutEvents names the hooks that no event is known of, those with the same
// reason in one line: a folder full of them must not hide the outcome.
func (n startNotes) withoutEvents(hooks []*executor.Hook, told map[string]bool) {
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
		if count := len(names[why]); count > 1 {
			who = text.Count(count, "hook") + " (" + show.Shorten(strings.Join(names[why], " "), 200) + ") are"
		}
		n.console.Note(who+" not run: "+why, "hookd check says what to do")
	}
}

// problems says that something is wrong beyond what was said by name, with
// one example.
func (n startNotes) problems(findings []schema.Finding, told map[string]bool) {
	var first *schema.Finding
	errors := 0
	for i := range findings {
		f := &findings[i]
		byName := f.Hook != nil && told[*f.Hook] || IsTold(*f) || f.Code == string(schema.CodeUnreadable) ||
			f.Code == string(loader.CodeStateFolder) // that nothing is recorded was said
		if f.Severity != schema.SeverityError || byName {
			continue
		}
		if errors++; first == nil {
			first = f
		}
	}
	if first != nil {
		n.console.Note(text.Count(errors, "problem")+" in hooks or settings: "+first.File+": "+show.Shorten(first.Message, 200), "hookd check shows them with their remedies")
	}
}
