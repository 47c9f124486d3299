package protocol

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonPatch applies a JSON Patch (RFC 6902) to a value, all of it or nothing. The
// containers it goes through are written anew: [rewrite] puts the bytes of what is
// equal back. limit bounds what copy operations may add, in bytes.
func (w *work) jsonPatch(target, patch RawMessage, limit int64) (RawMessage, error) {
	if err := checkOperations(patch); err != nil {
		return nil, err
	}
	p := &patcher{root: value{raw: target}, work: w, limit: limit}
	for i, e := range w.elements(patch) {
		operation := patch[e.start:e.end]
		w.spend(len(operation))
		if err := p.apply(operation); err != nil {
			return nil, fmt.Errorf("patch/%d: %w", i, err)
		}
	}
	return p.bytes(&p.root), nil
}

// apply does one operation, the shape of which was checked.
func (p *patcher) apply(operation RawMessage) error {
	path, from := textOf(Member(operation, "path")), textOf(Member(operation, "from"))
	given := value{raw: Member(operation, "value")}
	switch op := textOf(Member(operation, "op")); op {
	case "add":
		return p.add(path, given)
	case "remove":
		_, err := p.remove(path)
		return err
	case "replace":
		found, err := p.at(path)
		if err == nil {
			*found = given
		}
		return err
	case "move":
		if strings.HasPrefix(path, from+"/") {
			return fmt.Errorf("%s cannot be moved into itself", orRoot(from))
		}
		moved, err := p.remove(from)
		if err != nil {
			return err
		}
		return p.add(path, moved)
	case "copy":
		found, err := p.at(from)
		if err != nil {
			return err
		}
		copied := p.bytes(found)
		if p.copied += int64(len(copied)); p.copied > p.limit {
			return fmt.Errorf("copies are larger than %d bytes together", p.limit)
		}
		return p.add(path, value{raw: copied})
	default: // test
		found, err := p.at(path)
		if err != nil {
			return err
		}
		if !p.work.sameValue(p.bytes(found), given.raw) {
			return fmt.Errorf("test failed: %s is not that", orRoot(path))
		}
		return nil
	}
}

// checkOperations checks the shape of a patch, with the place of what is wrong.
func checkOperations(patch RawMessage) error {
	needs := map[string]string{"add": "value", "replace": "value", "test": "value", "remove": "", "move": "from", "copy": "from"}
	for i, e := range elements(patch) {
		operation := patch[e.start:e.end]
		at := fmt.Sprintf("patch/%d", i)
		if kindOf(operation) != '{' {
			return fmt.Errorf("%s: %s where an operation is expected", at, describe(operation))
		}
		op := textOf(Member(operation, "op"))
		need, ok := needs[op]
		if !ok {
			return fmt.Errorf("%s: unknown operation %q", at, shorten(op, 40))
		}
		for _, name := range []string{"path", "from"} {
			value := Member(operation, name)
			if value == nil && name != "path" && need != name {
				continue
			}
			if kindOf(value) != '"' || !jsontext.Pointer(textOf(value)).IsValid() {
				return fmt.Errorf("%s: %s must be a JSON Pointer", at, name)
			}
		}
		if need != "" && Member(operation, need) == nil {
			return fmt.Errorf("%s: %s needs %s", at, op, need)
		}
	}
	return nil
}

// touchesOnly checks that a patch writes nothing outside the changeable fields
// and removes none of them. ReadResult elsewhere (test, copy from) is harmless.
func touchesOnly(patch RawMessage, fields []Field) error {
	for i, e := range elements(patch) {
		operation := patch[e.start:e.end]
		op := textOf(Member(operation, "op"))
		writes := []string{textOf(Member(operation, "path"))}
		if op == "test" {
			continue
		}
		if op == "move" {
			writes = append(writes, textOf(Member(operation, "from")))
		}
		for n, path := range writes {
			field := fieldAt(path, fields)
			if field == nil {
				return fmt.Errorf("patch/%d: %s is not changeable here; changeable: %s", i, orRoot(path), paths(fields))
			}
			if removes := op == "remove" || n == 1; removes && path == field.pointer() {
				return fmt.Errorf("patch/%d: the field %s may be changed, not removed", i, path)
			}
		}
	}
	return nil
}

// fieldAt returns the changeable field that path leads to or into.
func fieldAt(path string, fields []Field) *Field {
	for i := range fields {
		p := fields[i].pointer()
		if path == p || strings.HasPrefix(path, p+"/") {
			return &fields[i]
		}
	}
	return nil
}

// pointer is the field's path as a JSON Pointer.
func (f *Field) pointer() string { return "/" + strings.ReplaceAll(f.Path, ".", "/") }

func paths(fields []Field) string {
	var list []string
	for i := range fields {
		list = append(list, fields[i].pointer())
	}
	return strings.Join(list, " ")
}

func orRoot(path string) string {
	if path == "" {
		return "the whole of data"
	}
	return shorten(path, 200)
}

// sameValue reports whether two values say the same: equal strings may be
// written differently and members may stand in another order, but numbers must
// have the same digits.
func (w *work) sameValue(a, b RawMessage) bool {
	w.spend(min(len(a), len(b)))
	a, b = trimmed(a), trimmed(b)
	if bytes.Equal(a, b) {
		return true
	}
	kind := kindOf(a)
	if kind != kindOf(b) {
		return false
	}
	switch kind {
	case '"':
		return unquote(a) == unquote(b)
	case '{':
		as, bs := w.members(a), w.members(b)
		if len(as) != len(bs) {
			return false
		}
		values := make(map[string]RawMessage, len(bs))
		for _, m := range bs {
			values[m.name] = b[m.start:m.end]
		}
		for _, m := range as {
			other, ok := values[m.name]
			if !ok || !w.sameValue(a[m.start:m.end], other) {
				return false
			}
		}
		return true
	case '[':
		as, bs := w.elements(a), w.elements(b)
		if len(as) != len(bs) {
			return false
		}
		for i := range as {
			if !w.sameValue(a[as[i].start:as[i].end], b[bs[i].start:bs[i].end]) {
				return false
			}
		}
		return true
	}
	return false
}
