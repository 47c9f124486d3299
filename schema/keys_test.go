package schema

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/document"
)

// Every code has its row in the list, and every name is kebab-case.
func TestCodesAreDocumented(t *testing.T) {
	seen := map[Code]bool{}
	for _, c := range Codes {
		if !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(string(c.Code)) || seen[c.Code] || c.Meaning == "" {
			t.Errorf("code %q", c.Code)
		}
		seen[c.Code] = true
		if row := "| `" + string(c.Code) + "` | " + string(c.Severity) + " | "; !strings.Contains(CodesMarkdown(Codes...), row) {
			t.Errorf("no row for %s", c.Code)
		}
	}
}

// Every row of the table of settings can be read, checked, stored and shown: its
// default is in its own range, and its effective value has a place.
func TestKeysAreWhole(t *testing.T) {
	table := SettingsMarkdown()
	for i := range Keys {
		k := &Keys[i]
		if !strings.Contains(table, "| `"+k.Name+"` | ") || k.Meaning == "" {
			t.Errorf("%s is not documented", k.Name)
		}
		if !slices.Contains(Fors, k.For) {
			t.Errorf("%s does not say whom it binds: %q", k.Name, k.For)
		}
		if own := k.For == ForOwnHooks || k.For == ForOwnHooksAtLeast; own != (k.Tighter == OwnLayer) {
			t.Errorf("%s binds %s and is tighter by %s", k.Name, k.For, k.Tighter)
		}
		if k.Type == TypeEntries {
			continue
		}
		if _, known := forms[k.Form]; k.Form != "" && !known {
			t.Errorf("%s: unknown form %q", k.Name, k.Form)
		}
		if k.Default != nil && k.Default != "" && k.Type != TypeList {
			if check := k.violated(k.Default); check != "" {
				t.Errorf("%s: the default does not fit: %s", k.Name, check)
			}
		}
		if len(k.Order) > 0 && (len(k.Order) != len(k.Words) || !sameWords(k.Order, k.Words)) {
			t.Errorf("%s: the order %v is not of the words %v", k.Name, k.Order, k.Words)
		}
	}
}

func sameWords(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// No two settings are kept in the same place, and every place has a setting.
func TestEachSettingHasItsOwnPlace(t *testing.T) {
	var s Settings
	places := map[any]string{}
	for i := range Keys {
		k := &Keys[i]
		if k.Type == TypeEntries {
			continue
		}
		place := k.place(&s).Addr().Pointer()
		if other, taken := places[place]; taken {
			t.Errorf("%s and %s share a place", k.Name, other)
		}
		places[place] = k.Name
	}
	if fields := leaves(reflect.ValueOf(s)); fields != len(places) {
		t.Errorf("Settings has %d values, the table sets %d", fields, len(places))
	}
}

// leaves counts the values of settings. Where one comes from, and which cannot be read, is
// no value of its own: the merge derives it.
func leaves(v reflect.Value) int {
	if v.Type() == reflect.TypeFor[protocol.Layer]() || v.Type() == reflect.TypeFor[Origins]() || v.Type() == reflect.TypeFor[[]Unread]() {
		return 0
	}
	if v.Kind() != reflect.Struct {
		return 1
	}
	count := 0
	for i := range v.NumField() {
		count += leaves(v.Field(i))
	}
	return count
}

// Every field of an entry is documented, has a default, a source and a checked
// word list where it has words.
func TestFieldsAreWhole(t *testing.T) {
	table := FieldsMarkdown()
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Entry]()) {
		name := jsonName(f)
		if fieldDefaults[name] == "" || f.Tag.Get("jsonschema") == "" || f.Tag.Get("from") == "" || !strings.Contains(table, "| `"+name+"` | ") {
			t.Errorf("%s is not documented", name)
		}
	}
}

// What is said of a setting goes to screens and logs: no key that stands in it does.
func TestSecretsOfSettingsAreNotSaid(t *testing.T) {
	for _, text := range []string{
		`{"agent": {"headers": ["Authorization Bearer sk-CANARY"]}}`,
		`{"agent": {"headers": ["sk-CANARY"]}}`,
		`{"agent": {"headers": "Authorization: Bearer sk-CANARY"}}`,
		`{"agent": {"headers": "sk-CANARY"}}`,
		`{"agent": {"headers": ["X: sk-CANARY\nY: z"]}}`,
		`{"agent": {"baseUrl": "me:CANARY@example.com/v1"}}`,
		`{"agent": {"baseUrl": "ftp://me:CANARY@example.com/v1"}}`,
		`{"agent": {"baseUrl": "example.com/v1?key=CANARY"}}`,
		`{"agent": {"mcpServers": {"s": {"url": "https://x", "headers": "Authorization: Bearer sk-CANARY"}}}}`,
		`{"agent": {"mcpServers": {"s": {"command": "x", "env": "KEY=sk-CANARY"}}}}`,
	} {
		root, err := document.Parse("json", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, findings, err := DecodeLayer(root, protocol.User, "acai.json")
		if err != nil || len(findings) == 0 {
			t.Errorf("%s: %v, %d findings", text, err, len(findings))
		}
		for _, f := range findings {
			if strings.Contains(f.String(), "CANARY") {
				t.Errorf("%s: %s", text, f)
			}
		}
	}
	for name, value := range map[string]any{
		"agent.headers": []string{"Authorization: Bearer sk-CANARY", "sk-CANARY"},
		"agent.baseUrl": "https://me:CANARY@example.com/v1?key=CANARY",
	} {
		if said := KeyByName(name).Write(value); strings.Contains(said, "CANARY") || !strings.Contains(said, "…") {
			t.Errorf("%s: %s", name, said)
		}
	}
	if said := KeyByName("agent.baseUrl").Write("https://example.com/a@b"); said != "https://example.com/a@b" {
		t.Error(said)
	}
}
