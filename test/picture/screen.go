package picture

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	sgr          = regexp.MustCompile("\x1b\\[([0-9;]*)m")
	otherEscapes = regexp.MustCompile("\x1b(?:\\[[0-9;?]*[A-Za-ln-z]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[=>78])|\r")
)

// Screen reads what was printed to a terminal as lines of at most columns characters. It
// knows the styles, and takes away what moves the cursor.
func Screen(printed string, columns int) []Line {
	printed = otherEscapes.ReplaceAllString(printed, "")
	var screen []Line
	var style Style
	for text := range strings.SplitSeq(strings.TrimRight(printed, "\n"), "\n") {
		var line Line
		for text != "" {
			at := sgr.FindStringSubmatchIndex(text)
			if at == nil {
				line = append(line, Span{text, style})
				break
			}
			if at[0] > 0 {
				line = append(line, Span{text[:at[0]], style})
			}
			style = style.changed(text[at[2]:at[3]])
			text = text[at[1]:]
		}
		screen = append(screen, wrapped(line, columns)...)
	}
	return screen
}

func (s Style) changed(codes string) Style {
	for code := range strings.SplitSeq(codes, ";") {
		switch n, _ := strconv.Atoi(code); {
		case n == 0:
			s = Style{}
		case n == 1:
			s.Bold = true
		case n == 2:
			s.Dim = true
		case n == 22:
			s.Bold, s.Dim = false, false
		case n == 39:
			s.Color = 0
		case n >= 30 && n <= 37, n >= 90 && n <= 97:
			s.Color = n
		}
	}
	return s
}

// wrapped breaks a line where a terminal of so many columns does.
func wrapped(line Line, columns int) (lines []Line) {
	var current Line
	room := columns
	for _, span := range line {
		text := []rune(span.Text)
		for len(text) > room {
			lines = append(lines, append(current, Span{string(text[:room]), span.Style}))
			current, text, room = nil, text[room:], columns
		}
		current, room = append(current, Span{string(text), span.Style}), room-len(text)
	}
	return append(lines, current)
}
