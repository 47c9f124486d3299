package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/test/prove"
)

const preface = `# Guarantees

What hookd promises, and the figure that proves it. ` + "`make prove`" + ` runs these proofs at
full size, in about 40 minutes, and writes this page. ` + "`make prove ONLY=G4,G10`" + ` runs some of them
and leaves the other rows as they are. ` + "`make test`" + ` runs a short version of each. The proofs
count survivors in the process table. Memory is the resident size. Lateness is read from the
clock.

| # | promise | proof | measured | holds | machine, date |
|---|---|---|---|---|---|
`

// writeDocument writes the rows into the page, together with those that it has of other
// guarantees.
func writeDocument(path string, rows []row) error {
	lines := map[string]string{}
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for line := range strings.Lines(string(old)) {
		if id, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |"); ok && prove.Find(id) != nil {
			lines[id] = line
		}
	}
	where := machine() + ", " + time.Now().UTC().Format(time.DateOnly)
	for _, r := range rows {
		holds := "yes"
		if !r.Held {
			holds = "**no**"
		}
		lines[r.ID] = fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", r.ID, cell(r.Promise), cell(r.Proof), cell(r.Figure), holds, cell(where))
	}
	var text strings.Builder
	text.WriteString(preface)
	for _, g := range prove.Guarantees {
		text.WriteString(lines[g.ID])
	}
	return os.WriteFile(path, []byte(text.String()), 0o644)
}

func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "|", `\|`), "\n", " ")
}

// machine says in a few words what the proofs ran on.
func machine() string {
	words := []string{runtime.GOOS + "/" + runtime.GOARCH, fmt.Sprintf("%d × %s", runtime.NumCPU(), processor())}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		words = append(words, "kernel "+strings.TrimSpace(string(release)))
	}
	return strings.Join(append(words, runtime.Version()), ", ")
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "processor"
}
