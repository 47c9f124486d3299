package protocol

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// The strict check of JSON in one pass: well-formed, valid UTF-8, no half
// surrogate pairs, no repeated member names, not too deep. It accepts exactly
// what the jsontext package accepts (a fuzz target compares them) and takes less
// than the time of a copy for what is large, a long string. What it refuses is
// given to jsontext, which finds the words for it.

// deepest is as deep as the jsontext package goes.
const deepest = 10000

// scanned is what one pass finds.
type scanned struct {
	valid   bool
	members []member // of the value, if it is an object, in their order
}

// strict scans exactly one JSON value with blanks around it.
func strict(b []byte, depth int) scanned {
	var room [32][]byte
	s := strictScan{b: b, limit: min(depth, deepest), names: room[:0]}
	end := s.value(skipBlanks(b, 0), 0)
	if end < 0 || skipBlanks(b, end) != len(b) {
		return scanned{}
	}
	return scanned{true, s.top}
}

// Valid reports whether v is exactly one strictly valid JSON value.
func Valid(v RawMessage) bool { return strict(v, deepest).valid }

// Members calls each with the name and value of every member of an object, in
// their order, and reports whether data is a strictly valid object.
func Members(data RawMessage, each func(name string, value RawMessage)) bool {
	s := strict(data, deepest)
	if !s.valid || kindOf(data) != '{' {
		return false
	}
	for _, m := range s.members {
		each(m.name, data[m.start:m.end])
	}
	return true
}

// Text returns the text of a value that is a string, "" of any other.
func Text(v RawMessage) string { return textOf(v) }

// strictScan walks bytes; each of its functions takes the offset of what it
// reads and returns the offset behind it, or -1.
type strictScan struct {
	b     []byte
	limit int
	names [][]byte // unquoted, of the objects that are open
	top   []member
}

func (s *strictScan) value(i, depth int) int {
	if i >= len(s.b) {
		return -1
	}
	switch s.b[i] {
	case '"':
		end, _ := s.text(i)
		return end
	case '{', '[':
		if depth >= s.limit {
			return -1
		}
		if s.b[i] == '{' {
			return s.object(i, depth+1)
		}
		return s.list(i, depth+1)
	case 't':
		return s.literal(i, "true")
	case 'f':
		return s.literal(i, "false")
	case 'n':
		return s.literal(i, "null")
	}
	return s.number(i)
}

func (s *strictScan) literal(i int, word string) int {
	if end := i + len(word); end <= len(s.b) && string(s.b[i:end]) == word {
		return end
	}
	return -1
}

func (s *strictScan) list(i, depth int) int {
	i = skipBlanks(s.b, i+1)
	if s.at(i, ']') {
		return i + 1
	}
	for {
		if i = s.value(i, depth); i < 0 {
			return -1
		}
		i = skipBlanks(s.b, i)
		switch {
		case s.at(i, ']'):
			return i + 1
		case !s.at(i, ','):
			return -1
		}
		i = skipBlanks(s.b, i+1)
	}
}

func (s *strictScan) object(i, depth int) int {
	names := objectNames{base: len(s.names)}
	i = skipBlanks(s.b, i+1)
	if s.at(i, '}') {
		return i + 1
	}
	for {
		key := i
		if !s.at(i, '"') {
			return -1
		}
		end, escaped := s.text(i)
		if end < 0 || !names.add(s, s.b[key:end], escaped) {
			return -1
		}
		if i = skipBlanks(s.b, end); !s.at(i, ':') {
			return -1
		}
		start := skipBlanks(s.b, i+1)
		if i = s.value(start, depth); i < 0 {
			return -1
		}
		if depth == 1 {
			s.top = append(s.top, member{string(s.names[len(s.names)-1]), key, start, i})
		}
		i = skipBlanks(s.b, i)
		switch {
		case s.at(i, '}'):
			s.names = s.names[:names.base]
			return i + 1
		case !s.at(i, ','):
			return -1
		}
		i = skipBlanks(s.b, i+1)
	}
}

func (s *strictScan) at(i int, c byte) bool { return i < len(s.b) && s.b[i] == c }

// objectNames are the names of one object. Those of a large one are indexed.
type objectNames struct {
	base  int // where they begin among all names
	index map[string]struct{}
}

// manyNames is when comparing with each other name costs more than an index.
const manyNames = 24

// add adds a name in its quotes, and reports whether it is a new one.
func (o *objectNames) add(s *strictScan, quoted []byte, escaped bool) bool {
	name := quoted[1 : len(quoted)-1]
	if escaped {
		name = []byte(unquote(quoted))
	}
	known := s.names[o.base:]
	s.names = append(s.names, name)
	if len(known) < manyNames {
		for _, n := range known {
			if bytes.Equal(n, name) {
				return false
			}
		}
		return true
	}
	if o.index == nil {
		o.index = make(map[string]struct{}, 2*manyNames)
		for _, n := range known {
			o.index[string(n)] = struct{}{}
		}
	}
	before := len(o.index)
	o.index[string(name)] = struct{}{}
	return len(o.index) > before
}

// text reads a string; escaped says that it is not what it stands for.
func (s *strictScan) text(i int) (end int, escaped bool) {
	b := s.b
	for i++; ; {
		// Escapes often follow one another closely.
		near := min(i+8, len(b))
		for i < near && plainByte[b[i]] {
			i++
		}
		if i == near {
			i = plainEnd(b, i)
		}
		if i >= len(b) {
			return -1, false
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			escaped = true
			if i = s.escape(i); i < 0 {
				return -1, false
			}
		case c < ' ':
			return -1, false
		default:
			r, size := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && size <= 1 {
				return -1, false
			}
			i += size
		}
	}
}

func (s *strictScan) escape(i int) int {
	if i+1 >= len(s.b) {
		return -1
	}
	switch s.b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		r, ok := hex4(s.b, i)
		switch {
		case !ok || r >= 0xDC00 && r <= 0xDFFF:
			return -1
		case r < 0xD800 || r > 0xDBFF:
			return i + 6
		}
		if low, ok := surrogate(s.b, i+6); ok && low >= 0xDC00 {
			return i + 12
		}
	}
	return -1
}

func (s *strictScan) number(i int) int {
	if s.at(i, '-') {
		i++
	}
	if s.at(i, '0') {
		i++
	} else if i = s.digits(i); i < 0 {
		return -1
	}
	if s.at(i, '.') {
		if i = s.digits(i + 1); i < 0 {
			return -1
		}
	}
	if s.at(i, 'e') || s.at(i, 'E') {
		i++
		if s.at(i, '+') || s.at(i, '-') {
			i++
		}
		return s.digits(i)
	}
	return i
}

// digits reads at least one digit.
func (s *strictScan) digits(i int) int {
	begin := i
	for i < len(s.b) && s.b[i] >= '0' && s.b[i] <= '9' {
		i++
	}
	if i == begin {
		return -1
	}
	return i
}

// plainEnd returns the first offset at or behind i that does not hold plain text
// of a string: a quote, a backslash, a control character or one beyond ASCII. It
// looks at eight bytes at a time.
func plainEnd(b []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, backslash := w^(ones*'"'), w^(ones*'\\')
		// A byte that is below a bound borrows from its high bit. What is behind
		// the first such byte may be wrong, and is not looked at.
		special := (w - ones*' ') | (quote - ones) | (backslash - ones)
		if found := (special | w) & highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(b) && plainByte[b[i]] {
		i++
	}
	return i
}

// plainByte are the bytes that stand in a string for themselves and are no part of
// anything longer.
var plainByte = func() (is [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		is[c] = c != '"' && c != '\\'
	}
	return is
}()
