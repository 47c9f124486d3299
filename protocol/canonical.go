package protocol

import (
	"slices"
	"strings"
)

// canonical is a spelling that equal values share: no blanks, members in the order
// of their names, strings in their shortest spelling. Unlike RFC 8785 it keeps the
// digits of numbers.
func canonical(v RawMessage) string {
	c := canonicalWriter{from: v}
	c.value(skipBlanks(v, 0))
	return string(c.out)
}

// canonicalWriter goes through a value once, however deep it is nested.
type canonicalWriter struct {
	from RawMessage
	out  []byte
}

// value writes the value at i and returns the offset after it.
func (c *canonicalWriter) value(i int) int {
	if i >= len(c.from) {
		return i
	}
	switch c.from[i] {
	case '"':
		end := stringEnd(c.from, i)
		c.out = append(c.out, quote(unquote(c.from[i:end]))...)
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
		if i = skipBlanks(c.from, i+1); i >= len(c.from) || c.from[i] == ']' {
			break
		}
		if !first {
			c.out = append(c.out, ',')
		}
		if i = skipBlanks(c.from, c.value(i)); i >= len(c.from) || c.from[i] == ']' {
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
		if i = skipBlanks(c.from, i+1); i >= len(c.from) || c.from[i] == '}' {
			break
		}
		m := written{start: len(c.out)}
		end := stringEnd(c.from, i)
		m.name = unquote(c.from[i:end])
		c.out = append(append(c.out, quote(m.name)...), ':')
		i = c.value(skipBlanks(c.from, skipBlanks(c.from, end)+1))
		m.end = len(c.out)
		sorted = sorted && (len(all) == 0 || all[len(all)-1].name <= m.name)
		all = append(all, m)
		if i = skipBlanks(c.from, i); i >= len(c.from) || c.from[i] == '}' {
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
