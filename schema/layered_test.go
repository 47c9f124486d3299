package schema

import (
	"reflect"
	"testing"
	"time"
)

// other returns a value of a key that is not its default.
func other(t *testing.T, k *Key) any {
	switch v := k.Default.(type) {
	case bool:
		return !v
	case int64:
		return v + 1
	case float64:
		return v + 0.5
	case time.Duration:
		return v + time.Second
	case []string:
		return append([]string{"one", "two"}, v...)
	case string:
		return v + "-other"
	case nil:
		return "other"
	}
	t.Fatalf("%s has a default of the type %T", k.Name, k.Default)
	return nil
}

// viper's own decoder, with its strict form, says what settings are to come out.
func TestSettingsAreWhatTheLibraryDecodes(t *testing.T) {
	for name, values := range map[string]func(*Key, int) any{
		"defaults":      func(*Key, int) any { return nil },
		"every value":   func(k *Key, _ int) any { return other(t, k) },
		"of two layers": func(k *Key, layer int) any { return []any{nil, k.Unset(), other(t, k)}[layer] },
	} {
		l := NewLayered()
		for at, layer := range allLayers {
			put := map[string]any{}
			for i := range Keys {
				if k := &Keys[i]; k.Plain() && k.Layers.Has(layer) {
					if v := values(k, at); v != nil {
						put[k.PathFor(layer)] = v
					}
				}
			}
			l.Put(put)
		}
		var want Settings
		if err := l.values.UnmarshalExact(&want); err != nil {
			t.Fatal(err)
		}
		if got := l.Settings(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v\nis not\n%+v", name, got, want)
		}
	}
}

func TestSettingsShareNoListWithALayer(t *testing.T) {
	list := []string{"a"}
	l := NewLayered()
	l.Put(map[string]any{"hooks.required": list})
	s := l.Settings()
	if s.Hooks.Required[0] = "b"; list[0] != "a" || l.Settings().Hooks.Required[0] != "a" {
		t.Error("the settings of one reader changed those of others")
	}
}
