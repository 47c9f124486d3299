package jsonspan

import (
	"encoding/json"
)

// MergePatch applies a JSON Merge Patch (RFC 7396) to a value. Both are valid
// JSON, target may be nil. What the patch does not name keeps its bytes.
func (b *Budget) MergePatch(target, patch json.RawMessage) json.RawMessage {
	if Kind(patch) != '{' {
		return patch
	}
	var old []Member
	if Kind(target) == '{' {
		old = b.members(target)
	}
	changes := b.members(patch)
	changed := make(map[string]json.RawMessage, len(changes))
	for _, m := range changes {
		changed[m.Name] = m.Value
	}
	merged := ObjectWriter{}
	seen := make(map[string]bool, len(old))
	for _, m := range old {
		seen[m.Name] = true
		value, touched := changed[m.Name]
		switch {
		case !touched:
			merged.Set(m.Key, m.Value)
		case !IsNull(value):
			merged.Set(m.Key, b.MergePatch(m.Value, value))
		}
	}
	for _, m := range changes {
		if value := changed[m.Name]; !seen[m.Name] && !IsNull(value) {
			merged.Set(m.Key, b.MergePatch(nil, value))
		}
	}
	b.spend(len(merged.out))
	return merged.Object()
}
