package schema

import "reflect"

// Waiting says what is missing as long as a setting is not acted on.
type Waiting string

// WaitsForFeature: what the setting is about is not there yet.
const WaitsForFeature Waiting = "feature"

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
		if key.Waits == WaitsForFeature {
			findings = append(findings, NewFinding(value.Pos, "", SeverityWarning, CodeNotYet, key.Name+" has no effect in this version", "remove it, or leave it for a later version"))
		}
	}
	return findings
}
