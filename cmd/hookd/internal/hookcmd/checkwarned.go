package hookcmd

import (
	"fmt"
	"regexp"
	"sync"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/schema"
)

// pastWarning is what had to be said of a hook's answers, more than once perhaps.
type pastWarning struct {
	text string // of one of them
	same string // the text without its numbers
	runs int
}

// mostWarned is how many different warnings of one hook check shows.
const mostWarned = 5

var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+`) })

// warn counts a warning with those that differ in figures only.
func (p *pastRuns) warn(text string) {
	same := number().ReplaceAllString(text, "0")
	for _, w := range p.warned {
		if w.same == same {
			w.runs++
			return
		}
	}
	if len(p.warned) < mostWarned {
		p.warned = append(p.warned, &pastWarning{text, same, 1})
	}
}

// findings returns the warnings of the recorded runs of a hook as it is now. Runs of
// earlier contents of the hook do not count.
func (p *pastRuns) findings(info *loader.Info) (findings []schema.Finding) {
	for _, w := range p.warned {
		name := info.Name
		findings = append(findings, schema.Finding{
			Severity: schema.SeverityWarning, Code: string(loader.CodeWarned), File: info.Path, Hook: &name,
			Message: fmt.Sprintf("%s (%s)", w.text, text.Count(w.runs, "recorded run")),
			Remedy:  "hookd log --hook " + name + " shows when",
		})
	}
	return findings
}
