package toolschema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

func TestAdapt(t *testing.T) {
	const rule = "The args must also fit this JSON Schema: "
	for name, test := range map[string]struct{ schema, want, rule, err string }{
		"fine":           {schema: `{ "type":"object", "properties":{"n":{"type":"integer","maximum":12345678901234567890}},"required":["n"]}`, want: `{ "type":"object", "properties":{"n":{"type":"integer","maximum":12345678901234567890}},"required":["n"]}`},
		"nothing":        {schema: ``, want: none},
		"null":           {schema: `null`, want: none},
		"true":           {schema: `true`, want: none},
		"empty":          {schema: `{}`, want: none},
		"false":          {schema: `false`, err: "no args at all"},
		"text":           {schema: `"object"`, err: "neither an object nor true"},
		"a list":         {schema: `[]`, err: "neither an object nor true"},
		"no JSON":        {schema: `truly`, err: "no JSON"},
		"half":           {schema: `{"type":`, err: "cannot be read"},
		"no type":        {schema: `{"properties":{"a":{}}}`, want: `{"type":"object","properties":{"a":{}}}`},
		"type null":      {schema: `{"type":null}`, want: none},
		"types":          {schema: `{"type":["null","object"]}`, want: none},
		"types, none":    {schema: `{"type":["null","array"]}`, err: `wants ["null","array"]`},
		"array":          {schema: `{"type":"array","items":{}}`, err: `wants "array"`},
		"string":         {schema: `{"type":"string"}`, err: `wants "string"`},
		"no properties":  {schema: `{"type":"object","additionalProperties":{"type":"string"}}`, want: `{"type":"object","additionalProperties":{"type":"string"},"properties":{}}`},
		"properties nil": {schema: `{"type":"object","properties":null,"required":null}`, want: none},
		"oneOf": {
			schema: `{"type":"object","oneOf":[{"properties":{"a":{"type":"string"},"k":{"const":1}},"required":["a","k"]},{"properties":{"b":{"type":"string"},"k":{"const":2}},"required":["b","k"]}]}`,
			want:   `{"type":"object","properties":{"a":{"type":"string"},"k":{"anyOf":[{"const":1},{"const":2}]},"b":{"type":"string"}},"required":["k"]}`,
			rule:   rule + `{"oneOf":[{"properties":{"a":{"type":"string"},"k":{"const":1}},"required":["a","k"]},{"properties":{"b":{"type":"string"},"k":{"const":2}},"required":["b","k"]}]}`,
		},
		"anyOf of required": {
			schema: `{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			want:   `{"type":"object","properties":{"a":{},"b":{}}}`, rule: rule + `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
		},
		"allOf": {
			schema: `{"allOf":[{"$ref":"#/$defs/A"},{"properties":{"b":{}},"required":["b"]}],"$defs":{"A":{"type":"object","properties":{"a":{}},"required":["a"]}}}`,
			want:   `{"type":"object","$defs":{"A":{"type":"object","properties":{"a":{}},"required":["a"]}},"properties":{"a":{},"b":{}},"required":["a","b"]}`,
			rule:   rule + `{"allOf":[{"$ref":"#/$defs/A"},{"properties":{"b":{}},"required":["b"]}]}`,
		},
		"anyOf with others": {schema: `{"anyOf":[{"type":"object","properties":{"a":{}}},{"type":"null"}]}`, want: `{"type":"object","properties":{"a":{}}}`, rule: rule + `{"anyOf":[{"type":"object","properties":{"a":{}}},{"type":"null"}]}`},
		"anyOf, none fits":  {schema: `{"anyOf":[{"type":"string"},{"type":"null"}]}`, err: "no alternative in anyOf"},
		"allOf, one not":    {schema: `{"allOf":[{"type":"object"},{"type":"array"}]}`, err: `wants "array"`},
		"not":               {schema: `{"type":"object","not":{"required":["a"]}}`, want: none, rule: rule + `{"not":{"required":["a"]}}`},
		"reference": {
			schema: `{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"next":{"$ref":"#/$defs/A"}}}}}`,
			want:   `{"$defs":{"A":{"type":"object","properties":{"next":{"$ref":"#/$defs/A"}}}},"properties":{"next":{"$ref":"#/$defs/A"}},"type":"object"}`,
		},
		"reference to oneOf": {
			schema: `{"$ref":"#/definitions/A","definitions":{"A":{"oneOf":[{"properties":{"a":{}}}]}}}`,
			want:   `{"definitions":{"A":{"oneOf":[{"properties":{"a":{}}}]}},"properties":{"a":{}},"type":"object"}`, rule: rule + `{"oneOf":[{"properties":{"a":{}}}]}`,
		},
		"reference to itself":  {schema: `{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A"}}}`, err: "without end"},
		"reference to the top": {schema: `{"$ref":"#"}`, err: "not in it"},
		"reference elsewhere":  {schema: `{"$ref":"https://x.example/s.json"}`, err: "not in it"},
		"reference to nothing": {schema: `{"$ref":"#/$defs/B","$defs":{}}`, err: "not in it"},
		"a part of what is left": {
			schema: `{"type":"object","properties":{"a":{"$ref":"#/anyOf/0/properties/b"}},"anyOf":[{"properties":{"b":{}}}]}`, err: "refers to parts of anyOf",
		},
		"inside": {
			schema: `{"type":"object","properties":{"l":{"type":"array"},"m":{"type":["array","null"],"items":true},"t":true,"p":{"type":"array","items":[{"type":"string"}],"additionalItems":false},"n":{"type":"number","minimum":1,"exclusiveMinimum":true,"exclusiveMaximum":false},"x":{"oneOf":[{"type":"array"}]}}}`,
			want:   `{"type":"object","properties":{"l":{"type":"array","items":{}},"m":{"type":["array","null"],"items":{}},"t":{},"p":{"type":"array","prefixItems":[{"type":"string"}],"items":false},"n":{"type":"number","exclusiveMinimum":1},"x":{"oneOf":[{"type":"array","items":{}}]}}}`,
		},
		"too much":    {schema: bomb(), err: "too large"},
		"a long rule": {schema: `{"type":"object","not":{"const":"` + strings.Repeat("x", 3000) + `"}}`, want: none, rule: "The args must also fit a rule that is checked when the tool is called."},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Adapt(json.RawMessage(test.schema))
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%v, want %q", err, test.err)
				}
				return
			}
			if err != nil || string(got.Schema) != test.want || got.Rule != test.rule {
				t.Errorf("%v\n got %s\nwant %s\nrule %s\nwant %s", err, got.Schema, test.want, got.Rule, test.rule)
			}
			again, err := Adapt(got.Schema)
			if err != nil || string(again.Schema) != string(got.Schema) || again.Rule != "" {
				t.Errorf("once more: %v\n%s", err, again.Schema)
			}
		})
	}
}

// bomb is a small schema with 20 to the power of 15 ways through it.
func bomb() string {
	schema := `{"$ref":"#/$defs/0","$defs":{"15":{}`
	for i := range 15 {
		one := fmt.Sprintf(`{"$ref":"#/$defs/%d"}`, i+1)
		schema += fmt.Sprintf(`,"%d":{"anyOf":[%s]}`, i, one+strings.Repeat(","+one, 19))
	}
	return schema + "}}"
}

func TestWithout(t *testing.T) {
	sent, err := Adapt(json.RawMessage(`{"type":"object","properties":{"$filter":{"type":"string"},"a":{}},"required":["a","$filter"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	got := Without(sent, func(name string) bool { return name != "$filter" })
	if want := `{"type":"object","properties":{"a":{}},"required":["a"]}`; string(got.Schema) != want || got.Describe("Finds.") != `Finds.

It takes further args, by their names and schemas: {"$filter":{"type":"string"}}` {
		t.Errorf("%s\n%s", got.Schema, got.Rule)
	}
}

// FuzzAdapt: whatever a server calls a schema, what is sent is an object schema
// without alternatives at the top, or the tool is left out.
func FuzzAdapt(f *testing.F) {
	f.Add(`{"type":["object"],"anyOf":[{"$ref":"#/$defs/A"}],"$defs":{"A":{"allOf":[{"properties":{"a":{"items":[]}}}]}}}`)
	f.Add(`{"$ref":"#/a~1b","a/b":{"not":{}}}`)
	f.Fuzz(func(t *testing.T, schema string) {
		sent, err := Adapt(json.RawMessage(schema))
		if err != nil {
			return
		}
		o := jsonspan.ReadMemberList(sent.Schema)
		if !isJSON(sent.Schema) || jsonspan.Text(o.Get("type")) != "object" || jsonspan.Kind(o.Get("properties")) != '{' {
			t.Errorf("%s", sent.Schema)
		}
		for _, name := range append([]string{"$ref"}, alternatives...) {
			if o.Get(name) != nil {
				t.Errorf("%s is at the top of %s", name, sent.Schema)
			}
		}
	})
}
