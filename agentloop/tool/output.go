package tool

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// clip keeps the head and the tail of what is written to it, in bounded
// memory: the beginning of a command's output says what it is, the end how it
// went.
type clip struct {
	limit int64
	head  []byte
	tail  []byte // ring of the last limit/2 bytes, next is its oldest byte once full
	next  int
	total int64
}

func newClip(limit int64) *clip {
	return &clip{limit: limit, tail: make([]byte, 0, limit-limit/2)}
}

func (c *clip) Write(p []byte) (int, error) {
	c.total += int64(len(p))
	rest := p
	if room := int(c.limit/2) - len(c.head); room > 0 {
		n := min(room, len(rest))
		c.head = append(c.head, rest[:n]...)
		rest = rest[n:]
	}
	size := cap(c.tail)
	if len(rest) >= size {
		c.tail = append(c.tail[:0], rest[len(rest)-size:]...)
		c.next = 0
		return len(p), nil
	}
	if room := size - len(c.tail); room > 0 {
		n := min(room, len(rest))
		c.tail = append(c.tail, rest[:n]...)
		rest = rest[n:]
	}
	for len(rest) > 0 {
		n := copy(c.tail[c.next:], rest)
		rest = rest[n:]
		c.next = (c.next + n) % size
	}
	return len(p), nil
}

// String returns the kept output as valid UTF-8, with a mark where some was cut.
func (c *clip) String() string {
	tail := string(c.tail[c.next:]) + string(c.tail[:c.next])
	kept := int64(len(c.head) + len(c.tail))
	if cut := c.total - kept; cut > 0 {
		return utf8Only(string(c.head)) + fmt.Sprintf("\n… %d bytes cut …\n", cut) + utf8Only(tail)
	}
	return utf8Only(string(c.head) + tail)
}

func utf8Only(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// shownLimit is how many bytes of one call's output are shown while it works. A
// program that writes without end must not fill the place that keeps what is shown.
const shownLimit = 1 << 20

// showing returns a writer that shows, as [Output] does, what is written to it:
// as text, with a character that two writes split in one piece.
func showing(ctx context.Context) io.Writer {
	show := watcher(ctx)
	if show == nil {
		return io.Discard
	}
	return &shown{show: show}
}

// shown passes output on in whole characters, up to a limit.
type shown struct {
	show func(string)
	half []byte // the beginning of a character
	sent int
}

func (s *shown) Write(p []byte) (int, error) {
	if s.sent >= shownLimit {
		return len(p), nil
	}
	text := append(s.half, p...)
	whole := len(text) - unfinished(text)
	s.half = append([]byte(nil), text[whole:]...)
	if text = text[:whole]; len(text) > 0 {
		s.sent += len(text)
		piece := utf8Only(string(text))
		if s.sent >= shownLimit {
			piece += "\n… further output is not shown while the tool works …\n"
		}
		s.show(piece)
	}
	return len(p), nil
}

// unfinished returns how many bytes at the end are the beginning of a character.
func unfinished(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if b := p[len(p)-n]; utf8.RuneStart(b) {
			if !utf8.FullRune(p[len(p)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// Limits of the file tools: bytes of a file that is read or edited, bytes and
// lines of a result.
const (
	maxFile    = 16 << 20
	maxResult  = 256 << 10
	maxLines   = 2000
	maxEntries = 1000
)
