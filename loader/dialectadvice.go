package loader

import (
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/schema"
)

// SpeaksOtherwise returns the finding about a hook file that plainly was written for
// another agent and does not say so, nil for any other. It looks at the file's text, so
// that it may be wrong; nothing depends on it.
func SpeaksOtherwise(file, hook string) *schema.Finding {
	text := codeOf(file)
	name, word := dialect.Speaks(text)
	if name == "" {
		return nil
	}
	mark := "#"
	if first, _, _ := strings.Cut(text, "\n"); strings.Contains(first, "node") || strings.Contains(first, "deno") || strings.Contains(first, "bun") {
		mark = "//"
	}
	f := report.New(report.SpeaksOtherwise, file, 0, hook,
		fmt.Sprintf("it has the word %s, as hooks of %s do, and is asked in hookd's own protocol", strings.Trim(word, `"'\`), dialect.FindForeign(name).Title),
		fmt.Sprintf("if it was written for that agent, add the line: %s %s", mark, dialect.HeaderFor(name, text)))
	return &f
}

// speaksOtherwise is the finding about a hook of a snapshot.
func speaksOtherwise(h *Info) *schema.Finding {
	if h.Path == "" || h.Dialect != dialect.Own && h.Dialect != "" {
		return nil
	}
	return SpeaksOtherwise(h.Path, h.Name)
}
