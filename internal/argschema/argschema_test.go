package argschema

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	const deep = `{"a":{"a":{"a":{"a":1}}}}`
	for name, test := range map[string]struct {
		schema, args string
		problem      string // in the error, "" for none
		unchecked    string
	}{
		"fits":                        {`{"type":"object","properties":{"n":{"type":"integer"}}}`, `{"n":12345678901234567890}`, "", ""},
		"does not fit":                {`{"type":"object","properties":{"n":{"type":"integer"}}}`, `{"n":"x"}`, "integer", ""},
		"no schema":                   {``, `{"n":"x"}`, "", ""},
		"no object":                   {``, `[1]`, "not an object", ""},
		"a part that is referred to":  {`{"properties":{"n":{"$ref":"#/$defs/x~1y"}},"$defs":{"x/y":{"type":"string"}}}`, `{"n":1}`, "string", ""},
		"a tree of any depth":         {`{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}`, `{"a":{"a":{"b":1}}}`, "b", ""},
		"itself":                      {`{"allOf":[{"$ref":"#"}],"type":"string"}`, `{}`, "", "refers to itself"},
		"itself in a part":            {`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, deep, "", "refers to itself"},
		"many ways to the same value": {doubling(40), deep, "", "parts of the schema look at the same value"},
		"many ways at each depth":     {`{"allOf":[` + strings.Repeat(`{"properties":{"a":{"$ref":"#"}}},`, 99) + `{}]}`, deep, "", "more than"},
		"other letters":               {`{"if":{"$Ref":"#"}}`, deep, "", "upper and lower case"},
		"addresses of its own":        {`{"properties":{"a":{"$id":"https://example.org/a","type":"string"}}}`, deep, "", "addresses"},
	} {
		s, err := Compile([]byte(test.schema))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		err = s.Check([]byte(test.args))
		if (err == nil) != (test.problem == "") || err != nil && !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s: %v", name, err)
		}
		if got := s.Unchecked([]byte(test.args)); (got == "") != (test.unchecked == "") || !strings.Contains(got, test.unchecked) {
			t.Errorf("%s: unchecked %q", name, got)
		}
	}
	for _, schema := range []string{`[]`, `{"type":7}`, `{"$ref":"https://example.org/schema"}`, `{"pattern":"(?=x)"}`} {
		if _, err := Compile([]byte(schema)); err == nil {
			t.Errorf("%s compiles", schema)
		}
	}
	if s, err := Compile(WithoutForeignPatterns([]byte(`{"properties":{"a":{"type":"string","pattern":"(?=x)"}}}`))); err != nil || s.Check([]byte(`{"a":1}`)) == nil {
		t.Error(err)
	}
}

// doubling is a schema of n parts, each of which looks twice at what the one before does.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/p0","$defs":{`)
	for i := range n {
		next := `{}`
		if i+1 < n {
			next = `{"$ref":"#/$defs/p` + string(rune('0'+i+1)) + `"}`
		}
		b.WriteString(`"p` + string(rune('0'+i)) + `":{"allOf":[` + next + `,` + next + `]},`)
	}
	return b.String() + `"z":{}}}`
}

// Whatever a schema and args are, a check ends.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"properties":{"a":{"$ref":"#"}},"allOf":[{"not":{"$ref":"#/properties"}}]}`), []byte(`{"a":{"a":1}}`))
	f.Add([]byte(`{"$dynamicRef":"#x","$defs":{"x":{"$dynamicAnchor":"x","$ref":"#"}}}`), []byte(`{}`))
	f.Add([]byte(`{"if":{"$recursiveRef":"#"},"dependentSchemas":{"a":{"$ref":"#/if"}}}`), []byte(`{"a":[1e999]}`))
	f.Fuzz(func(t *testing.T, schema, args []byte) {
		if s, err := Compile(WithoutForeignPatterns(schema)); err == nil {
			_ = s.Check(args)
		}
	})
}

// To read a schema takes little, whatever a server writes. What is not read refuses nothing.
func TestSchemasThatTakeMuchToRead(t *testing.T) {
	var patterns, properties []string
	for i := range 1800 {
		if i < 120 {
			patterns = append(patterns, fmt.Sprintf(`"q%d":{"pattern":"[a-z]{%d}([0-9]{900}|x)"}`, i, 900+i%90))
		}
		properties = append(properties, fmt.Sprintf(`"p%d":{"description":"%s"}`, i, strings.Repeat("x", 300)))
	}
	for name, test := range map[string]struct{ schema, unchecked string }{
		"deep":     {`{"properties":{"a":` + strings.Repeat(`{"items":`, 3000) + `{}` + strings.Repeat(`}`, 3000) + `}}`, "nested deeper"},
		"long":     {`{"properties":{` + strings.Join(properties, ",") + `}}`, "bytes"},
		"patterns": {`{"properties":{` + strings.Join(patterns, ",") + `}}`, ""},
	} {
		read := WithoutForeignPatterns([]byte(test.schema))
		if left := bytes.Count(read, []byte(`"pattern"`)); left > 60 {
			t.Errorf("%s: %d patterns are left", name, left)
		}
		schema, err := Compile(read)
		if err != nil {
			t.Fatal(name, err)
		}
		args := []byte(`{"a":[[]]}`)
		if got := schema.Unchecked(args); (got == "") != (test.unchecked == "") || !strings.Contains(got, test.unchecked) || schema.Check(args) != nil {
			t.Errorf("%s: %q, %v", name, got, schema.Check(args))
		}
	}
}

// A pattern that Go does not take makes no property one too many.
func TestForeignPatternsOfProperties(t *testing.T) {
	schema, err := Compile(WithoutForeignPatterns([]byte(`{"patternProperties":{"(?=x)":{}},"additionalProperties":false,"unevaluatedProperties":false}`)))
	if err != nil || schema.Check([]byte(`{"x":1}`)) != nil {
		t.Errorf("%v, %v", err, schema.Check([]byte(`{"x":1}`)))
	}
}
