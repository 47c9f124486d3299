package loader

import (
	"fmt"
	"slices"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// dropPlayed leaves out what of the project's settings would let a file answer in
// the model's place: whoever wrote that file would be the one whose tool calls run.
// Such models are the word of the user, the managed layer or a flag only.
func (m *merger) dropPlayed() {
	const provider, name = "agent.provider", "agent.model"
	drop := func(key string, value schema.Value, by string) {
		m.dropped = append(m.dropped, dropped{protocol.Project, key})
		m.warn(value.Pos, fmt.Sprintf("%s %v of the project settings has no effect: a project cannot have a file answer in the model's place (%s)", key, value.V, by),
			"name such a model with --model, or in the user settings")
	}
	if value, found := m.value(protocol.Project, provider); found {
		if p := schema.ModelProviderByName(value.V.(string)); p != nil && p.Played {
			drop(provider, value, p.Name)
		}
	}
	value, found := m.value(protocol.Project, name)
	if !found {
		return
	}
	otherwise := ""
	for _, layer := range []protocol.Layer{protocol.User, protocol.Project, protocol.Managed} { // the last one counts
		if by, found := m.value(layer, provider); found {
			otherwise = by.V.(string)
		}
	}
	if p, _ := schema.SplitModel(value.V.(string), otherwise); p != nil && p.Played {
		drop(name, value, p.Name)
	}
}

// belonging says where the model and what it is reached by come from, so that a
// key goes only to the server it is for.
func (m *merger) belonging() {
	agent := &m.settings.Agent
	agent.ModelLayer = m.highestWith("agent.model", agent.Model)
	if value, found := m.value(agent.ModelLayer, "agent.model"); found {
		agent.ModelFile = value.Pos.File
	}
	agent.BaseURLFor = m.servedBy(m.highestWith("agent.baseUrl", agent.BaseURL))
	agent.HeadersFor = m.servedBy(m.highestThatLists("agent.headers"))
	agent.Compaction.RecipeLayer = m.highestWith("agent.compaction.recipe", agent.Compaction.Recipe)
}

// servedBy is the provider that a layer's address and headers are for: the one
// the layer itself names, whatever a layer below it makes of the model; "" where
// no layer writes them.
func (m *merger) servedBy(layer protocol.Layer) string {
	if layer == "" {
		return ""
	}
	text := func(key string) string {
		value, _ := m.value(layer, key)
		text, _ := value.V.(string)
		return text
	}
	if p := schema.ModelProviderByName(text("agent.provider")); p != nil && !p.Played {
		return p.Name
	}
	if p, _ := schema.SplitModel(text("agent.model"), ""); p != nil && !p.Played {
		return p.Name
	}
	return "openai"
}

// withoutKeys leaves hookd's own keys out of the variables that a project names
// for its tools, unless a layer above names them too.
func (m *merger) withoutKeys(key *schema.Key, value schema.Value, above []string) (kept []string) {
	for i, item := range value.V.([]string) {
		if !schema.IsKeyName(item) || slices.Contains(above, item) {
			kept = append(kept, item)
			continue
		}
		pos := value.Pos
		pos.Path = fmt.Sprintf("%s[%d]", pos.Path, i)
		m.warn(pos, fmt.Sprintf("%s %q of the project settings has no effect: it holds the key with which hookd calls the model, which a project cannot hand to its tools", key.Name, item),
			"remove it, or name it in the user settings")
	}
	return kept
}
