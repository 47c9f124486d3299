package show

import (
	"fmt"
	"strings"
)

// AndList returns a list as a sentence has it: a, b and c.
func AndList(parts []string) string {
	if last := len(parts) - 1; last > 0 {
		return strings.Join(parts[:last], ", ") + " and " + parts[last]
	}
	return strings.Join(parts, "")
}

// OneLine keeps an error on one line, joined by blanks where it had line ends.
func OneLine(text string) string {
	return Line(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), " "))
}

// LastLines returns the last n lines of a text.
func LastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}

// Milliseconds writes a time for people.
func Milliseconds(ms float64) string {
	switch {
	case ms < 10:
		return fmt.Sprintf("%.1fms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0fms", ms)
	}
	return fmt.Sprintf("%.1fs", ms/1000)
}

// FirstLine returns the first line of a text, with … if there are more.
func FirstLine(text string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if rest != "" {
		first += " …"
	}
	return first
}

// OnOneLine returns the beginning of a text of several lines: a line end becomes a blank.
func OnOneLine(text string, most int) string {
	return Line(Shorten(strings.Join(strings.Fields(text), " "), most))
}
