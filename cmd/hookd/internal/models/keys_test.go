package models

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/model/anthropic"
	"github.com/hookd-dev/hookd/agentloop/model/openai"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/agentparts"
)

// keyServer is the server that the user's settings name. It keeps every request
// header's value.
type keyServer struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func newKeyServer(t *testing.T) *keyServer {
	s := &keyServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, values := range r.Header {
			s.seen = append(s.seen, values...)
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *keyServer) saw(secret string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.seen, func(v string) bool { return strings.Contains(v, secret) })
}

// TestAKeyGoesToItsProviderOnly holds combinations of layers against a server that
// records what it is sent: a provider's key and the settings' headers reach the
// address that belongs to that provider, and no other.
func TestAKeyGoesToItsProviderOnly(t *testing.T) {
	const keyA, keyO, header = "key-of-anthropic", "key-of-openai", "secret-header"
	t.Setenv("ANTHROPIC_API_KEY", keyA)
	t.Setenv("OPENAI_API_KEY", keyO)
	t.Setenv("NO_PROXY", "*")
	tests := map[string]struct {
		project, user string // ADDRESS is the server's
		flag          string
		asked         bool     // the server is the one that is asked
		sees          []string // which secrets it sees then
		note          string
	}{
		"the user's own":              {`{}`, `{"model": "openai:x", "baseUrl": "ADDRESS", "headers": ["X-H: secret-header"]}`, "", true, []string{keyO, header}, ""},
		"an anthropic server":         {`{}`, `{"model": "anthropic:x", "baseUrl": "ADDRESS"}`, "", true, []string{keyA}, ""},
		"the project's, same one":     {`{"model": "openai:y"}`, `{"model": "openai:x", "baseUrl": "ADDRESS"}`, "", true, []string{keyO}, ""},
		"the project's, another":      {`{"model": "anthropic:y"}`, `{"model": "openai:x", "baseUrl": "ADDRESS", "headers": ["X-H: secret-header"]}`, "", false, nil, "agent.baseUrl is for openai, agent.headers are for openai: not used for a model of anthropic"},
		"the project's provider":      {`{"provider": "anthropic"}`, `{"model": "qwen3:8b", "baseUrl": "ADDRESS"}`, "", false, nil, "agent.baseUrl is for openai: not used for a model of anthropic"},
		"no provider named":           {`{"model": "anthropic:y"}`, `{"baseUrl": "ADDRESS"}`, "", false, nil, "agent.baseUrl is for openai: not used for a model of anthropic"},
		"by flag, another":            {`{}`, `{"model": "anthropic:x", "baseUrl": "ADDRESS", "headers": ["X-H: secret-header"]}`, "openai:z", false, nil, "agent.baseUrl is for anthropic, agent.headers are for anthropic: not used for a model of openai"},
		"by flag, same":               {`{"model": "anthropic:y"}`, `{"provider": "openai", "baseUrl": "ADDRESS"}`, "openai:z", true, []string{keyO}, ""},
		"a name without its provider": {`{"model": "qwen3:8b"}`, `{"provider": "openai", "baseUrl": "ADDRESS"}`, "", true, []string{keyO}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := newKeyServer(t)
			texts := map[protocol.Layer]string{}
			for layer, text := range map[protocol.Layer]string{protocol.Project: test.project, protocol.User: test.user} {
				texts[layer] = `{"agent": ` + strings.ReplaceAll(text, "ADDRESS", server.URL) + `}`
			}
			settings, _, err := loader.DecodeSettings(texts)
			if err != nil {
				t.Fatal(err)
			}
			m, note, err := pickModel(test.flag, &settings)
			if err != nil {
				t.Fatal(err)
			}
			if note != test.note {
				t.Errorf("note: %q", note)
			}
			if !test.asked { // the provider's own address, which no test asks
				by, _, _ := strings.Cut(model.Origin(m), ":")
				own, _ := settingsFor(agentparts.ModelProviderByName(by), &settings)
				if own.Agent.BaseURL != "" || len(own.Agent.Headers) > 0 {
					t.Errorf("%s is asked at %q with %q", by, own.Agent.BaseURL, own.Agent.Headers)
				}
				return
			}
			for range m.Generate(t.Context(), model.Request{Model: m.Name(), Messages: []protocol.Message{{Role: "user", Content: protocol.TextContent("x")}}}) {
			}
			for _, secret := range []string{keyA, keyO, header} {
				if want := slices.Contains(test.sees, secret); server.saw(secret) != want {
					t.Errorf("%s at the server: %v, want %v", secret, !want, want)
				}
			}
		})
	}
}

// TestProvidersAreThoseOfTheTable asserts that the table of providers, by which
// settings are read, is of those that there are.
func TestProvidersAreThoseOfTheTable(t *testing.T) {
	var made, listed []string
	for _, p := range modelProviders {
		made = append(made, p.name)
	}
	for _, p := range agentparts.ModelProviders {
		listed = append(listed, p.Name)
	}
	if diff := cmp.Diff(listed, made); diff != "" {
		t.Errorf("(-table +made)\n%s", diff)
	}
	for name, key := range map[string]string{"anthropic": anthropic.KeyName, "openai": openai.KeyName} {
		if got := agentparts.ModelProviderByName(name).KeyName; got != key {
			t.Errorf("the key of %s is in %s, the table says %s", name, key, got)
		}
	}
}
