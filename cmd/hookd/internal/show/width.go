package show

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Width returns how many columns a text takes on a terminal: of its widest line, and
// without what paints it.
func Width(text string) int {
	widest := 0
	for line := range strings.SplitSeq(text, "\n") {
		widest = max(widest, displaywidth.Options{ControlSequences: true}.String(line))
	}
	return widest
}

// Rows breaks lines that are wider than a terminal, anywhere, so that each of what it returns
// takes one row of the screen. With a width of 0 nothing is broken.
func Rows(text string, width int) (rows []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if width <= 0 || Width(line) <= width {
			rows = append(rows, line)
			continue
		}
		var row strings.Builder
		column := 0
		for g := (displaywidth.Options{ControlSequences: true}).StringGraphemes(line); g.Next(); {
			if column > 0 && column+g.Width() > width {
				rows = append(rows, row.String())
				row.Reset()
				column = 0
			}
			row.WriteString(g.Value())
			column += g.Width()
		}
		rows = append(rows, row.String())
	}
	return rows
}
