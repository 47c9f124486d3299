package show

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Printer writes for people to one stream. The zero value of Color and Width is
// right for a file or a pipe.
type Printer struct {
	W     io.Writer
	Color bool // the stream is a terminal and NO_COLOR is not set
	Width int  // columns, 0 where nobody looks: no terminal
	Dumb  bool // the terminal can do no more than print line by line
}

// usualWidth is that of a terminal that does not know its own, as one of size 0×0.
const usualWidth = 80

// New returns a printer for a stream: coloured only on a terminal, and not
// under NO_COLOR or TERM=dumb.
func New(w io.Writer) *Printer {
	p := &Printer{W: w}
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return p
	}
	p.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	p.Dumb = os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == ""
	p.Width = usualWidth
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		p.Width = width
	}
	return p
}

// Tone is what a text's colour means.
type Tone int

const (
	Plain Tone = iota
	Strong
	Quiet
	Good
	Warn
	Bad
	Name
)

// The attributes of a tone (ECMA-48, select graphic rendition).
var attributes = [...]string{Strong: "1", Quiet: "2", Good: "32", Warn: "33", Bad: "1;31", Name: "36"}

// In paints text, line by line. The text must be visible already, see [Visible].
func (p *Printer) In(tone Tone, text string) string {
	if !p.Color || tone == Plain || text == "" {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = "\x1b[" + attributes[tone] + "m" + line + "\x1b[m"
		}
	}
	return strings.Join(lines, "\n")
}

// Print writes formatted text; on a terminal whole lines are broken between
// words. A write that fails, such as to a closed pipe, is not an error worth a
// message of its own.
func (p *Printer) Print(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.Width > 0 && strings.HasSuffix(text, "\n") {
		text = wrap(text, p.Width)
	}
	p.Raw(text)
}

// Raw writes text as it is: JSON, code, what is to be copied.
func (p *Printer) Raw(text string) { io.WriteString(p.W, text) }

// Indented writes text as it is, with a prefix before each of its lines.
func (p *Printer) Indented(prefix string, tone Tone, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		p.Raw(prefix + p.In(tone, line) + "\n")
	}
}

// IsTerminal reports whether a person is at the other end.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
