package models

import (
	"slices"
	"testing"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

func settingsOf(layer protocol.Layer, inForce string, others ...string) *schema.Settings {
	s := &schema.Settings{}
	s.Agent.Model, s.Agent.ModelLayer, s.Agent.ModelFile = inForce, layer, "/etc/acai/acai.json"
	s.Agent.Models = append([]string{inForce}, others...)
	return s
}

// A person is offered what was named for the session and what the settings name, and nothing that
// cannot answer.
func TestModelsThatAreOffered(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Setenv("OPENAI_API_KEY", "key")
	priced := settingsOf(protocol.User, "openai:mine")
	priced.Agent.Prices = []schema.Price{{Model: "gpt-9"}, {Model: "claude-9"}, {Model: "gpt-*"}, {Model: "mine"}}
	under := settingsOf(protocol.User, "mine")
	under.Agent.Provider = "openai"
	under.Agent.Prices = []schema.Price{{Model: "qwen3:8b"}}
	for name, test := range map[string]struct {
		settings   *schema.Settings
		named, now string
		want       []string
	}{
		"those of all layers":          {settingsOf(protocol.Project, "openai:theirs", "openai:mine"), "", "openai:theirs", []string{"openai:theirs", "openai:mine"}},
		"the flag's first":             {settingsOf(protocol.User, "openai:mine"), "openai:flag", "openai:flag", []string{"openai:flag", "openai:mine"}},
		"none whose key is not set":    {settingsOf(protocol.Project, "anthropic:theirs", "openai:mine"), "openai:flag", "openai:flag", []string{"openai:flag", "openai:mine"}},
		"no file of another layer":     {settingsOf(protocol.User, "openai:mine", "scripted:turns.yaml"), "", "openai:mine", []string{"openai:mine"}},
		"the file that answers":        {settingsOf(protocol.User, "scripted:/x/turns.yaml"), "", "scripted:/x/turns.yaml", []string{"scripted:/x/turns.yaml"}},
		"those with a price":           {priced, "", "openai:mine", []string{"openai:mine", "openai:gpt-9"}},
		"by the provider of settings":  {under, "", "openai:mine", []string{"openai:mine", "openai:qwen3:8b"}},
		"the only one, by the machine": {settingsOf(protocol.Managed, "openai:theirs", "openai:mine"), "", "openai:theirs", []string{"openai:theirs"}},
		"what answers in any case":     {&schema.Settings{}, "", "openai:x", []string{"openai:x"}},
	} {
		if got := Known(model.WithOrigin(nil, test.now), test.named, test.settings); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// What the machine's settings say of the model holds against --model, /model and an editor.
func TestTheMachineSaysWhichModelAnswers(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "key")
	console, closers := &cli.Console{Err: &show.Printer{}}, &cli.Closers{}
	for name, test := range map[string]struct {
		settings *schema.Settings
		choice   string
		fails    bool
	}{
		"another one":              {settingsOf(protocol.Managed, "openai:theirs"), "openai:mine", true},
		"a file":                   {settingsOf(protocol.Managed, "openai:theirs"), "scripted:turns.yaml", true},
		"none":                     {settingsOf(protocol.Managed, "openai:theirs"), "", false},
		"the same":                 {settingsOf(protocol.Managed, "openai:theirs"), "openai:theirs", false},
		"the person's own setting": {settingsOf(protocol.User, "openai:theirs"), "openai:mine", false},
	} {
		m, err := Choose(console, closers, &Choice{Name: test.choice}, test.settings)
		fault, _ := err.(*cli.Fault)
		if failed := fault != nil && fault.Code == "model-fixed"; failed != test.fails || !failed && m == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
