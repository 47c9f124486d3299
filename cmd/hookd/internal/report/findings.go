package report

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/schema"
)

// GroupFindings puts findings together that say the same of several places,
// errors before warnings: a folder full of hooks that nobody allowed must not hide
// the error among them.
func GroupFindings(findings []schema.Finding) [][]schema.Finding {
	type same struct{ severity, code, message, remedy string }
	var order []same
	groups := map[same][]schema.Finding{}
	for _, f := range findings {
		key := same{string(f.Severity), f.Code, f.Message, f.Remedy}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], f)
	}
	slices.SortStableFunc(order, func(a, b same) int {
		return strings.Compare(a.severity, b.severity) // error before warning
	})
	sorted := make([][]schema.Finding, len(order))
	for i, key := range order {
		sorted[i] = groups[key]
	}
	return sorted
}

// mostPlaces is how many places of one group are shown, mostNames how many names where they
// share a line.
const (
	mostPlaces = 8
	mostNames  = 24
)

// Findings prints findings that differ in their place only.
func Findings(p *show.Printer, group []schema.Finding) {
	first := group[0]
	mark := p.In(show.Bad, "✗ error")
	if first.Severity == schema.SeverityWarning {
		mark = p.In(show.Warn, "! warning")
	}
	times := ""
	if len(group) > 1 {
		times = ", " + strconv.Itoa(len(group)) + " times"
	}
	p.Print("%s  %s%s\n", mark, show.Line(first.Message), p.In(show.Quiet, " ("+first.Code+times+")"))
	if folder, names := inOneFolder(group); folder != "" {
		p.Print("    %s: %s\n", show.Line(shown(folder)), strings.Join(names, " "))
	} else {
		places(p, group)
	}
	if first.Remedy != "" {
		p.Print("    %s\n", p.In(show.Quiet, "→ "+show.Line(first.Remedy)))
	}
}

// places prints where findings were made, a line each.
func places(p *show.Printer, group []schema.Finding) {
	for i := range group {
		if i == mostPlaces && len(group) > mostPlaces+1 {
			p.Print("    … and %d more\n", len(group)-i)
			break
		}
		if where := placeOf(&group[i]); where != "" {
			p.Print("    %s\n", where)
		}
	}
}

// inOneFolder returns the folder that whole files lie in that have the same to be said of
// them, and their names: a folder full of hooks that nobody allowed has one line. It returns
// "" for a single file, and where a place is more than a file.
func inOneFolder(group []schema.Finding) (folder string, names []string) {
	if len(group) < 2 {
		return "", nil
	}
	for i := range group {
		f := &group[i]
		if f.File == "" || f.Line != nil || f.Path != nil || folder != "" && folder != filepath.Dir(f.File) {
			return "", nil
		}
		folder = filepath.Dir(f.File)
		name := filepath.Base(f.File)
		if f.Hook != nil && *f.Hook != name {
			return "", nil
		}
		names = append(names, show.Line(name))
	}
	if len(names) > mostNames+1 {
		names = append(names[:mostNames:mostNames], "… and "+strconv.Itoa(len(names)-mostNames)+" more")
	}
	return folder, names
}

// shown is a path as the person would type it: from the working directory where it lies
// below that.
func shown(path string) string {
	if wd, err := os.Getwd(); err == nil {
		if below, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(below) {
			return below
		}
	}
	return path
}

// placeOf says where a finding was made.
func placeOf(f *schema.Finding) string {
	var where []string
	if f.File != "" {
		file := show.Line(shown(f.File))
		if f.Line != nil {
			file += ":" + strconv.Itoa(*f.Line)
		}
		where = append(where, file)
	}
	if f.Path != nil {
		where = append(where, "at "+show.Line(*f.Path))
	}
	if f.Hook != nil {
		where = append(where, "hook "+show.Line(*f.Hook))
	}
	return strings.Join(where, ", ")
}

// FindingCount says how many findings there are.
func FindingCount(p *show.Printer, findings []schema.Finding) {
	errors := 0
	for i := range findings {
		if findings[i].Severity == schema.SeverityError {
			errors++
		}
	}
	var parts []string
	if errors > 0 {
		parts = append(parts, text.Count(errors, "error"))
	}
	if warnings := len(findings) - errors; warnings > 0 {
		parts = append(parts, text.Count(warnings, "warning"))
	}
	if len(parts) == 0 {
		p.Print("%s no problems\n", p.In(show.Good, "✓"))
		return
	}
	p.Print("%s\n", strings.Join(parts, ", "))
}
