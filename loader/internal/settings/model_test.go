package settings

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// TestWhoAnswers asserts that no project has a file answer in the model's place,
// in whatever layer the parts of the model's name are written, and that address
// and headers stay with the provider of the layer that wrote them.
func TestWhoAnswers(t *testing.T) {
	type effective struct {
		Model, Provider string
		Layer           protocol.Layer
		BaseURLFor      string
		HeadersFor      string
	}
	tests := map[string]struct {
		project, user, managed string
		want                   effective
		dropped                []string // keys of the project without effect
	}{
		"a script by name":              {`{"model": "scripted:turns.yaml"}`, `{"model": "openai:x"}`, `{}`, effective{"openai:x", "", "user", "", ""}, []string{"agent.model"}},
		"a replay by name":              {`{"model": "replay:tape"}`, `{}`, `{}`, effective{"", "", "", "", ""}, []string{"agent.model"}},
		"a loose replay by name":        {`{"model": "replay-loose:tape"}`, `{}`, `{}`, effective{"", "", "", "", ""}, []string{"agent.model"}},
		"by provider":                   {`{"provider": "scripted", "model": "turns.yaml"}`, `{}`, `{}`, effective{"turns.yaml", "", "project", "", ""}, []string{"agent.provider"}},
		"by provider, a name of theirs": {`{"provider": "scripted"}`, `{"model": "qwen3:8b"}`, `{}`, effective{"qwen3:8b", "", "user", "", ""}, []string{"agent.provider"}},
		"their provider, a file of ours": {`{"model": "turns.yaml"}`, `{"provider": "replay", "model": "/home/x/tape"}`, `{}`,
			effective{"/home/x/tape", "replay", "user", "", ""}, []string{"agent.model"}},
		"the company's provider":      {`{"model": "turns.yaml"}`, `{}`, `{"provider": "scripted"}`, effective{"", "scripted", "", "", ""}, []string{"agent.model"}},
		"the user's script":           {`{}`, `{"model": "scripted:turns.yaml"}`, `{}`, effective{"scripted:turns.yaml", "", "user", "", ""}, nil},
		"one that is served":          {`{"model": "anthropic:x"}`, `{"model": "openai:y", "baseUrl": "http://127.0.0.1:1", "headers": ["A: b"]}`, `{}`, effective{"anthropic:x", "", "project", "openai", "openai"}, nil},
		"theirs is anthropic's":       {`{"model": "openai:x"}`, `{"model": "anthropic:y", "baseUrl": "http://127.0.0.1:1"}`, `{}`, effective{"openai:x", "", "project", "anthropic", ""}, nil},
		"by their provider":           {`{"provider": "openai"}`, `{"provider": "anthropic", "model": "y", "headers": ["A: b"]}`, `{}`, effective{"y", "openai", "user", "", "anthropic"}, nil},
		"address and headers apart":   {`{}`, `{"model": "anthropic:y", "headers": ["A: b"]}`, `{"provider": "openai", "baseUrl": "http://127.0.0.1:1"}`, effective{"anthropic:y", "openai", "user", "openai", "anthropic"}, nil},
		"an address without provider": {`{"model": "anthropic:x"}`, `{"baseUrl": "http://127.0.0.1:1"}`, `{}`, effective{"anthropic:x", "", "project", "openai", ""}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			settings, findings := Merge(
				layerOf(t, protocol.Project, `{"agent": `+test.project+`}`),
				layerOf(t, protocol.User, `{"agent": `+test.user+`}`),
				layerOf(t, protocol.Managed, `{"agent": `+test.managed+`}`),
			)
			a := settings.Agent
			if diff := cmp.Diff(test.want, effective{a.Model, a.Provider, a.ModelLayer, a.BaseURLFor, a.HeadersFor}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var dropped []string
			for _, f := range findings {
				if f.File != "project.json" || f.Severity != schema.SeverityWarning || f.Remedy == "" {
					t.Errorf("finding: %+v", f)
				}
				dropped = append(dropped, *f.Path)
			}
			if diff := cmp.Diff(test.dropped, dropped); diff != "" {
				t.Errorf("dropped (-want +got)\n%s", diff)
			}
		})
	}
}

// TestAProjectHandsNoKeyToItsTools asserts that the variables with hookd's own keys
// reach tools only where user or managed settings say so.
func TestAProjectHandsNoKeyToItsTools(t *testing.T) {
	project := layerOf(t, protocol.Project, `{"agent": {"tools": {"env": ["CI", "ANTHROPIC_API_KEY", "openai_api_key"]}}}`)
	settings, findings := Merge(project)
	if diff := cmp.Diff([]string{"CI"}, settings.Agent.Tools.Env); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if said := strings.Join(lines(findings), "\n"); len(findings) != 2 || !strings.Contains(said, `agent.tools.env[1]`) || !strings.Contains(said, "key with which hookd calls the model") {
		t.Errorf("findings: %s", said)
	}
	settings, findings = Merge(project, layerOf(t, protocol.User, `{"agent": {"tools": {"env": ["ANTHROPIC_API_KEY"]}}}`))
	if diff := cmp.Diff([]string{"CI", "ANTHROPIC_API_KEY"}, settings.Agent.Tools.Env); diff != "" || len(findings) != 1 {
		t.Errorf("with the user's word (-want +got)\n%s%v", diff, lines(findings))
	}
}

// All models that the layers name are known, the one in force first, and none that has no effect.
func TestModelsOfTheLayers(t *testing.T) {
	for name, test := range map[string]struct {
		project, user, managed string
		want                   []string
	}{
		"each once":            {`{"model": "openai:a"}`, `{"model": "openai:b"}`, `{}`, []string{"openai:a", "openai:b"}},
		"the same twice":       {`{"model": "openai:a"}`, `{"model": "openai:a"}`, `{}`, []string{"openai:a"}},
		"the machine's alone":  {`{"model": "openai:a"}`, `{"model": "openai:b"}`, `{"model": "openai:c"}`, []string{"openai:c"}},
		"no file of a project": {`{"model": "scripted:x"}`, `{"model": "openai:b"}`, `{}`, []string{"openai:b"}},
		"none":                 {`{}`, `{}`, `{}`, nil},
	} {
		settings, _ := Merge(
			layerOf(t, protocol.Project, `{"agent": `+test.project+`}`),
			layerOf(t, protocol.User, `{"agent": `+test.user+`}`),
			layerOf(t, protocol.Managed, `{"agent": `+test.managed+`}`),
		)
		if diff := cmp.Diff(test.want, settings.Agent.Models); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
