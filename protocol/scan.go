package protocol

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// The functions of this file walk JSON that is known to be valid. They look at
// bytes and copy nothing, so what is not touched stays as it was. On bytes that
// are not JSON they find nonsense, but they end and stay within bounds.

// member is one member of an object, as offsets into the object's bytes.
type member struct {
	name       string // unquoted
	key        int    // offset of the name's opening quote
	start, end int    // of the value
}

// span is one element of an array, as offsets into the array's bytes.
type span struct{ start, end int }

// kindOf is the kind of a value: { [ " 0 t f n, or 0 if there is none.
func kindOf(v RawMessage) byte {
	i := skipBlanks(v, 0)
	if i == len(v) {
		return 0
	}
	switch c := v[i]; {
	case c == '-' || c >= '0' && c <= '9':
		return '0'
	default:
		return c
	}
}

// kindName is a kind in words, for messages.
func kindName(v RawMessage) string {
	switch kindOf(v) {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "nothing"
}

// isNull reports whether v is the literal null.
func isNull(v RawMessage) bool { return kindOf(v) == 'n' }

// skipBlanks returns the first offset at or behind i that holds no JSON blank.
func skipBlanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the offset behind the string whose opening quote is at i.
func stringEnd(b []byte, i int) int {
	for begin := min(i+1, len(b)); ; {
		n := bytes.IndexByte(b[begin:], '"')
		if n < 0 {
			return len(b)
		}
		end, escapes := begin+n, 0
		for end-escapes > begin && b[end-escapes-1] == '\\' {
			escapes++
		}
		if begin = end + 1; escapes%2 == 0 {
			return begin
		}
	}
}

// valueEnd returns the offset behind the value that begins at i.
func valueEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// members lists the members of an object in their order.
func members(object RawMessage) []member { return (*work)(nil).members(object) }

// members is members within bounds of work.
func (w *work) members(object RawMessage) []member {
	w.spend(len(object))
	var list []member
	for i := min(skipBlanks(object, 0)+1, len(object)); ; {
		i = skipBlanks(object, i)
		if i >= len(object) || object[i] == '}' {
			return list
		}
		if object[i] == ',' {
			i++
			continue
		}
		m := member{key: i}
		i = stringEnd(object, i)
		m.name = unquote(object[m.key:i])
		i = min(skipBlanks(object, i)+1, len(object)) // the colon
		m.start = skipBlanks(object, i)
		m.end = valueEnd(object, m.start)
		i = m.end
		w.spend(workElement)
		list = append(list, m)
	}
}

// elements lists the elements of an array in their order.
func elements(array RawMessage) []span { return (*work)(nil).elements(array) }

// elements is elements within bounds of work.
func (w *work) elements(array RawMessage) []span {
	w.spend(len(array))
	var list []span
	for i := min(skipBlanks(array, 0)+1, len(array)); ; {
		i = skipBlanks(array, i)
		if i >= len(array) || array[i] == ']' {
			return list
		}
		if array[i] == ',' {
			i++
			continue
		}
		e := span{start: i, end: valueEnd(array, i)}
		i = max(e.end, i+1)
		w.spend(workElement)
		list = append(list, e)
	}
}

// Member returns the value of an object's member as it stands there, or nil: no
// such member, or no object. The object must be valid JSON.
func Member(object RawMessage, name string) RawMessage {
	if kindOf(object) != '{' {
		return nil
	}
	for _, m := range members(object) {
		if m.name == name {
			return object[m.start:m.end]
		}
	}
	return nil
}

// Element returns an element of a list as it stands there, or nil: no such element,
// or no list. The list must be valid JSON.
func Element(list RawMessage, i int) RawMessage {
	if kindOf(list) != '[' {
		return nil
	}
	all := elements(list)
	if i < 0 || i >= len(all) {
		return nil
	}
	return list[all[i].start:all[i].end]
}

// unquote returns the text of a JSON string.
func unquote(quoted []byte) string {
	if end := len(quoted) - 1; end > 0 && plainEnd(quoted, 1) == end {
		return string(quoted[1:end])
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil && text == nil {
		return ""
	}
	return string(text)
}

// quote returns text as a JSON string. Invalid UTF-8 becomes U+FFFD.
func quote(text string) []byte {
	return appendQuoted(nil, text)
}

func appendQuoted(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}

// textOf returns the text of a value that is a string.
func textOf(v RawMessage) string {
	i := skipBlanks(v, 0)
	if i == len(v) || v[i] != '"' {
		return ""
	}
	return unquote(v[i:stringEnd(v, i)])
}

// trimmed returns v without blanks around it.
func trimmed(v RawMessage) RawMessage {
	start := skipBlanks(v, 0)
	end := len(v)
	for end > start && (v[end-1] == ' ' || v[end-1] == '\t' || v[end-1] == '\n' || v[end-1] == '\r') {
		end--
	}
	return v[start:end]
}
