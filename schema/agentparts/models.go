package agentparts

import (
	"slices"
	"strings"
)

// ModelProvider is who answers in place of a model's name: PROVIDER:NAME.
type ModelProvider struct {
	Name     string
	KeyName  string // environment variable of its key, "" if it has none
	FromFile bool   // the answers come from a file, so the author of the file decides what the model says
}

// ModelProviders are those that there are.
var ModelProviders = []ModelProvider{
	{Name: "anthropic", KeyName: "ANTHROPIC_API_KEY"},
	{Name: "openai", KeyName: "OPENAI_API_KEY"},
	{Name: "scripted", FromFile: true},
	{Name: "replay", FromFile: true},
	{Name: "replay-loose", FromFile: true},
}

// ModelProviderByName returns a provider, nil if there is none of that name.
func ModelProviderByName(name string) *ModelProvider {
	i := slices.IndexFunc(ModelProviders, func(p ModelProvider) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &ModelProviders[i]
}

// SplitModel says who serves a model, and the name of it there. A name that does
// not begin with a provider is the given provider's: it may hold colons itself,
// as qwen3:8b does. provider is nil if there is none of the name that is left.
func SplitModel(name, otherwise string) (provider *ModelProvider, rest string) {
	kind, rest, _ := strings.Cut(name, ":")
	if p := ModelProviderByName(kind); p != nil {
		return p, rest
	}
	return ModelProviderByName(otherwise), name
}

// IsKeyName reports whether an environment variable holds a provider's key. Some
// systems do not tell the case of a variable's name.
func IsKeyName(variable string) bool {
	return slices.ContainsFunc(ModelProviders, func(p ModelProvider) bool {
		return p.KeyName != "" && strings.EqualFold(p.KeyName, variable)
	})
}
