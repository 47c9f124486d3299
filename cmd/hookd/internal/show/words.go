package show

import (
	"fmt"
	"strings"
)

// AndList is a list as a sentence has it: a, b and c.
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

func FirstLine(text string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if rest != "" {
		first += " …"
	}
	return first
}

// OnOneLine is the beginning of a text of several lines: a line end is a blank.
func OnOneLine(text string, most int) string {
	return Line(Shorten(strings.Join(strings.Fields(text), " "), most))
}
