package show

import (
	"fmt"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
	"github.com/clipperhouse/displaywidth"

	"github.com/hookd-dev/hookd/internal/text"
)

// Bounds of code that is shown for judging: nothing may be pushed out of sight.
const (
	longestRun   = 40  // blanks in a row that are shown as such
	emptyLines   = 3   // empty lines in a row that are shown as such
	plainColumns = 160 // of a line where the width of the terminal is not known
	leastColumns = 4
)

// Code writes text that a person is to judge, with a prefix before each line: every
// character visible, long lines broken with a mark, and what only takes up room
// counted in its place.
func (p *Printer) Code(prefix, text string) {
	p.codeLines(prefix, Plain, "", strings.Split(strings.TrimSuffix(Visible(text), "\n"), "\n"))
}

// CodeDiff writes what changed in such a text, line by line. Texts that differ in
// anything print something.
func (p *Printer) CodeDiff(prefix, before, after string) {
	if !text.IsVisible(before) || !text.IsVisible(after) {
		// A character that is shown as an escape is not the escape written out.
		before, after = strings.ReplaceAll(before, `\`, `\\`), strings.ReplaceAll(after, `\`, `\\`)
	}
	diff := udiff.Unified("before", "after", endLine(Visible(before)), endLine(Visible(after)))
	sign, run := "", []string(nil)
	tones := map[string]Tone{"-": Bad, "+": Good, " ": Quiet}
	flush := func() { p.codeLines(prefix, tones[sign], sign, run); run = nil }
	for line := range diffLines(diff) {
		switch {
		case line[:1] != sign:
			flush()
			sign = line[:1]
		}
		run = append(run, line[1:])
	}
	flush()
	if strings.HasSuffix(before, "\n") != strings.HasSuffix(after, "\n") && before != "" && after != "" {
		p.Raw(prefix + p.In(Warn, "the line end at the end of the file changed") + "\n")
	}
}

// diffLines returns the lines of a unified diff with a sign. Its first two name the files;
// a line of the text may look like one of those.
func diffLines(diff string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, line := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n") {
			if i < 2 || line == "" || line[0] == '@' {
				continue
			}
			if !yield(line) {
				return
			}
		}
	}
}

// codeLines writes visible lines, empty ones in a row as their number.
func (p *Printer) codeLines(prefix string, tone Tone, sign string, lines []string) {
	for at := 0; at < len(lines); {
		n := 0
		for at+n < len(lines) && empty(lines[at+n]) {
			n++
		}
		if n > emptyLines {
			p.Raw(prefix + p.In(Warn, sign+fmt.Sprintf("… %s empty lines …", Number(int64(n)))) + "\n")
			at += n
			continue
		}
		for i, piece := range p.pieces(lines[at], Width(prefix)+len(sign)) {
			mark := sign
			if i > 0 {
				mark = sign + "↪ "
			}
			p.Raw(prefix + p.In(tone, mark+piece) + "\n")
		}
		at++
	}
}

// pieces breaks a line into what fits after a prefix, anywhere: code has no words.
func (p *Printer) pieces(line string, used int) (pieces []string) {
	columns := plainColumns
	if p.Width > 0 {
		columns = p.Width
	}
	columns = max(columns-used-3, leastColumns)
	var piece strings.Builder
	width := 0
	for _, part := range blanksCounted(line) {
		size := displaywidth.String(part)
		switch part {
		case "\t":
			size = 8
		case "\ufe0f": // the sign before it may be drawn twice as wide
			size = 1
		}
		if size > columns { // only a count of blanks is
			part, size = "⟨…⟩", 3
		}
		if width > 0 && width+size > columns {
			pieces = append(pieces, piece.String())
			piece.Reset()
			width = 0
		}
		piece.WriteString(part)
		width += size
	}
	return append(pieces, piece.String())
}

// blanksCounted returns a line's characters, with long runs of blanks as their number.
func blanksCounted(line string) (parts []string) {
	for len(line) > 0 {
		n, size := 0, 0
		for size < len(line) {
			r, width := utf8.DecodeRuneInString(line[size:])
			if !blank(r) {
				break
			}
			n, size = n+1, size+width
		}
		switch {
		case n > longestRun:
			parts = append(parts, fmt.Sprintf("⟨%s blanks⟩", Number(int64(n))))
		case n == 0:
			_, size = utf8.DecodeRuneInString(line)
			parts = append(parts, line[:size])
		default:
			for _, r := range line[:size] {
				parts = append(parts, string(r))
			}
		}
		line = line[size:]
	}
	return parts
}

// blank reports whether a character shows as room: any space, and the Braille
// pattern without dots.
func blank(r rune) bool { return r == '\t' || unicode.Is(unicode.Zs, r) || r == 0x2800 }

func empty(line string) bool { return strings.TrimFunc(line, blank) == "" }

// Middle cuts text in the middle to about a number of characters, and says how many
// are left out: the end of a command says as much as its beginning. Long runs of
// blanks are shown as their number.
func Middle(text string, most int) string {
	text = strings.Join(blanksCounted(text), "")
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	head, tail := most*2/3, most/3
	return fmt.Sprintf("%s … %s characters not shown … %s", string(runes[:head]), Number(int64(len(runes)-head-tail)), string(runes[len(runes)-tail:]))
}

// Number writes a number with a comma after each thousand.
func Number(n int64) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
