package executor

import (
	"cmp"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
)

// stage is the part of an event in which a hook is asked.
type stage int

const (
	stageModify stage = iota
	stageBlock
	stageObserve
)

// stageOf returns the stage in which a hook is asked. An audit hook is asked like an
// observer whatever its class: its answer has no effect, so nothing waits for it.
func stageOf(h *Hook) stage {
	if h.Mode == protocol.Audit {
		return stageObserve
	}
	return classRank(h.Can)
}

func classRank(c protocol.Class) stage {
	switch c {
	case protocol.CanBlock:
		return stageBlock
	case protocol.CanObserve:
		return stageObserve
	default:
		return stageModify
	}
}

// compareHooks is the running order: stage, class, layer, an outer project after
// the inner ones, priority with the higher first, natural name. The last three keys
// only make the order total, so that it never depends on where a list of hooks came
// from.
func compareHooks(a, b *Hook) int {
	return cmp.Or(
		cmp.Compare(stageOf(a), stageOf(b)),
		cmp.Compare(classRank(a.Can), classRank(b.Can)),
		cmp.Compare(a.Layer.Rank(), b.Layer.Rank()),
		cmp.Compare(a.Outer, b.Outer),
		cmp.Compare(b.Priority, a.Priority),
		compareNatural(a.Name, b.Name),
		cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.Hash, b.Hash),
		cmp.Compare(a.Status, b.Status),
	)
}

// compareNatural is the order of names: runs of digits compare as numbers
// of any length, all else by bytes, and equal numbers by their bytes. Locale
// plays no part.
func compareNatural(a, b string) int {
	for a != "" && b != "" {
		if isDigit(a[0]) && isDigit(b[0]) {
			runA, runB := a[:digits(a)], b[:digits(b)]
			if c := compareNumbers(runA, runB); c != 0 {
				return c
			}
			a, b = a[len(runA):], b[len(runB):]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func compareNumbers(a, b string) int {
	valueA, valueB := strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(
		cmp.Compare(len(valueA), len(valueB)),
		strings.Compare(valueA, valueB),
		strings.Compare(a, b),
	)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}
