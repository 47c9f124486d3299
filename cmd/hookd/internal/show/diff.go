package show

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/go-json-experiment/json/jsontext"
)

// Diff prints what changed between two texts as a unified diff without its file
// names, each line after a prefix. Equal texts print nothing.
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

// Changed returns the lines that a text has more than another before it, and those that it
// has no more.
func Changed(before, after string) (added, removed []string) {
	for line := range diffLines(udiff.Unified("before", "after", endLine(Visible(before)), endLine(Visible(after)))) {
		switch line[0] {
		case '+':
			added = append(added, line[1:])
		case '-':
			removed = append(removed, line[1:])
		}
	}
	return added, removed
}

// UnifiedDiff returns the plain diff of two JSON values, for programs.
func UnifiedDiff(before, after json.RawMessage) string {
	return udiff.Unified("before", "after", endLine(Pretty(before)), endLine(Pretty(after)))
}

// Pretty indents a JSON value. What is not JSON comes back as it is.
func Pretty(value json.RawMessage) string {
	if len(value) == 0 {
		return ""
	}
	pretty := slices.Clone(value)
	if err := (*jsontext.Value)(&pretty).Indent(jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return string(value)
	}
	return string(pretty)
}

// Compact writes a JSON value on one line.
func Compact(value json.RawMessage) string {
	compact := slices.Clone(value)
	if err := (*jsontext.Value)(&compact).Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
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
