package jsonspan

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/text"
)

// Patch applies a JSON Patch (RFC 6902) to a value, all of it or nothing. The
// containers it goes through are written anew: [Budget.Edit] puts the bytes of what
// is equal back. limit bounds what copy operations may add, in bytes.
func (b *Budget) Patch(target, patch json.RawMessage, limit int64) (json.RawMessage, error) {
	if err := CheckPatch(patch); err != nil {
		return nil, err
	}
	p := &patcher{root: value{raw: target}, budget: b, limit: limit}
	for i, operation := range Elements(patch) {
		b.spend(len(operation))
		if err := p.apply(operation); err != nil {
			return nil, fmt.Errorf("patch/%d: %w", i, err)
		}
	}
	return p.bytes(&p.root), nil
}

// apply does one operation, the shape of which was checked.
func (p *patcher) apply(operation json.RawMessage) error {
	path, from := Text(Get(operation, "path")), Text(Get(operation, "from"))
	given := value{raw: Get(operation, "value")}
	switch op := Text(Get(operation, "op")); op {
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
			return fmt.Errorf("%s cannot be moved into itself", PointerName(from))
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
		if !p.budget.Equal(p.bytes(found), given.raw) {
			return fmt.Errorf("test failed: %s is not that", PointerName(path))
		}
		return nil
	}
}

// CheckPatch checks the shape of a JSON Patch, with the place of what is wrong.
func CheckPatch(patch json.RawMessage) error {
	needs := map[string]string{"add": "value", "replace": "value", "test": "value", "remove": "", "move": "from", "copy": "from"}
	for i, operation := range Elements(patch) {
		at := fmt.Sprintf("patch/%d", i)
		if Kind(operation) != '{' {
			return fmt.Errorf("%s: %s where an operation is expected", at, Describe(operation))
		}
		op := Text(Get(operation, "op"))
		need, ok := needs[op]
		if !ok {
			return fmt.Errorf("%s: unknown operation %q", at, text.Shorten(op, 40))
		}
		for _, name := range []string{"path", "from"} {
			value := Get(operation, name)
			if value == nil && name != "path" && need != name {
				continue
			}
			if Kind(value) != '"' || !jsontext.Pointer(Text(value)).IsValid() {
				return fmt.Errorf("%s: %s must be a JSON Pointer", at, name)
			}
		}
		if need != "" && Get(operation, need) == nil {
			return fmt.Errorf("%s: %s needs %s", at, op, need)
		}
	}
	return nil
}
