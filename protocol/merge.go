package protocol

// mergePatch applies a JSON Merge Patch (RFC 7396) to a value. Both are valid
// JSON, target may be nil. What the patch does not name keeps its bytes.
func (w *work) mergePatch(target, patch RawMessage) RawMessage {
	if kindOf(patch) != '{' {
		return patch
	}
	var old []member
	if kindOf(target) == '{' {
		old = w.members(target)
	}
	changes := w.members(patch)
	changed := make(map[string]RawMessage, len(changes))
	for _, m := range changes {
		changed[m.name] = patch[m.start:m.end]
	}
	merged := objectWriter{}
	seen := make(map[string]bool, len(old))
	for _, m := range old {
		seen[m.name] = true
		value, touched := changed[m.name]
		switch {
		case !touched:
			merged.add(target[m.key:stringEnd(target, m.key)], target[m.start:m.end])
		case !isNull(value):
			merged.add(target[m.key:stringEnd(target, m.key)], w.mergePatch(target[m.start:m.end], value))
		}
	}
	for _, m := range changes {
		if value := changed[m.name]; !seen[m.name] && !isNull(value) {
			merged.add(patch[m.key:stringEnd(patch, m.key)], w.mergePatch(nil, value))
		}
	}
	w.spend(len(merged.b))
	return merged.value()
}

// objectWriter builds an object of raw names and values.
type objectWriter struct{ b RawMessage }

func (w *objectWriter) add(name []byte, value RawMessage) {
	if len(w.b) == 0 {
		w.b = append(w.b, '{')
	} else {
		w.b = append(w.b, ',')
	}
	w.b = append(append(append(w.b, name...), ':'), value...)
}

func (w *objectWriter) value() RawMessage {
	if len(w.b) == 0 {
		return RawMessage("{}")
	}
	return append(w.b, '}')
}
