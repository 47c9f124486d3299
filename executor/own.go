package executor

import (
	"reflect"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// of are the settings that bind a hook: those of its own layer and the layers
// above. What a lower layer writes changes nothing of what the hook is asked, may
// answer, keeps, or may take.
func (s *Set) of(h *Hook) *schema.HookSettings {
	if h.Own != nil {
		return h.Own
	}
	return &s.Settings.Hooks
}

// SettingsOf returns the settings that bind the hooks of an origin, as its hooks
// have them. Of one without hooks they are the effective ones.
func (s *Set) SettingsOf(origin protocol.Origin) schema.HookSettings {
	for _, h := range s.Hooks {
		if originOf(h) == origin {
			return *s.of(h)
		}
	}
	return s.Settings.Hooks
}

// drainOf is how long the observers of a layer may still run at the end: the
// longest that its hooks have, so that an inner project's takes nothing from an
// outer one's.
func (s *Set) drainOf(layer protocol.Layer) time.Duration {
	drain, hooks := time.Duration(0), false
	for _, h := range s.Hooks {
		if h.Layer == layer {
			drain, hooks = max(drain, s.of(h).Drain), true
		}
	}
	if !hooks {
		return s.Settings.Hooks.Drain
	}
	return drain
}

// filled returns settings with a value for every key. Settings that were never
// made are the defaults. In all others 0 means 0, but for the keys whose range has
// no 0: those are the default then.
func filled(s schema.Settings) schema.Settings {
	if reflect.ValueOf(s).IsZero() {
		return schema.DefaultSettings()
	}
	s.Complete()
	return s
}

// layers are those that hooks come from, from the highest to the lowest.
var layers = []protocol.Layer{protocol.Managed, protocol.User, protocol.Project, protocol.Builtin}

// longestKeep is how long what hooks remember of old sessions is kept: as long as
// the layer of any hook keeps records, 0 for ever. A lower layer that keeps its
// records for a day takes no memory from a hook of a higher one.
func (s *Set) longestKeep() time.Duration {
	keep := s.Settings.Hooks.Records.Keep
	for _, h := range s.Hooks {
		own := s.of(h).Records.Keep
		if own == 0 || keep == 0 {
			return 0
		}
		keep = max(keep, own)
	}
	return keep
}

// noneIfZero writes a limit as package protocol does, where 0 is the default and
// below 0 is none.
func noneIfZero(limit int64) int64 {
	if limit == 0 {
		return -1
	}
	return limit
}
