package picture

import (
	"encoding/xml"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Span is text in one style.
type Span struct {
	Text  string
	Style Style
}

// A Style is what escape codes say of a text: a colour's code (31 is red), 0 is none.
type Style struct {
	Bold, Dim bool
	Color     int
}

// A Line is a line of the screen.
type Line []Span

const (
	advance    = 8.4 // of a character, at 14 pixels
	lineHeight = 20
	margin     = 16
	barHeight  = 32 // with the three buttons of a window
)

var colors = map[int]string{
	0: "#d4d4d8", 31: "#f87171", 32: "#4ade80", 33: "#facc15", 34: "#60a5fa", 35: "#c084fc", 36: "#22d3ee", 90: "#a1a1aa",
}

// Draw returns the picture of a screen as an SVG, as wide as columns. title is what a
// program reads to a person who does not see it.
func Draw(screen []Line, columns int, title string) string {
	width := int(float64(columns)*advance) + 2*margin
	height := barHeight + len(screen)*lineHeight + margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", escaped(title))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#18181b"/>`+"\n", width, height)
	for i, color := range []string{"#f87171", "#facc15", "#4ade80"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="16" r="5" fill="%s"/>`+"\n", margin+5+i*18, color)
	}
	for i, line := range screen {
		drawLine(&b, line, barHeight+(i+1)*lineHeight-6)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func drawLine(b *strings.Builder, line Line, y int) {
	column := 0
	for _, span := range line {
		n := utf8.RuneCountInString(span.Text)
		if strings.TrimSpace(span.Text) != "" {
			weight := ""
			if span.Style.Bold {
				weight = ` font-weight="bold"`
			}
			color, known := colors[span.Style.Color]
			if !known || span.Style.Dim {
				color = colors[90]
			}
			// The length is given, so that columns stay columns in any font.
			fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f" xml:space="preserve" fill="%s"%s>%s</text>`+"\n",
				margin+float64(column)*advance, y, float64(n)*advance, color, weight, escaped(span.Text))
		}
		column += n
	}
}

func escaped(text string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		return ""
	}
	return b.String()
}
