package conversation

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/skill"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/agentparts"
)

// settingsOf are the effective settings of a user's file that says agent.
func settingsOf(t *testing.T, agent string) *schema.Settings {
	t.Helper()
	settings, findings, err := loader.DecodeSettings(map[protocol.Layer]string{protocol.User: `{"agent": ` + agent + `}`})
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	return &settings
}

// The program makes the features that the settings can name, and no others.
func TestFeaturesAreThoseOfTheSettings(t *testing.T) {
	for _, f := range features {
		if agentparts.FeatureByName(f.name) == nil {
			t.Errorf("no setting can name %s", f.name)
		}
	}
}

func TestFeaturesFollowTheSettings(t *testing.T) {
	for _, c := range []struct {
		agent         string
		with, without []string
		skills        []skill.File
	}{
		{`{}`, []string{"steps", "tokens", "time", "retries", "done", "tasks", "bash", "approval"}, []string{"skills", "self-critique", "summarize"}, nil},
		{`{"limits": {"tokens": 0}}`, nil, []string{"tokens"}, nil},
		{`{"providers": ["time", "steps"]}`, []string{"retries"}, []string{"time", "steps"}, nil},
		{`{}`, []string{"skills"}, nil, []skill.File{{Name: "a", Text: []byte("a")}}},
		{`{"providers": ["skills", "tasks"]}`, nil, []string{"skills", "tasks"}, []skill.File{{Name: "a", Text: []byte("a")}}},
		{`{"features": ["summarize", "self-critique"]}`, []string{"summarize", "self-critique"}, nil, nil},
	} {
		in := &featureInput{Settings: settingsOf(t, c.agent), root: t.TempDir()}
		if c.skills != nil {
			in.skills = func() []skill.File { return c.skills }
		}
		list, err := Features(in)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, p := range list {
			names[p.Name] = true
		}
		got := map[string]bool{}
		want := map[string]bool{}
		for _, name := range c.with {
			got[name], want[name] = names[name], true
		}
		for _, name := range c.without {
			got[name], want[name] = names[name], false
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.agent, diff)
		}
	}
}

// The tables of tools' names and args say what the tools of the loop say themselves.
func TestOwnToolsAreInTheTables(t *testing.T) {
	tools := slices.Concat(tool.Files(tool.Folder{}), builtin.SubAgents().Tools, builtin.Skills([]skill.File{{Name: "a", Text: []byte("a")}}).Tools,
		builtin.Tasks().Tools, builtin.Metadata(0).Tools)
	seen := map[string]bool{"bash": true}
	for _, one := range tools {
		description := one.Describe()
		seen[description.Name] = true
		if kind, known := toolname.Kind(description.Name); !known || kind != description.Kind {
			t.Errorf("%s is %s, the vocabulary says %s", description.Name, description.Kind, kind)
		}
		var shape struct {
			Required []string `json:"required"`
		}
		if err := json.Unmarshal(description.Schema, &shape); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(slices.Sorted(slices.Values(toolname.RequiredArgs[description.Name])), slices.Sorted(slices.Values(shape.Required))); d != "" {
			t.Errorf("args of %s (-table +tool):\n%s", description.Name, d)
		}
	}
	for name := range toolname.RequiredArgs {
		if !seen[name] {
			t.Errorf("no tool is called %s", name)
		}
	}
}
