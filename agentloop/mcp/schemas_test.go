package mcp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/model/anthropic"
	"github.com/hookd-dev/hookd/agentloop/model/openai"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/modelserver"
)

// oddSchemas are schemas that servers in the field list, by the names of their
// tools.
var oddSchemas = map[string]string{
	"good":      `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
	"bare":      `{"type":"object"}`,
	"no type":   `{"properties":{"a":{"type":"string"}}}`,
	"types":     `{"type":["object","null"]}`,
	"null":      `null`,
	"true":      `true`,
	"one/of":    `{"type":"object","oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"number"}},"required":["b"]}]}`,
	"ref":       `{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}`,
	"odd key":   `{"type":"object","properties":{"$filter":{"type":"string"}}}`,
	"list":      `{"type":"object","properties":{"l":{"type":"array"}}}`,
	"array":     `{"type":"array","items":{"type":"string"}}`,
	"far ref":   `{"$ref":"https://nowhere.example/schema.json"}`,
	"false":     `false`,
	"seven":     `{"type":7}`,
	"no object": `{"anyOf":[{"type":"string"},{"type":"number"}]}`,
}

func schemas(r request) string {
	if r.Method != "tools/list" {
		return odd("logs text")(r)
	}
	list := []string{`{"name":"no schema"}`}
	for name, schema := range oddSchemas {
		list = append(list, fmt.Sprintf(`{"name":%q,"description":"does","inputSchema":%s}`, name, schema))
	}
	slices.Sort(list)
	return `{"jsonrpc":"2.0","id":ID,"result":{"tools":[` + strings.Join(list, ",") + `]}}`
}

// TestProvidersTakeAllTools: each tool of a server is offered in a form that each
// provider takes, or left out, and a person is told. What a call is checked
// against stays the server's own schema.
func TestProvidersTakeAllTools(t *testing.T) {
	t.Parallel()
	s := newSetUp(t)
	servers := s.connect(t, itself(t, "schemas"))
	find(t, servers, "mcp__t__good")
	s.told.await(t, "t has tools that are left out: ")
	for _, name := range []string{"array", "far ref", "false", "seven", "no object"} {
		s.told.await(t, fmt.Sprintf("%q (", name))
	}
	registry, err := tool.NewRegistry(servers.Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	tools := registry.List()
	for _, t2 := range tools {
		if raw := oddSchemas[strings.ReplaceAll(strings.TrimPrefix(t2.Name, "mcp__t__"), "_", " ")]; raw != "" && string(t2.Schema) != raw {
			t.Errorf("hooks read another schema of %s: %s", t2.Name, t2.Schema)
		}
	}
	request := model.Request{Messages: []protocol.Message{{Role: protocol.RoleUser, Content: protocol.TextContent("hi")}}, Tools: tools}
	var body struct {
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"input_schema"`
			Function    *struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Schema      json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	for _, provider := range []string{"anthropic", "openai"} {
		sent(t, provider, request, &body)
		var offered []string
		for _, o := range body.Tools {
			if o.Function != nil {
				o.Name, o.Description, o.Schema = o.Function.Name, o.Function.Description, o.Function.Schema
			}
			offered = append(offered, o.Name)
			if problem := refusedBy(o.Name, o.Schema, provider); problem != "" {
				t.Errorf("%s refuses %s: %s: %s", provider, o.Name, problem, o.Schema)
			}
			if o.Name == "mcp__t__one_of" && !strings.Contains(o.Description, `{"oneOf":[`) {
				t.Errorf("%s: %s", o.Name, o.Description)
			}
			if o.Name == "mcp__t__odd_key" && !strings.Contains(o.Description+string(o.Schema), `"$filter":{"type":"string"}`) {
				t.Errorf("%s: %s %s", o.Name, o.Description, o.Schema)
			}
		}
		slices.Sort(offered)
		want := []string{"mcp__t__bare", "mcp__t__good", "mcp__t__list", "mcp__t__no_schema", "mcp__t__no_type", "mcp__t__null", "mcp__t__odd_key", "mcp__t__one_of", "mcp__t__ref", "mcp__t__true", "mcp__t__types"}
		if diff := cmp.Diff(want, offered); diff != "" {
			t.Errorf("%s (-want +got):\n%s", provider, diff)
		}
	}
	for args, fits := range map[string]bool{`{"a":"x"}`: true, `{"b":1}`: true, `{}`: false, `{"a":"x","b":1}`: false} {
		if err := registry.Check("mcp__t__one_of", []byte(args)); (err == nil) != fits {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// sent decodes the request that a provider's server gets.
func sent(t *testing.T, provider string, request model.Request, into any) {
	t.Helper()
	body := modelserver.OpenAI(modelserver.Turn{Text: "hi"})
	if provider == "anthropic" {
		body = modelserver.Anthropic(modelserver.Turn{Text: "hi"})
	}
	server := modelserver.New(t, modelserver.Answer{Body: body})
	var m model.Model
	var err error
	if provider == "anthropic" {
		m, err = anthropic.New(anthropic.Options{Model: "claude-test", BaseURL: server.URL})
	} else {
		m, err = openai.New(openai.Options{Model: "test", BaseURL: server.URL})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range m.Generate(t.Context(), request) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal([]byte(server.Requests()[0].Body), into); err != nil {
		t.Fatal(err)
	}
}

// refusedBy is why a provider would refuse a request with the tool, as far as
// providers are known to.
func refusedBy(name string, schema []byte, provider string) string {
	var o map[string]any
	if json.Unmarshal(schema, &o) != nil || o["type"] != "object" {
		return "no object schema"
	}
	properties, is := o["properties"].(map[string]any)
	if !is {
		return "no properties"
	}
	for _, member := range []string{"$ref", "anyOf", "oneOf", "allOf", "not", "enum"} {
		if o[member] != nil {
			return member + " at the top"
		}
	}
	for key, value := range properties {
		if provider == "anthropic" && !regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`).MatchString(key) {
			return "the key " + key
		}
		if p, is := value.(map[string]any); is && p["type"] == "array" && p["items"] == nil {
			return "an array without items"
		}
	}
	if !regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`).MatchString(name) {
		return "its name"
	}
	return ""
}

// vastSchema is a list with a tool whose schema is larger than any model reads.
func vastSchema(r request) string {
	if r.Method != "tools/list" {
		return odd("logs text")(r)
	}
	var properties strings.Builder
	for i := range 25_000 {
		fmt.Fprintf(&properties, `"p%d":{"type":"string","description":%q},`, i, strings.Repeat("x", 60))
	}
	return `{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"vast","inputSchema":{"type":"object","properties":{` + properties.String() + `"last":{}}}},{"name":"good"}]}}`
}

// TestVastSchema: a schema of many megabytes costs neither the other tools of its
// server nor a run its time.
func TestVastSchema(t *testing.T) {
	t.Parallel()
	s := newSetUp(t)
	began := time.Now()
	servers := s.connect(t, itself(t, "one too large"))
	find(t, servers, "mcp__t__good")
	s.told.await(t, `left out: "vast" (its schema has `)
	servers.Close()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
}
