package settings

import (
	"fmt"
	"slices"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/agentparts"
)

// dropPlayed leaves out what of a project's settings would let a file answer in
// the model's place: the tool calls of that file would run. Such models come from
// the user, the managed layer or a flag only.
func (m *merger) dropPlayed() {
	const provider, name = "agent.provider", "agent.model"
	for at := range m.falling {
		if m.falling[at].Layer != protocol.Project {
			continue
		}
		if value, found := m.value(at, provider); found {
			if p := agentparts.ModelProviderByName(value.V.(string)); p != nil && p.FromFile {
				m.dropPlayedKey(at, provider, value, p.Name)
			}
		}
	}
	for at := range m.falling {
		value, found := m.value(at, name)
		if !found || m.falling[at].Layer != protocol.Project {
			continue
		}
		// The name alone, or under a provider that any layer names.
		providers := []string{""}
		for i := range m.falling {
			if by, found := m.value(i, provider); found {
				providers = append(providers, by.V.(string))
			}
		}
		for _, by := range providers {
			if p, _ := agentparts.SplitModel(value.V.(string), by); p != nil && p.FromFile {
				m.dropPlayedKey(at, name, value, p.Name)
				break
			}
		}
	}
}

func (m *merger) dropPlayedKey(at int, key string, value schema.Value, by string) {
	m.dropped = append(m.dropped, place{at, key})
	m.warn(value.Pos, fmt.Sprintf("%s %v of the project settings has no effect: a project cannot have a file answer in the model's place (%s)", key, value.V, by),
		"name such a model with --model, or in the user settings")
}

// origins says where some values come from: the model and what it is reached by,
// so that a key goes only to the server it is for; who decides an ask, and who
// lists commands.
func (m *merger) origins(s *schema.Settings) {
	agent := &s.Agent
	agent.ModelLayer = m.highestWith("agent.model", agent.Model)
	for at := range m.falling {
		if value, found := m.value(at, "agent.model"); found && value.V == agent.Model && m.falling[at].Layer == agent.ModelLayer {
			agent.ModelFile = value.Pos.File
			break
		}
	}
	agent.Models = allNamed(m, "agent.model", agent.Model)
	agent.BaseURLFor = m.servedBy(m.highestWith("agent.baseUrl", agent.BaseURL))
	agent.HeadersFor = m.servedBy(m.highestThatLists("agent.headers"))
	agent.Compaction.RecipeLayer = m.highestWith("agent.compaction.recipe", agent.Compaction.Recipe)
	agent.Approval.ModeLayer = m.highestWith("agent.approval.mode", agent.Approval.Mode)
	if most, set := m.managed("agent.approval.tools"); set {
		agent.Bounded, agent.AtMost = true, slices.Clone(most.V.([]string))
	}
	agent.Tools.Bash.Layer = m.highestThatLists("agent.tools.bash.deny", commandsAllowed)
}

// highestWith is the highest layer that set a setting to the value in force, ""
// if none did.
func (m *merger) highestWith(key string, value any) protocol.Layer {
	for at := range m.falling {
		if written, found := m.value(at, key); found && written.V == value {
			return m.falling[at].Layer
		}
	}
	return ""
}

// allNamed are the texts that the layers write for a setting, the one in force first.
func allNamed(m *merger, key, inForce string) (list []string) {
	if inForce != "" {
		list = append(list, inForce)
	}
	for at := range m.falling {
		written, found := m.value(at, key)
		if text, _ := written.V.(string); found && text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// highestThatLists is the highest layer that has an item in one of some lists, ""
// if none has.
func (m *merger) highestThatLists(keys ...string) protocol.Layer {
	for at := range m.falling {
		for _, key := range keys {
			if written, found := m.value(at, key); found && len(written.V.([]string)) > 0 {
				return m.falling[at].Layer
			}
		}
	}
	return ""
}

// servedBy is the provider that a layer's address and headers are for: the one
// the layer itself names, whatever a layer below it makes of the model; "" where
// no layer writes them.
func (m *merger) servedBy(layer protocol.Layer) string {
	if layer == "" {
		return ""
	}
	at := slices.IndexFunc(m.falling, func(l schema.LayerSettings) bool { return l.Layer == layer }) // user or managed, of which there is one
	text := func(key string) string {
		value, _ := m.value(at, key)
		text, _ := value.V.(string)
		return text
	}
	if p := agentparts.ModelProviderByName(text("agent.provider")); p != nil && !p.FromFile {
		return p.Name
	}
	if p, _ := agentparts.SplitModel(text("agent.model"), ""); p != nil && !p.FromFile {
		return p.Name
	}
	return "openai"
}
