package schema

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/viper"

	"github.com/hookd-dev/hookd/protocol"
)

// Layered holds one value for each plain setting: its default, or what the last
// layer said that was put over it. The library viper keeps the values and decodes
// them into [Settings]. Prices, trusted folders and servers are no plain values:
// viper folds the case of names and splits them at dots.
type Layered struct{ values *viper.Viper }

// allLayers are the layers from the highest to the lowest.
var allLayers = []protocol.Layer{protocol.Managed, protocol.User, protocol.Project}

// NewLayered returns settings in which every value is its key's default.
func NewLayered() *Layered {
	l := &Layered{viper.New()}
	for i := range Keys {
		switch k := &Keys[i]; {
		case k.Default == nil:
		case k.Tighter == OwnLayer:
			for _, layer := range allLayers {
				l.values.SetDefault(k.PathFor(layer), k.Default)
			}
		default:
			l.values.SetDefault(k.Name, k.Default)
		}
	}
	return l
}

// PathFor is where the value of a layer is kept. A key whose values are for each
// layer's own hooks has one for each.
func (k *Key) PathFor(layer protocol.Layer) string {
	if k.Tighter == OwnLayer {
		return k.Name + "." + string(layer)
	}
	return k.Name
}

// Get returns the value at the path of a key.
func (l *Layered) Get(path string) any { return l.values.Get(path) }

// Put puts values over those that are there, by the paths of their keys. The
// values have passed the checks of their rows.
func (l *Layered) Put(values map[string]any) {
	nested := map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(values)) {
		at, names := nested, strings.Split(path, ".")
		for _, name := range names[:len(names)-1] {
			below, _ := at[name].(map[string]any)
			if below == nil {
				below = map[string]any{}
				at[name] = below
			}
			at = below
		}
		at[names[len(names)-1]] = values[path]
	}
	if err := l.values.MergeConfigMap(nested); err != nil {
		panic("schema: " + err.Error()) // it never returns one
	}
}

// Settings returns the values as settings.
func (l *Layered) Settings() Settings {
	var s Settings
	if err := l.values.UnmarshalExact(&s); err != nil {
		panic("schema: a row of Keys has no field: " + err.Error())
	}
	return s
}

// DefaultSettings returns settings in which every value is its key's default. In
// settings that are made by hand 0 means 0, so begin with these.
func DefaultSettings() Settings { return NewLayered().Settings() }

// Complete gives every key whose range has no 0, and whose value is 0, its default.
func (s *Settings) Complete() {
	for i := range Keys {
		k := &Keys[i]
		ordered := k.Type == TypeInt || k.Type == TypeSize || k.Type == TypeDuration
		if !ordered || number(k.Min) <= 0 {
			continue
		}
		if place := k.place(s); place.IsZero() {
			place.SetInt(reflect.ValueOf(k.Default).Int())
		}
	}
}

// place is the field of a key, which has the key's path.
func (k *Key) place(s *Settings) reflect.Value {
	at := reflect.ValueOf(s).Elem()
	for name := range strings.SplitSeq(k.Name, ".") {
		at = at.FieldByNameFunc(func(field string) bool {
			f, _ := at.Type().FieldByName(field)
			return strings.EqualFold(field, name) || f.Tag.Get("mapstructure") == name
		})
	}
	return at
}
