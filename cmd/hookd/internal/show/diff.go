package show

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/go-json-experiment/json/jsontext"
)

// Diff prints what changed between two texts as a unified diff without its file
// names, each line behind a prefix. Equal texts print nothing.
func (p *Printer) Diff(prefix, before, after string) {
	diff := udiff.Unified("before", "after", endLine(Visible(before)), endLine(Visible(after)))
	for line := range diffLines(diff) {
		switch line[0] {
		case '-':
			p.Raw(prefix + p.In(Bad, line) + "\n")
		case '+':
			p.Raw(prefix + p.In(Good, line) + "\n")
		default:
			p.Raw(prefix + p.In(Quiet, line) + "\n")
		}
	}
}

// UnifiedDiff is the plain diff of two JSON values, for programs.
func UnifiedDiff(before, after jsontext.Value) string {
	return udiff.Unified("before", "after", endLine(Pretty(before)), endLine(Pretty(after)))
}

// Pretty indents a JSON value. What is not JSON comes back as it is.
func Pretty(value jsontext.Value) string {
	if len(value) == 0 {
		return ""
	}
	pretty := value.Clone()
	if err := pretty.Indent(jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return string(value)
	}
	return string(pretty)
}

// Compact writes a JSON value on one line.
func Compact(value jsontext.Value) string {
	compact := value.Clone()
	if err := compact.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return string(value)
	}
	return string(compact)
}

func endLine(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
