package tool

import (
	"fmt"
	"strings"
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

// String is the kept output as valid UTF-8, with a mark where some was cut.
func (c *clip) String() string {
	tail := string(c.tail[c.next:]) + string(c.tail[:c.next])
	kept := int64(len(c.head) + len(c.tail))
	if cut := c.total - kept; cut > 0 {
		return utf8Only(string(c.head)) + fmt.Sprintf("\n… %d bytes cut …\n", cut) + utf8Only(tail)
	}
	return utf8Only(string(c.head) + tail)
}

func utf8Only(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
