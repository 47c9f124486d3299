package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/golden"
)

// What is wrong is shown once, however many places it is wrong in: errors first, counted,
// with the remedy on a line of its own, at the widths of usual terminals.
func TestFindingsAreGrouped(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	hooks := filepath.Join(wd, ".acai", "hooks")
	at := func(file string, line int, path string) schema.Pos {
		return schema.Pos{File: file, Line: line, Path: path}
	}
	var findings []schema.Finding
	for i := range 30 {
		name := fmt.Sprintf("g%d.sh", i+1)
		findings = append(findings, schema.NewFinding(at(filepath.Join(hooks, name), 0, ""), name, schema.SeverityWarning, "hook-untrusted",
			"it is not run: nobody allowed it yet", "look at it and allow it with: hookd trust"))
	}
	for i := range 11 {
		name := fmt.Sprintf("h%d.sh", i+1)
		findings = append(findings, schema.NewFinding(at(filepath.Join(hooks, name), 2, "tmeout"), name, schema.SeverityError, schema.CodeUnknownKey,
			`there is no key "tmeout" here`, `did you mean "timeout"?`))
	}
	settings := filepath.Join(wd, ".acai", "acai.json")
	findings = append(findings, schema.NewFinding(at(settings, 3, "hooks.use[0].match.tool"), "g1.sh", schema.SeverityError, schema.CodeBadMatcher,
		"\"[x\" is no valid glob\x1b[2J", "close the bracket or brace"))
	for _, width := range []int{80, 120} {
		var out bytes.Buffer
		p := &show.Printer{W: &out, Width: width}
		for _, group := range GroupFindings(findings) {
			Findings(p, group)
		}
		FindingCount(p, findings)
		file := filepath.Join("testdata", fmt.Sprintf("findings-%d.txt", width))
		golden.Check(t, file, out.Bytes())
		for line := range bytes.Lines(out.Bytes()) {
			if n := show.Width(string(bytes.TrimSuffix(line, []byte("\n")))); n > width {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
	var out bytes.Buffer
	FindingCount(&show.Printer{W: &out}, nil)
	if out.String() != "✓ no problems\n" {
		t.Errorf("without findings: %q", out.String())
	}
}
