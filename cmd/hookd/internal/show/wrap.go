package show

import (
	"regexp"
	"strings"
	"sync"
)

// wrap breaks the lines of a text that are wider than a terminal between words,
// and begins what follows below the first word. A terminal would break them
// anywhere, and begin at the edge.
func wrap(text string, width int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if Width(line) > width {
			lines[i] = wrapLine(line, hang(line), width)
		}
	}
	return strings.Join(lines, "\n")
}

// wrapLine breaks one line; what follows is indented by hang, or little if that
// would leave no room. A word that is wider than the room stays whole, so that
// a path can be copied.
func wrapLine(line string, hang, width int) string {
	const leastRoom = 24
	if width-hang < leastRoom {
		hang = min(4, width/4)
	}
	var b strings.Builder
	column, gap := 0, 0
	for i, word := range strings.Split(line, " ") {
		if i > 0 {
			gap++
		}
		size := Width(word)
		if word == "" {
			continue
		}
		if column > hang && column+gap+size > width {
			b.WriteString("\n" + strings.Repeat(" ", hang))
			column, gap = hang, 0
		}
		b.WriteString(strings.Repeat(" ", gap) + word)
		column, gap = column+gap+size, 0
	}
	return b.String()
}

var paint = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[[0-9;]*m`) })

// hang returns where the text of a line begins: after a first column that two blanks
// set off, else a little right of the line's own begin.
func hang(line string) int {
	const widestFirst = 26
	plain := paint().ReplaceAllString(line, "")
	begin := len(plain) - len(strings.TrimLeft(plain, " "))
	if i := strings.Index(plain[begin:], "  "); i > 0 {
		rest := plain[begin+i:]
		column := Width(plain[:begin+i]) + len(rest) - len(strings.TrimLeft(rest, " "))
		if column <= widestFirst {
			return column
		}
	}
	return begin + 2
}
