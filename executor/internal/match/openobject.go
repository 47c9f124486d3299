package match

// Objects whose members nobody but a tool, a provider or another hook decides are
// open: a member that a condition reads may be called otherwise, or be missing. Its
// absence says nothing, so a condition on it is undecided, and not no. The members of
// all other objects are those of the protocol, of which a missing one is nil.

// openObject is an open object, and all objects in one are.
type openObject map[string]any

// openNames are the members of data that are open objects, wherever they stand.
var openNames = map[string]bool{"args": true, "original": true, "params": true}

// opened returns a value of the protocol with its open objects marked.
func opened(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if openNames[name] {
				v[name] = open(member)
			} else {
				v[name] = opened(member)
			}
		}
	case []any:
		for i := range v {
			v[i] = opened(v[i])
		}
	}
	return v
}

// open marks a value and all that is in it.
func open(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = open(member)
		}
		return openObject(v)
	case []any:
		for i := range v {
			v[i] = open(v[i])
		}
	}
	return v
}

// asObject is an object, open or not.
func asObject(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case openObject:
		return v, true
	}
	return nil, false
}
