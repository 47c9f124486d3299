package protocol

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// canonical is a spelling that equal values share. Unlike RFC 8785 it keeps the
// digits of numbers.
func canonical(v jsontext.Value) string {
	var b bytes.Buffer
	writeCanonical(&b, v)
	return b.String()
}

// Canonical JSON: no blanks, members in the order of their names, strings in
// their shortest spelling, numbers with the digits they have.
func writeCanonical(b *bytes.Buffer, v jsontext.Value) {
	v = trimmed(v)
	switch kindOf(v) {
	case '"':
		b.Write(quote(unquote(v)))
	case '{':
		list := members(v)
		slices.SortFunc(list, func(x, y member) int { return strings.Compare(x.name, y.name) })
		b.WriteByte('{')
		for i, m := range list {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(quote(m.name))
			b.WriteByte(':')
			writeCanonical(b, v[m.start:m.end])
		}
		b.WriteByte('}')
	case '[':
		b.WriteByte('[')
		for i, e := range elements(v) {
			if i > 0 {
				b.WriteByte(',')
			}
			writeCanonical(b, v[e.start:e.end])
		}
		b.WriteByte(']')
	default:
		b.Write(v)
	}
}
