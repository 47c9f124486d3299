package models

import (
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/patterns"
	"github.com/hookd-dev/hookd/schema"
)

// Known returns the models that a person is offered, as PROVIDER:NAME, those that were named
// first: by the flags, then by the settings, then those that the settings have prices for. A model
// whose key is not set is not offered, nor is a file that answers in a model's place, unless
// --model or the settings name it for this session. current is the model that answers.
func Known(current model.Model, named string, settings *schema.Settings) []string {
	now := model.Origin(current)
	if fixed(settings) {
		return []string{now}
	}
	var list []string
	add := func(name string, written bool) {
		by, rest, err := meant(name, settings)
		if err != nil || by.FromFile && written {
			return
		}
		origin := by.Name + ":" + rest
		if slices.Contains(list, origin) {
			return
		}
		if origin != now {
			if _, _, err := pickModel(origin, settings); err != nil {
				return
			}
		}
		list = append(list, origin)
	}
	if named != "" {
		add(named, false)
	}
	if settings.Agent.Model != "" {
		add("", false)
	}
	for _, name := range settings.Agent.Models {
		add(name, true)
	}
	for _, price := range settings.Agent.Prices {
		p, err := patterns.Parse(price.Model)
		if err != nil || !p.Exact {
			continue
		}
		name := price.Model
		if maker := makerOf(name); maker != "" && settings.Agent.Provider == "" {
			name = maker + ":" + name
		}
		add(name, true)
	}
	if !slices.Contains(list, now) {
		list = append(list, now)
	}
	return list
}

// makerOf returns the provider whose models are called so, "" if none is known.
func makerOf(name string) string {
	for _, known := range []struct{ prefix, provider string }{
		{"claude-", "anthropic"}, {"gpt-", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"},
	} {
		if strings.HasPrefix(name, known.prefix) {
			return known.provider
		}
	}
	return ""
}

// fixed reports whether the machine's settings say which model answers.
func fixed(settings *schema.Settings) bool {
	return settings.Agent.Model != "" && settings.Agent.ModelLayer == protocol.Managed
}

// checkFixed returns why a model cannot be chosen: the machine's settings name another one. No
// layer below can change what they say, and neither can the person.
func checkFixed(name string, settings *schema.Settings) error {
	if name == "" || !fixed(settings) {
		return nil
	}
	by, rest, err := meant(name, settings)
	if err != nil {
		return err
	}
	only, its, err := meant("", settings)
	if err != nil || by == only && rest == its {
		return err
	}
	return cli.Usage("model-fixed", "the machine's settings say which model answers: "+settings.Agent.Model+", not "+name, "the person who looks after this machine can change agent.model in "+settings.Agent.ModelFile)
}
