package eventcmd

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/schema"
)

// testReport is what hookd test prints.
type testReport struct {
	Passed   bool             `json:"passed"`
	Tests    int              `json:"tests"`
	Failed   int              `json:"failed"`
	NotRun   int              `json:"notRun"` // of hooks that may not run
	TookMs   float64          `json:"tookMs"`
	Hooks    []suiteReport    `json:"hooks"`
	Findings []schema.Finding `json:"findings"` // about test files; each is a failure

	suites []*suite
}

type suiteReport struct {
	Hook   string       `json:"hook"`
	File   string       `json:"file"`
	NotRun string       `json:"notRun,omitzero"` // why none of its tests was run
	Remedy string       `json:"remedy,omitzero"`
	Tests  []testResult `json:"tests"`
}

func newTestReport(found *foundTests, took time.Duration) *testReport {
	r := &testReport{TookMs: float64(took.Microseconds()) / 1000, Hooks: []suiteReport{}, Findings: append([]schema.Finding{}, found.findings...), suites: found.suites}
	for _, s := range found.suites {
		one := suiteReport{Hook: s.hook.Name, File: s.file.Path, Tests: append([]testResult{}, s.results...)}
		r.Findings = append(r.Findings, s.findings...)
		r.Tests += len(s.file.Tests)
		if s.fault != nil {
			one.NotRun, one.Remedy = s.fault.Message, s.fault.Hint
			r.NotRun += max(1, len(s.file.Tests))
		}
		for _, result := range s.results {
			if !result.Passed {
				r.Failed++
			}
		}
		r.Hooks = append(r.Hooks, one)
	}
	r.Passed = r.Failed == 0 && r.NotRun == 0 && len(r.Findings) == 0
	return r
}

// show prints a line for each test, what differs below those that failed, and a summary.
func (r *testReport) show(p *show.Printer) {
	for _, s := range r.suites {
		p.Print("%s  %s\n", p.In(show.Name, show.Line(s.hook.Name)), p.In(show.Quiet, show.Line(fromHere(s.file.Path))))
		if s.fault != nil {
			p.Print("  %s %s\n", p.In(show.Bad, "✗ not run:"), show.Line(strings.TrimPrefix(s.fault.Message, s.hook.Name+" cannot run: ")))
			if hint := show.Line(s.fault.Hint); hint != "" {
				if s.of.file == "" && places.IsFile(s.hook) { // naming an entry is no consent
					hint += "; or hookd test " + show.Line(s.hook.Name) + ", which runs it once"
				}
				p.Print("      %s\n", p.In(show.Quiet, hint))
			}
		}
		for i := range s.results {
			s.results[i].show(p, s)
		}
	}
	for _, f := range r.Findings {
		report.Findings(p, []schema.Finding{f})
	}
	p.Print("%s\n", r.summary(p))
}

func (result *testResult) show(p *show.Printer, s *suite) {
	name := show.Line(result.Name)
	if result.Passed {
		p.Print("  %s %s  %s\n", p.In(show.Good, "✓"), name, p.In(show.Quiet, show.Milliseconds(result.TookMs)))
		return
	}
	p.Print("  %s %s  %s\n", p.In(show.Bad, "✗"), p.In(show.Bad, name), p.In(show.Quiet, show.Line(fmt.Sprintf("%s:%d", fromHere(s.file.Path), result.Line))))
	if result.Error != "" {
		p.Print("      %s\n", show.Line(result.Error))
		if result.Remedy != "" {
			p.Print("      %s\n", p.In(show.Quiet, show.Line(result.Remedy)))
		}
		return
	}
	width := 0
	for _, m := range result.Mismatches {
		width = max(width, show.Width(m.What))
	}
	for _, m := range result.Mismatches {
		what := show.Line(m.What) + strings.Repeat(" ", width-show.Width(m.What))
		side(p, show.Bad, "- "+what, m.Want)
		side(p, show.Good, "+ "+what, m.Got)
	}
	if stderr := show.LastLines(result.Stderr, 5); stderr != "" {
		p.Print("      %s\n", p.In(show.Quiet, "stderr"))
		p.Indented("        ", show.Quiet, show.Visible(stderr))
	}
}

// side prints one side of a difference; further lines of it begin below the first.
func side(p *show.Printer, tone show.Tone, what, value string) {
	prefix := "      " + what + "  "
	for line := range strings.SplitSeq(show.Visible(value), "\n") {
		p.Raw(p.In(tone, prefix+line) + "\n")
		prefix = "      " + what[:2] + strings.Repeat(" ", show.Width(what))
	}
}

func (r *testReport) summary(p *show.Printer) string {
	passed := -r.Failed
	for _, s := range r.suites {
		passed += len(s.results)
	}
	parts := []string{}
	if passed > 0 || r.Passed {
		parts = append(parts, p.In(show.Good, text.Count(passed, "test")+" passed"))
	}
	if r.Failed > 0 {
		parts = append(parts, p.In(show.Bad, fmt.Sprintf("%d failed", r.Failed)))
	}
	if r.NotRun > 0 {
		parts = append(parts, p.In(show.Bad, fmt.Sprintf("%d not run", r.NotRun)))
	}
	if n := len(r.Findings); n > 0 {
		parts = append(parts, p.In(show.Bad, text.Count(n, "problem")+" in test files"))
	}
	return strings.Join(parts, ", ") + p.In(show.Quiet, fmt.Sprintf("  %s, %s", text.Count(len(r.suites), "file"), show.Milliseconds(r.TookMs)))
}

// fromHere returns a path as it is seen from the working directory, if it lies below that.
func fromHere(path string) string {
	cwd, err := os.Getwd()
	if err != nil {
		return path
	}
	if real, err := filepath.EvalSymlinks(cwd); err == nil {
		if rel, err := filepath.Rel(cmp.Or(real, cwd), path); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return path
}
