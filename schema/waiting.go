package schema

import "reflect"

// Waiting says what is missing as long as a setting is not acted on.
type Waiting string

const (
	// WaitsForFeature: what the setting is about is not there yet.
	WaitsForFeature Waiting = "feature"
	// WaitsToRestrict: something that the setting should keep from happening can
	// happen.
	WaitsToRestrict Waiting = "restriction"
)

// Waiting tells whoever wrote a setting that this version reads it and does not
// act on it: nothing that somebody relies on is missing in silence.
func (l *LayerSettings) Waiting() []Finding {
	var findings []Finding
	for i := range Keys {
		key := &Keys[i]
		value, written := l.Values[key.Name]
		if !written || reflect.DeepEqual(value.V, key.Default) {
			continue
		}
		waits := key.Waits
		if waits == WaitsToRestrict && key.Tighter == ByOrder && key.Looser(value.V, key.Default) {
			waits = WaitsForFeature
		}
		switch waits {
		case WaitsForFeature:
			findings = append(findings, finding(value.Pos, "", SeverityWarning, CodeNotYet, key.Name+" has no effect in this version", "remove it, or leave it for a later version"))
		case WaitsToRestrict:
			findings = append(findings, finding(value.Pos, "", SeverityError, CodeNotEnforced, key.Name+" is not enforced in this version", "remove it, and write a hook that refuses instead"))
		}
	}
	return findings
}
