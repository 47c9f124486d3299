package settings

import (
	"fmt"
	"testing"
	"time"

	"github.com/spf13/viper"

	"github.com/hookd-dev/hookd/schema"
)

// Layering plain values is ours, because linking viper costs every start of
// `hookd fire` more than a load of ten hooks. The library is what it is held
// against: every mix of layers that set a key, for every key.
func TestScalarsAreLayeredAsByTheLibrary(t *testing.T) {
	compared := 0
	for i := range schema.Keys {
		key := &schema.Keys[i]
		if !key.Scalar() {
			continue
		}
		for mix := range 8 {
			m := &merger{}
			for bit, layer := range falling {
				settings := schema.LayerSettings{Layer: layer}
				if mix&(1<<bit) != 0 {
					settings.Values = map[string]schema.Value{key.Name: {V: another(key, bit)}}
				}
				m.falling = append(m.falling, settings)
			}
			got := fmt.Sprint(m.scalar(key))
			library := viper.NewWithOptions(viper.KeyDelimiter("\x00"))
			library.SetDefault(key.Name, key.Default)
			for at := range m.falling { // what scalar did not drop
				if value, found := m.value(at, key.Name); found {
					if err := library.MergeConfigMap(map[string]any{key.Name: value.V}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if want := fmt.Sprint(library.Get(key.Name)); got != want {
				t.Errorf("%s, layers %03b: %s, the library says %s", key.Name, mix, got, want)
			}
			compared++
		}
	}
	if compared < 300 {
		t.Errorf("only %d cases", compared)
	}
}

// another is a value of a key's type, a different one for each n.
func another(key *schema.Key, n int) any {
	switch d := key.Default.(type) {
	case bool:
		return n%2 == 0
	case int64:
		return d + int64(n) + 1
	case float64:
		return d + float64(n) + 1
	case string:
		return fmt.Sprintf("%s%d", d, n)
	}
	return key.Default.(time.Duration) + time.Duration(n+1)
}
