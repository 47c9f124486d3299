package loader

import (
	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// DecodeSettings returns the effective settings of texts in JSON, one for each
// layer that says something, without looking into any folder. The error is a
// [*schema.UnreadableError].
func DecodeSettings(texts map[protocol.Layer]string) (schema.Settings, []schema.Finding, error) {
	var layers []schema.LayerSettings
	var findings []schema.Finding
	for _, layer := range []protocol.Layer{protocol.Project, protocol.User, protocol.Managed} {
		text, said := texts[layer]
		if !said {
			continue
		}
		l, found, err := settings.Decode(string(layer)+".json", []byte(text), layer)
		if err != nil {
			return schema.Settings{}, found, err
		}
		layers, findings = append(layers, l), append(findings, found...)
	}
	merged, found := settings.Merge(layers...)
	return merged, append(findings, found...), nil
}
