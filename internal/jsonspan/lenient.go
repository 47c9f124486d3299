package jsonspan

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// LenientEnd returns the offset after the value that begins at i. If it is not
// a whole value, ok is false and the offset is where that showed.
func LenientEnd(b []byte, i int) (end int, ok bool) {
	const (
		value      = iota // a value must follow
		valueOrEnd        // a value or ]
		name              // a member name must follow
		nameOrEnd         // a member name or }
		separator         // , or the closing bracket
	)
	var open []byte
	for want := value; ; {
		i = SkipBlanks(b, i)
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
			i = SkipBlanks(b, StringEnd(b, i))
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
			i = StringEnd(b, i) // if it does not end, neither does the value
			want = separator
		default:
			end := i
			for end < len(b) && isWordByte(b[end]) {
				end++
			}
			if !lenientLiteral(string(b[i:min(end, i+400)])) {
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

// lenientLiteral accepts the literals of JSON and those that other languages'
// encoders write in their place.
func lenientLiteral(word string) bool {
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

// LenientText returns the text of a string that may hold raw control characters,
// unknown escapes and invalid UTF-8.
func LenientText(quoted []byte) string {
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
	return strings.ToValidUTF8(string(text), "\ufffd")
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
