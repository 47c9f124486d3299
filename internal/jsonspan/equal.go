package jsonspan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Canonical is a spelling that equal values share: no blanks, members in the order
// of their names, strings in their shortest spelling. Unlike RFC 8785 it keeps the
// digits of numbers.
func Canonical(v []byte) string {
	c := canonicalWriter{from: v}
	c.value(SkipBlanks(v, 0))
	return string(c.out)
}

// canonicalWriter goes through a value once, however deep it is nested.
type canonicalWriter struct {
	from []byte
	out  []byte
}

// value writes the value at i and returns the offset after it.
func (c *canonicalWriter) value(i int) int {
	if i >= len(c.from) {
		return i
	}
	switch c.from[i] {
	case '"':
		end := StringEnd(c.from, i)
		c.out = append(c.out, Quote(Unquote(c.from[i:end]))...)
		return end
	case '{':
		return c.object(i)
	case '[':
		return c.list(i)
	}
	end := max(valueEnd(c.from, i), i+1)
	c.out = append(c.out, c.from[i:end]...)
	return end
}

func (c *canonicalWriter) list(i int) int {
	c.out = append(c.out, '[')
	for first := true; ; first = false {
		if i = SkipBlanks(c.from, i+1); i >= len(c.from) || c.from[i] == ']' {
			break
		}
		if !first {
			c.out = append(c.out, ',')
		}
		if i = SkipBlanks(c.from, c.value(i)); i >= len(c.from) || c.from[i] == ']' {
			break
		}
	}
	c.out = append(c.out, ']')
	return min(i+1, len(c.from))
}

// written is one member of an object in what was written.
type written struct {
	name       string
	start, end int
}

func (c *canonicalWriter) object(i int) int {
	c.out = append(c.out, '{')
	begin, sorted := len(c.out), true
	var all []written
	for {
		if i = SkipBlanks(c.from, i+1); i >= len(c.from) || c.from[i] == '}' {
			break
		}
		m := written{start: len(c.out)}
		end := StringEnd(c.from, i)
		m.name = Unquote(c.from[i:end])
		c.out = append(append(c.out, Quote(m.name)...), ':')
		i = c.value(SkipBlanks(c.from, SkipBlanks(c.from, end)+1))
		m.end = len(c.out)
		sorted = sorted && (len(all) == 0 || all[len(all)-1].name <= m.name)
		all = append(all, m)
		if i = SkipBlanks(c.from, i); i >= len(c.from) || c.from[i] == '}' {
			break
		}
		c.out = append(c.out, ',')
	}
	if !sorted {
		was := slices.Clone(c.out[begin:])
		slices.SortStableFunc(all, func(x, y written) int { return strings.Compare(x.name, y.name) })
		c.out = c.out[:begin]
		for n, m := range all {
			if n > 0 {
				c.out = append(c.out, ',')
			}
			c.out = append(c.out, was[m.start-begin:m.end-begin]...)
		}
	}
	c.out = append(c.out, '}')
	return min(i+1, len(c.from))
}

// Equal reports whether two values say the same, see [Budget.Equal].
func Equal(x, y []byte) bool { return (*Budget)(nil).Equal(x, y) }

// SameValue reports whether two values are [Equal], or would be if zeros at the ends of
// numbers did not count: 1.50 is 1.5 here.
func SameValue(x, y []byte) bool { return (*Budget)(nil).equal(x, y, sameNumber) }

// Equal reports whether two values say the same: equal strings may be
// written differently and members may stand in another order, but numbers must
// have the same digits.
func (b *Budget) Equal(x, y []byte) bool { return b.equal(x, y, nil) }

// equal compares two values; numbers compares two numbers that are written differently,
// nil: they are not equal.
func (b *Budget) equal(x, y []byte, numbers func(x, y []byte) bool) bool {
	b.spend(min(len(x), len(y)))
	x, y = Trim(x), Trim(y)
	if bytes.Equal(x, y) {
		return true
	}
	kind := Kind(x)
	if kind != Kind(y) {
		return false
	}
	switch kind {
	case '"':
		return Unquote(x) == Unquote(y)
	case '0':
		return numbers != nil && numbers(x, y)
	case '{':
		as, bs := b.members(x), b.members(y)
		if len(as) != len(bs) {
			return false
		}
		values := make(map[string]json.RawMessage, len(bs))
		for _, m := range bs {
			values[m.Name] = m.Value
		}
		for _, m := range as {
			other, ok := values[m.Name]
			if !ok || !b.equal(m.Value, other, numbers) {
				return false
			}
		}
		return true
	case '[':
		as, bs := b.spans(x), b.spans(y)
		if len(as) != len(bs) {
			return false
		}
		for i := range as {
			if !b.equal(x[as[i].start:as[i].end], y[bs[i].start:bs[i].end], numbers) {
				return false
			}
		}
		return true
	}
	return false
}

func sameNumber(x, y []byte) bool { return readNumber(string(x)) == readNumber(string(y)) }

// number is a number: its digits without zeros at their ends, and the power of ten that
// they are times.
type number struct {
	negative bool
	digits   string
	exponent string // as it is written; two forms of it are two numbers
	scale    int
}

func readNumber(text string) number {
	var n number
	text, n.negative = strings.CutPrefix(text, "-")
	text, n.exponent, _ = strings.Cut(strings.ToLower(text), "e")
	n.exponent = strings.TrimLeft(strings.TrimPrefix(n.exponent, "+"), "0")
	whole, fraction, _ := strings.Cut(text, ".")
	n.digits = strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(n.digits, "0")
	n.scale = len(n.digits) - len(short) - len(fraction)
	if n.digits = short; short == "" {
		return number{}
	}
	return n
}
