package schema_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/internal/jsonschemas"
)

func TestJSONSchemasAreFresh(t *testing.T) {
	files, err := jsonschemas.Files()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(schema.JSONNames) {
		t.Errorf("%d schemas are made, %d are known", len(files), len(schema.JSONNames))
	}
	for _, name := range schema.JSONNames {
		if diff := cmp.Diff(string(files[name]), string(schema.JSON(name))); diff != "" {
			t.Errorf("%s.json is stale, run go generate ./schema (-want +got):\n%s", name, diff)
		}
	}
	if schema.JSON("../jsonschema") != nil || schema.JSON("") != nil {
		t.Error("a schema of no known name is returned")
	}
}

// resolved is a committed schema, ready to validate.
func resolved(t *testing.T, name string) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(schema.JSON(name), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func validate(t *testing.T, r *jsonschema.Resolved, text string) error {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r.Validate(value)
}

// Every event as a hook reads it is described by the schema.
func TestEventSchema(t *testing.T) {
	r := resolved(t, "event")
	for i := range protocol.Table {
		row := &protocol.Table[i]
		ev := protocol.Event{Protocol: protocol.Version, Event: row.Name, ID: "x", Data: protocol.Complete(row, nil)}
		encoded, err := protocol.Encode(&ev)
		if err != nil {
			t.Fatal(err)
		}
		line := strings.Replace(string(bytes.Join(encoded.ForHook(protocol.Project, protocol.OutcomeSoFar{}, nil, nil), nil)), `"time":null`, `"time":"2026-11-27T20:54:00.123Z"`, 1)
		if err := validate(t, r, line); err != nil {
			t.Errorf("%s: %v\n%s", row.Name, err, line)
		}
		grease := strings.Replace(line, `"turn":0`, `"turn":0,"grease":{"x":1}`, 1)
		if err := validate(t, r, grease); err != nil {
			t.Errorf("%s: an unknown member: %v", row.Name, err)
		}
		broken := strings.Replace(line, `"data":`+string(ev.Data), `"data":{}`, 1)
		if err := validate(t, r, broken); err == nil {
			t.Errorf("%s: data without members is valid", row.Name)
		}
		if err := validate(t, r, strings.Replace(line, `"event":"`, `"event":"x`, 1)); err == nil {
			t.Errorf("an unknown event is valid")
		}
	}
}

func TestReplySchema(t *testing.T) {
	r := resolved(t, "reply")
	for reply, want := range map[string]bool{
		`{}`:                               true,
		`{"action":"block","reason":"no"}`: true,
		`{"action":"deny"}`:                true,
		`{"action":"modify","changes":{"args":{"command":"ls"}}}`:                                                      true,
		`{"action":"modify","patch":[{"op":"remove","path":"/args/x"}]}`:                                               true,
		`{"action":"modify","result":{"content":"x"}}`:                                                                 true,
		`{"action":"modify","response":{"message":{"role":"assistant","content":[{"type":"text","text":"x"}]}}}`:       true,
		`{"action":"continue","messages":[{"role":"user","content":"go on"}],"context":"c","notice":"n","state":null}`: true,
		`{"action":"callback","callback":{"name":"review","args":{"a":"b"},"as":"state"}}`:                             true,
		`{"action":"bolck"}`:                                           false,
		`{"action":null}`:                                              false,
		`{"action":"block","reason":1}`:                                false,
		`{"acton":"block"}`:                                            false,
		`{"action":"modify"}`:                                          false,
		`{"action":"modify","changes":{},"patch":[]}`:                  false,
		`{"action":"modify","changes":[]}`:                             false,
		`{"action":"modify","patch":[{"op":"merge","path":""}]}`:       false,
		`{"action":"modify","result":{}}`:                              false,
		`{"action":"callback"}`:                                        false,
		`{"action":"callback","callback":{"name":"x","args":{"a":1}}}`: false,
		`{"action":"continue","messages":"x"}`:                         false,
		`[]`:                                                           false,
	} {
		if err := validate(t, r, reply); (err == nil) != want {
			t.Errorf("%s: %v, want valid: %v", reply, err, want)
		}
	}
}

func TestDescriptionSchemas(t *testing.T) {
	asked, side := resolved(t, "metadata"), resolved(t, "side-file")
	for text, want := range map[string][2]bool{
		`{"events":["tool-call-start","PreToolUse"],"can":"block","timeout":"5s","priority":-3}`: {true, true},
		`{"events":"*","match":{"tool":"bash"},"timeout":5}`:                                     {true, true},
		`{"events":["*"],"match":{"tool":["bash","@read"],"agent":"main"}}`:                      {true, true},
		`{"events":["tool-call-start"],"inPlace":true}`:                                          {false, true},
		`{"name":"x"}`:               {false, false},
		`{"events":["toolbefore"]}`:  {false, false},
		`{"events":[]}`:              {false, false},
		`{"time_out":5}`:             {false, false},
		`{"can":"everything"}`:       {false, false},
		`{"priority":2000}`:          {false, false},
		`{"timeout":"soon"}`:         {false, false},
		`{"match":{"tools":"bash"}}`: {false, false},
		`{"match":{"agent":"both"}}`: {false, false},
		`{"description":null}`:       {false, false},
	} {
		for i, r := range []*jsonschema.Resolved{asked, side} {
			if err := validate(t, r, text); (err == nil) != want[i] {
				t.Errorf("%s as %s: %v, want valid: %v", text, schema.JSONNames[i+2], err, want[i])
			}
		}
	}
}

func TestSettingsSchema(t *testing.T) {
	r := resolved(t, "settings")
	for text, want := range map[string]bool{
		`{}`: true,
		`{"$schema":"x","theme":"dark","hooks":{"timeout":"10s","use":[{"name":"guard.sh","can":"block","enabled":false}]}}`:                    true,
		`{"hooks":{"limits":{"event":"1MiB","reply":65536},"standby":{"pool":2},"records":{"values":"full","keep":"30d"},"allow":["managed"]}}`: true,
		`{"agent":{"limits":{"steps":5},"compaction":{"threshold":0.5},"prices":[{"model":"m","inputPerMTok":1,"outputPerMTok":2}]}}`:           true,
		`{"agent":{"mcpServers":{"files":{"command":"x","args":["y"],"cwd":"/"}}}}`:                                                             true,
		`{"hooks":{"time_out":5}}`:                 false,
		`{"hooks":{"timeout":"soon"}}`:             false,
		`{"hooks":{"timeout":true}}`:               false,
		`{"hooks":{"maxHooks":0}}`:                 false,
		`{"hooks":{"use":[{"can":"block"}]}}`:      false,
		`{"hooks":{"use":{"guard.sh":{}}}}`:        false,
		`{"hooks":{"records":{"values":"all"}}}`:   false,
		`{"hooks":{"limits":{"event":"1 MB"}}}`:    false,
		`{"agent":{"compaction":{"threshold":2}}}`: false,
		`{"agent":{"prices":[{"model":"m"}]}}`:     false,
		`{"hooks":[]}`:                             false,
	} {
		if err := validate(t, r, text); (err == nil) != want {
			t.Errorf("%s: %v, want valid: %v", text, err, want)
		}
	}
	for i := range schema.Keys {
		k := &schema.Keys[i]
		at := schema.JSON("settings")
		for part := range strings.SplitSeq(k.Name, ".") {
			var object struct{ Properties map[string]json.RawMessage }
			if err := json.Unmarshal(at, &object); err != nil || object.Properties[part] == nil {
				t.Fatalf("%s is not in the schema", k.Name)
			}
			at = object.Properties[part]
		}
	}
}
