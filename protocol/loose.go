package protocol

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
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
	behind     int // offset of foreign text behind it on its last line, or -1
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
			end, ok := looseValue(b, p)
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

// take notes the object at [start,end) and those right behind it, and returns
// the end of the last line.
func (out *output) take(start, end, line int) int {
	b := out.text
	for {
		out.documents = append(out.documents, document{start: start, end: end, line: line, behind: -1})
		line += bytes.Count(b[start:end], []byte{'\n'})
		p := skipIndent(b, end)
		if p == len(b) || b[p] == '\n' || b[p] == '\r' {
			return p
		}
		if b[p] == '{' {
			if next, ok := looseValue(b, p); ok {
				start, end = p, next
				continue
			}
		}
		out.documents[len(out.documents)-1].behind = p
		return lineEnd(b, p)
	}
}

const maxNotes = 3 // text lines that are quoted; the rest is counted

func (out *output) note(line []byte) {
	text := strings.TrimSpace(validText(string(line[:min(len(line), 400)])))
	if text == "" {
		return
	}
	if len(out.notes) == maxNotes {
		out.more++
		return
	}
	out.notes = append(out.notes, shorten(text, 120))
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
	i = skipBlanks(b, i+1)
	return i == len(b) || b[i] == '"' || b[i] == '}'
}

// looseValue returns the offset behind the value that begins at i. If it is not
// a whole value, ok is false and the offset is where that showed.
func looseValue(b []byte, i int) (end int, ok bool) {
	const (
		value      = iota // a value must follow
		valueOrEnd        // a value or ]
		name              // a member name must follow
		nameOrEnd         // a member name or }
		separator         // , or the closing bracket
	)
	var open []byte
	for want := value; ; {
		i = skipBlanks(b, i)
		if i >= len(b) {
			return i, false
		}
		c := b[i]
		closes := c == '}' && (want == nameOrEnd || want == separator && open[len(open)-1] == '{') ||
			c == ']' && (want == valueOrEnd || want == separator && open[len(open)-1] == '[')
		switch {
		case closes:
			open = open[:len(open)-1]
			want = separator
			i++
		case want == separator && c == ',':
			want = value
			if open[len(open)-1] == '{' {
				want = name
			}
			i++
			continue
		case want == separator:
			return i, false
		case want == name || want == nameOrEnd:
			if c != '"' {
				return i, false
			}
			i = skipBlanks(b, stringEnd(b, i))
			if i >= len(b) || b[i] != ':' {
				return i, false
			}
			i++
			want = value
			continue
		case c == '{':
			open = append(open, c)
			want = nameOrEnd
			i++
			continue
		case c == '[':
			open = append(open, c)
			want = valueOrEnd
			i++
			continue
		case c == '"':
			i = stringEnd(b, i) // if it does not end, neither does the value
			want = separator
		default:
			end := i
			for end < len(b) && isWordByte(b[end]) {
				end++
			}
			if !looseLiteral(string(b[i:min(end, i+400)])) {
				return end, false
			}
			i = end
			want = separator
		}
		if len(open) == 0 {
			return i, true
		}
	}
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.' || c == '_'
}

// looseLiteral accepts the literals of JSON and those that other languages'
// encoders write in their place.
func looseLiteral(word string) bool {
	switch word {
	case "true", "false", "null", "NaN", "Infinity", "-Infinity":
		return true
	}
	digits := false
	for _, c := range word {
		switch {
		case c >= '0' && c <= '9':
			digits = true
		case c != '+' && c != '-' && c != '.' && c != 'e' && c != 'E':
			return false
		}
	}
	return digits
}

// looseText returns the text of a string that may hold raw control characters,
// unknown escapes and invalid UTF-8.
func looseText(quoted []byte) string {
	if len(quoted) < 2 || quoted[0] != '"' {
		return ""
	}
	body := quoted[1 : len(quoted)-1]
	clean := make([]byte, 0, len(quoted)+8)
	clean = append(clean, '"')
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c < ' ':
			clean = append(clean, `\u00`...)
			clean = append(clean, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		case c == '\\' && i+1 < len(body) && knownEscape(body[i+1:]):
			clean = append(clean, c, body[i+1])
			i++
		case c == '\\':
			clean = append(clean, `\\`...)
		default:
			clean = append(clean, c)
		}
	}
	clean = append(clean, '"')
	text, _ := jsontext.AppendUnquote(nil, clean)
	return validText(string(text))
}

func knownEscape(rest []byte) bool {
	if rest[0] != 'u' {
		return strings.IndexByte(`"\/bfnrt`, rest[0]) >= 0
	}
	if len(rest) < 5 {
		return false
	}
	for _, c := range rest[1:5] {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return true
}

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

// shorten cuts text to at most n bytes at a character's edge.
func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
