package jsonspan

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/text"
)

// Kind returns the first byte of a JSON value: '{', '[', '"', 't', 'f' or 'n', '0'
// for a number, and 0 if there is none.
func Kind(value []byte) byte {
	i := SkipBlanks(value, 0)
	if i == len(value) {
		return 0
	}
	switch c := value[i]; {
	case c == '-' || c >= '0' && c <= '9':
		return '0'
	default:
		return c
	}
}

// KindName is the kind of a value in words, for messages.
func KindName(value []byte) string {
	switch Kind(value) {
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

// Expect returns an error that says what value is, where it is not of that kind (see [Kind]).
func Expect(value []byte, kind byte) error {
	if Kind(value) == kind {
		return nil
	}
	return fmt.Errorf("%s where %s is expected", Describe(value), KindName([]byte{kind}))
}

// Describe is a value in words: short scalars as they are, else their kind.
func Describe(value []byte) string {
	value = Trim(value)
	if k := Kind(value); k != '{' && k != '[' && len(value) <= 40 {
		return string(value)
	}
	return KindName(value)
}

// IsNull reports whether value is the literal null.
func IsNull(value []byte) bool { return Kind(value) == 'n' }

// Text returns the text of a value that is a string, "" of any other.
func Text(value []byte) string {
	i := SkipBlanks(value, 0)
	if i == len(value) || value[i] != '"' {
		return ""
	}
	return Unquote(value[i:StringEnd(value, i)])
}

// Unquote returns the text of a JSON string, which has its quotes.
func Unquote(quoted []byte) string {
	if end := len(quoted) - 1; end > 0 && plainEnd(quoted, 1) == end {
		return string(quoted[1:end])
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil && text == nil {
		return ""
	}
	return string(text)
}

// Quote returns text as a JSON string. Invalid UTF-8 becomes U+FFFD.
func Quote(text string) json.RawMessage { return AppendQuote(nil, text) }

// AppendQuote appends text as a JSON string. Invalid UTF-8 becomes U+FFFD.
func AppendQuote(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}

// Trim returns value without the blanks around it.
func Trim(value []byte) []byte {
	start := SkipBlanks(value, 0)
	end := len(value)
	for end > start && (value[end-1] == ' ' || value[end-1] == '\t' || value[end-1] == '\n' || value[end-1] == '\r') {
		end--
	}
	return value[start:end]
}

// OneLine removes the blanks between tokens if the value spans lines: an event is
// one line on every wire. Names, strings and numbers keep their bytes.
func OneLine(value json.RawMessage) json.RawMessage {
	if bytes.IndexByte(value, '\n') < 0 && bytes.IndexByte(value, '\r') < 0 {
		return value
	}
	line := make(json.RawMessage, 0, len(value))
	for i := 0; i < len(value); {
		switch c := value[i]; c {
		case '"':
			end := StringEnd(value, i)
			line = append(line, value[i:end]...)
			i = end
		case ' ', '\t', '\n', '\r':
			i++
		default:
			line = append(line, c)
			i++
		}
	}
	return line
}

// PointerName is a JSON Pointer below an event's data as messages name it.
func PointerName(pointer string) string {
	if pointer == "" {
		return "the whole of data"
	}
	return text.Shorten(pointer, 200)
}
