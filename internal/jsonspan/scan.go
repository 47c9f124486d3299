package jsonspan

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

// usualMembers is how many members most objects have at most.
const usualMembers = 8

// Valid reports whether value is exactly one strictly valid JSON value.
func Valid(value []byte) bool {
	s := strictScan{b: value, limit: deepest}
	return s.whole()
}

// ScanObject checks a value strictly, no deeper than depth levels, in one pass. valid
// reports whether it is valid JSON; members are its own if it is an object.
func ScanObject(value []byte, depth int) (members []Member, valid bool) {
	s := strictScan{b: value, limit: min(depth, deepest), listTop: true}
	if !s.whole() {
		return nil, false
	}
	return s.top, true
}

// Object returns the members of a strictly valid object, and whether value is one.
func Object(value []byte) (members []Member, ok bool) {
	members, valid := ScanObject(value, deepest)
	return members, valid && Kind(value) == '{'
}

// DeeperThan reports whether a value is nested deeper than limit levels.
func DeeperThan(value []byte, limit int) bool { return DepthExceeded(value, limit) >= 0 }

// DepthExceeded returns the offset of the first bracket that opens a level beyond
// limit, or -1.
func DepthExceeded(b []byte, limit int) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = StringEnd(b, i) - 1
		case '{', '[':
			if depth++; depth > limit {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

// strictScan walks bytes; each of its functions takes the offset of what it
// reads and returns the offset after it, or -1.
type strictScan struct {
	b       []byte
	limit   int
	names   [][]byte // unquoted, of the objects that are open
	listTop bool     // top is wanted
	top     []Member // of the value itself
}

// whole reports whether all of the bytes are one value.
func (s *strictScan) whole() bool {
	s.names = make([][]byte, 0, 2*usualMembers)
	end := s.value(SkipBlanks(s.b, 0), 0)
	return end >= 0 && SkipBlanks(s.b, end) == len(s.b)
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
	i = SkipBlanks(s.b, i+1)
	if s.at(i, ']') {
		return i + 1
	}
	for {
		if i = s.value(i, depth); i < 0 {
			return -1
		}
		i = SkipBlanks(s.b, i)
		switch {
		case s.at(i, ']'):
			return i + 1
		case !s.at(i, ','):
			return -1
		}
		i = SkipBlanks(s.b, i+1)
	}
}

func (s *strictScan) object(i, depth int) int {
	names := objectNames{base: len(s.names)}
	i = SkipBlanks(s.b, i+1)
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
		if i = SkipBlanks(s.b, end); !s.at(i, ':') {
			return -1
		}
		start := SkipBlanks(s.b, i+1)
		if i = s.value(start, depth); i < 0 {
			return -1
		}
		if depth == 1 && s.listTop {
			if s.top == nil {
				s.top = make([]Member, 0, usualMembers)
			}
			s.top = append(s.top, Member{Name: string(s.names[len(s.names)-1]), Value: s.b[start:i:i], Key: s.b[key:end:end], Begin: key, Start: start})
		}
		i = SkipBlanks(s.b, i)
		switch {
		case s.at(i, '}'):
			s.names = s.names[:names.base]
			return i + 1
		case !s.at(i, ','):
			return -1
		}
		i = SkipBlanks(s.b, i+1)
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
		name = []byte(Unquote(quoted))
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

// plainEnd returns the first offset from i on that does not hold plain text
// of a string: a quote, a backslash, a control character or one beyond ASCII. It
// looks at eight bytes at a time.
func plainEnd(b []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, backslash := w^(ones*'"'), w^(ones*'\\')
		// A byte that is below a bound borrows from its high bit. What follows
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
