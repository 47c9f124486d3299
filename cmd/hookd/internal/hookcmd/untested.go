package hookcmd

import (
	"os"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/testfile"
)

// untestedGuards returns the names of the guards that rule here and have no tests. Those of
// another agent's settings do not count: their tests are that agent's matter.
func untestedGuards(snapshot *loader.Snapshot) []string {
	names := []string{}
	tested := func(paths []string) bool {
		return slices.ContainsFunc(paths, func(path string) bool { _, err := os.Lstat(path); return err == nil })
	}
	for _, info := range snapshot.Hooks {
		hook := info.Hook
		guards := hook.Status == executor.Ready && hook.Can == protocol.CanBlock
		if !guards || hook.Imported != nil || hook.Layer == protocol.Builtin || hook.Layer == protocol.Managed {
			continue
		}
		if info.Tests == nil && !tested(places.TestPaths(snapshot, hook)) && (info.Pack == "" || !tested(places.PackTestPaths(info.Pack))) {
			names = append(names, hook.Name)
		}
	}
	return names
}

// showUntested prints a note, which is no finding: nothing is wrong.
func showUntested(p *show.Printer, names []string) {
	const most = 5
	if len(names) == 0 {
		return
	}
	shown := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		shown += ", …"
	}
	verb := "has"
	if len(names) > 1 {
		verb = "have"
	}
	p.Print("%s  %s %s no tests: %s (write %s.test.yaml beside it, then hookd test)\n",
		p.In(show.Quiet, "· untested"), text.Count(len(names), "guard"), verb, p.In(show.Name, show.Line(shown)), show.Line(names[0]))
}

// testFindings are what is wrong with tests that entries of settings carry. The hooks rule
// all the same, and so these are warnings.
func testFindings(snapshot *loader.Snapshot) (all []schema.Finding) {
	for _, info := range snapshot.Hooks {
		if info.Tests == nil {
			continue
		}
		_, findings := testfile.OfEntry(info.Tests)
		for _, f := range findings {
			f.Severity, f.Hook = schema.SeverityWarning, &info.Hook.Name
			all = append(all, f)
		}
	}
	return all
}
