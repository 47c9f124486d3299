package readreply

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
)

// A hook that says no must be heard even if the rest of its reply is faulty. So
// its output is first searched by a reader that minds the structure of JSON but
// not its details: it accepts any depth, repeated names, invalid UTF-8, unescaped
// line breaks in strings, unknown escapes, and NaN and Infinity. All that does
// not turn out to be a no is then read strictly.

// document is one object on a hook's stdout.
type document struct {
	start, end int // offsets into the output
	line       int // 1-based
	trailing   int // offset of foreign text after it on its last line, or -1
}

// output is a hook's stdout, taken apart.
type output struct {
	text      []byte // without byte order mark, UTF-8 if it was UTF-16
	utf16     bool
	documents []document
	notes     []string // the first few text lines around the documents
	more      int      // text lines beyond those
	broken    int      // offset of a line that begins an object which does not end, or -1
	values    int      // lists at the beginning of a line
}

// search finds the objects that begin a line. Objects that follow another one on
// the same line count too; an object inside a list does not.
func search(stdout []byte) output {
	out := output{broken: -1}
	out.text, out.utf16 = fromUTF16(stdout)
	b := out.text
	// Each attempt to read an object may run to the end of the output. The budget
	// keeps that from being quadratic; honest output needs a small part of it.
	budget := 16*len(b) + 1<<16
	for i, line := 0, 1; i < len(b); {
		p := skipIndent(b, i)
		next := lineEnd(b, p)
		switch {
		case p < len(b) && (b[p] == '{' || b[p] == '[') && budget > 0:
			end, ok := jsonspan.LenientEnd(b, p)
			budget -= end - p
			switch {
			case ok && b[p] == '[':
				out.values++
				next = lineEnd(b, end)
			case ok:
				next = out.take(p, end, line)
			case begunObject(b, p):
				if out.broken < 0 {
					out.broken = p
				}
			default:
				out.note(b[p:next])
			}
		case p < len(b) && begunObject(b, p) && out.broken < 0:
			out.broken = p // unread, but it may be a reply
		case p < next:
			out.note(b[p:next])
		}
		line += bytes.Count(b[i:next], []byte{'\n'}) + 1
		if next+1 < len(b) && b[next] == '\r' && b[next+1] == '\n' {
			next++
		}
		i = next + 1
	}
	return out
}

// take notes the object at [start,end) and those right after it, and returns
// the end of the last line.
func (out *output) take(start, end, line int) int {
	b := out.text
	for {
		out.documents = append(out.documents, document{start: start, end: end, line: line, trailing: -1})
		line += bytes.Count(b[start:end], []byte{'\n'})
		p := skipIndent(b, end)
		if p == len(b) || b[p] == '\n' || b[p] == '\r' {
			return p
		}
		if b[p] == '{' {
			if next, ok := jsonspan.LenientEnd(b, p); ok {
				start, end = p, next
				continue
			}
		}
		out.documents[len(out.documents)-1].trailing = p
		return lineEnd(b, p)
	}
}

const maxNotes = 3 // text lines that are quoted; the rest is counted

func (out *output) note(line []byte) {
	words := strings.TrimSpace(text.Valid(string(line[:min(len(line), 400)])))
	if words == "" {
		return
	}
	if len(out.notes) == maxNotes {
		out.more++
		return
	}
	out.notes = append(out.notes, text.Shorten(words, 120))
}

// blank reports whether there is nothing at all on stdout.
func (out *output) blank() bool {
	return len(out.documents) == 0 && len(out.notes) == 0 && out.broken < 0 && out.values == 0
}

func skipIndent(b []byte, i int) int {
	for i < len(b) {
		switch {
		case b[i] == ' ' || b[i] == '\t':
			i++
		case bytes.HasPrefix(b[i:], byteOrderMark):
			i += len(byteOrderMark)
		default:
			return i
		}
	}
	return i
}

func lineEnd(b []byte, i int) int {
	if n := bytes.IndexAny(b[i:], "\r\n"); n >= 0 {
		return i + n
	}
	return len(b)
}

// begunObject reports whether a line that begins with a brace is meant as JSON:
// a name or the closing brace follows. "{info} starting" is a line of text.
func begunObject(b []byte, i int) bool {
	if b[i] != '{' {
		return false
	}
	i = jsonspan.SkipBlanks(b, i+1)
	return i == len(b) || b[i] == '"' || b[i] == '}'
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// fromUTF16 converts output in UTF-16, which some shells write, and reports
// whether it was that. Without a byte order mark it is known by a brace next to
// a zero byte.
func fromUTF16(b []byte) ([]byte, bool) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}):
		order, b = binary.LittleEndian, b[2:]
	case bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		order, b = binary.BigEndian, b[2:]
	case bytes.HasPrefix(b, []byte{'{', 0}):
		order = binary.LittleEndian
	case bytes.HasPrefix(b, []byte{0, '{'}):
		order = binary.BigEndian
	default:
		return bytes.TrimPrefix(b, byteOrderMark), false
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	if len(b)%2 == 1 { // half a character is not nothing
		units = append(units, unicode.ReplacementChar)
	}
	return []byte(string(utf16.Decode(units))), true
}
