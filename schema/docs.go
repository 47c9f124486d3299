package schema

import (
	"embed"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/schema/units"
)

// SettingsMarkdown returns the table of settings for the documentation.
func SettingsMarkdown() string {
	var b strings.Builder
	b.WriteString("| key | type, range | default | layers | tighter | for whom | unreadable | meaning |\n|---|---|---|---|---|---|---|---|\n")
	for i := range Keys {
		k := &Keys[i]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", k.Name, k.typeText(), k.defaultText(), k.Layers, k.tighterText(), k.For, k.unreadText(), k.Meaning)
	}
	return b.String()
}

// unreadText says what stands for a value that was written and cannot be read.
func (k *Key) unreadText() string {
	switch stands := k.Unread.(type) {
	case nil:
		return "–"
	case refusal:
		switch k.For {
		case ForRun:
			return "no run starts"
		case ForHooksBelow, ForShared:
			return "they do not run"
		}
		return "every gate refuses"
	case []string:
		if len(stands) == 0 {
			return "the readable items"
		}
		return "the readable items and `" + strings.Join(stands, ", ") + "`"
	}
	return "`" + k.Write(k.Unread) + "`"
}

func (k *Key) typeText() string {
	text := string(k.Type)
	switch {
	case k.Type == TypeWord:
		return strings.Join(k.Words, ", ")
	case len(k.Words) > 0:
		text += ": " + strings.Join(k.Words, ", ")
	case k.Form != "":
		text += ": " + forms[k.Form].want
	}
	if k.Min != nil && k.Max != nil {
		text += fmt.Sprintf(", %s…%s", k.Write(k.Min), k.Write(k.Max))
	}
	return text
}

func (k *Key) defaultText() string {
	switch {
	case k.Type == TypeServers:
		return "`{}`"
	case k.Type == TypeEntries || k.Type == TypePrices || k.Type == TypeFolders:
		return "`[]`"
	case k.Default == nil:
		return "by class"
	case k.Default == "":
		return "–"
	}
	return "`" + k.Write(k.Default) + "`"
}

func (k *Key) tighterText() string {
	text := string(k.Tighter)
	switch {
	case k.Tighter == ByOrder, k.Tighter == OwnLayer && len(k.Order) > 0:
		text = strings.Join(k.Order, " < ")
	case k.Name == "hooks.trust.always":
		text = "–"
	}
	if k.FixedByManaged {
		text = strings.TrimPrefix(text+"; M fixes", "–; ")
	}
	return text
}

// fieldDefaults are the defaults of a hook's fields, in words.
var fieldDefaults = map[string]string{
	"name": "the file's name", "command": "–", "reply": "–", "args": "`[]`", "description": "`\"\"`", "protocol": "1",
	"events": "none", "match": "`{}`", "matcher": "all", "can": "`modify`", "mode": "`enforce`", "priority": "0",
	"timeout": "`hooks.timeout`", "onFailure": "`block` if `can` is `block` or the hook is required, else `continue`",
	"required": "false", "run": "`once`", "env": "`[]`", "files": "`[]`", "inPlace": "false", "dir": "`own`",
	"sensitive": "false", "dialect": "`hookd`", "enabled": "true", "tests": "–",
}

// FieldsMarkdown returns the table of a hook's fields for the documentation.
// S = settings entry, H = header, F = side file, D = answer of the program.
func FieldsMarkdown() string {
	var b strings.Builder
	b.WriteString("| field | type, range | default | from | meaning |\n|---|---|---|---|---|\n")
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Entry]()) {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", jsonName(f), fieldType(f), fieldDefaults[jsonName(f)],
			strings.Join(strings.Split(f.Tag.Get("from"), ""), " "), f.Tag.Get("jsonschema"))
	}
	return b.String()
}

func fieldType(f reflect.StructField) string {
	rule, _, _ := strings.Cut(f.Tag.Get("validate"), ",dive")
	if words := param(rule, "oneof"); words != "" {
		return strings.ReplaceAll(words, " ", ", ")
	}
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var text string
	switch {
	case t == reflect.TypeFor[units.Duration]():
		text = "duration"
	case t == reflect.TypeFor[Tests]():
		text = "list of [tests](#tests-beside-hooks)"
	case t == reflect.TypeFor[Events]():
		text = "list of names, or `*`"
	case jsonName(f) == "dialect":
		text = strings.Join(Dialects, ", ")
	case t.Kind() == reflect.Slice:
		text = "list of strings"
	case t.Kind() == reflect.Struct:
		text = "object: " + strings.Join(fieldNames(reflect.New(t).Elem()), ", ")
	default:
		text = t.String()
	}
	if low, high := param(rule, "min"), param(rule, "max"); low != "" && high != "" && t.Kind() != reflect.Slice && t.Kind() != reflect.String {
		text += ", " + low + "…" + high
	}
	return text
}

//go:generate go run ./internal/jsonschemas/write json

//go:embed json/*.json
var jsonSchemas embed.FS

// JSONNames are the names of the JSON Schemas that [JSON] returns.
var JSONNames = []string{"event", "reply", "outcome", "metadata", "side-file", "settings", "test"}

// JSON returns the JSON Schema (draft 2020-12) of what crosses the border of
// hookd, as it was generated from the Go types:
//
//	event      what a hook reads on stdin
//	reply      what it writes on stdout
//	outcome    what a host obeys: the result of event/fire, and hookd fire --json
//	metadata   how a program describes itself when it is asked
//	side-file  the description next to a hook's file
//	settings   acai.json, also as yaml or toml
//	test       the tests next to a hook's file
//
// It returns nil for any other name.
func JSON(name string) []byte {
	if !slices.Contains(JSONNames, name) {
		return nil
	}
	b, err := jsonSchemas.ReadFile("json/" + name + ".json")
	if err != nil {
		return nil
	}
	return b
}
