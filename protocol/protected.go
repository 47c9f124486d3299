package protocol

import (
	"errors"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// checkProtected checks the parts that are not the hook's to change: opaque
// ones, which may go only with their whole message, and those that a hook of a
// higher layer wrote, which stay.
func checkProtected(before, after []RawMessage, by HookInfo) error {
	opaque, higher := newTally(nil), newTally(nil)
	for _, message := range before {
		for _, part := range partsOf(message) {
			if typeOf(part) == PartOpaque {
				opaque.put(part)
			}
			if isHigher(part, by) {
				higher.put(part)
			}
		}
	}
	signed := newTally(nil) // parts that claim to be some hook's
	for _, message := range before {
		for _, part := range partsOf(message) {
			if jsonspan.Get(part, "layer") != nil {
				signed.put(part)
			}
		}
	}
	for _, message := range after {
		for _, part := range partsOf(message) {
			higher.take(part)
			if typeOf(part) == PartOpaque && !opaque.take(part) {
				return errors.New("an opaque part was changed or added; it passes through as it is")
			}
			if jsonspan.Get(part, "layer") != nil && !signed.take(part) {
				return errors.New("a part that names a layer was changed or added; only hookd writes that member")
			}
		}
	}
	if higher.left() > 0 {
		return errors.New("a part that a hook of a higher layer wrote was changed or removed")
	}
	return checkOpaqueKept(before, after)
}

// checkOpaqueKept checks that a message which is still there, known by its id or
// else by its place in a list of the same length, has all its opaque parts.
func checkOpaqueKept(before, after []RawMessage) error {
	byID := map[string]RawMessage{}
	for _, message := range after {
		if id := jsonspan.Text(jsonspan.Get(message, "id")); id != "" {
			byID[id] = message
		}
	}
	for i, message := range before {
		now := byID[jsonspan.Text(jsonspan.Get(message, "id"))]
		if now == nil && jsonspan.Get(message, "id") == nil && len(before) == len(after) {
			now = after[i]
		}
		if now == nil || sameRole(message, now) && opaqueParts(message) == opaqueParts(now) {
			continue
		}
		if opaqueParts(message) > 0 {
			return errors.New("an opaque part was removed from a message that is still there")
		}
	}
	return nil
}

func sameRole(a, b RawMessage) bool {
	return jsonspan.Text(jsonspan.Get(a, "role")) == jsonspan.Text(jsonspan.Get(b, "role"))
}

func opaqueParts(message RawMessage) int {
	n := 0
	for _, part := range partsOf(message) {
		if typeOf(part) == PartOpaque {
			n++
		}
	}
	return n
}

// isHigher reports whether a part was written by a hook of a layer above the
// hook's. Built-in hooks are hookd itself and stand below nobody.
func isHigher(part RawMessage, by HookInfo) bool {
	writer := OriginOf(Layer(jsonspan.Text(jsonspan.Get(part, "layer"))), jsonspan.Text(jsonspan.Get(part, "hook")))
	return by.Layer != Builtin && writer.Compare(by.Origin()) > 0
}

// tally counts values that say the same, whatever their spelling.
type tally struct{ values map[string]int }

func newTally(values []RawMessage) *tally {
	t := &tally{map[string]int{}}
	for _, v := range values {
		t.put(v)
	}
	return t
}

func (t *tally) put(v RawMessage) { t.values[jsonspan.Canonical(v)]++ }

// take removes one value that says the same as v and reports whether there was
// one.
func (t *tally) take(v RawMessage) bool {
	key := jsonspan.Canonical(v)
	if t.values[key] == 0 {
		return false
	}
	t.values[key]--
	return true
}

func (t *tally) left() int {
	n := 0
	for _, count := range t.values {
		n += count
	}
	return n
}
