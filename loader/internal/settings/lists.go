package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/agentparts"
)

// commandsAllowed is the list of commands that run without asking. An empty one
// allows all, so that it is no list.
const commandsAllowed = "agent.tools.bash.allow"

// list merges a layer's list with that of the layers above.
func (m *merger) list(key *schema.Key, at int, value schema.Value) []string {
	layer, by := m.falling[at].Layer, m.setBy[key.Name]
	items, merged := value.V.([]string), m.values.Get(key.Name).([]string)
	if layer == protocol.Project && key.Name == "agent.tools.env" {
		items = m.withoutKeys(key, value, merged)
	}
	switch {
	case key.Tighter == schema.Union:
		return union(merged, m.allowedItems(key, at, value, items))
	case by == "" || by != protocol.Managed && key.Tighter == schema.Free:
		return slices.Clone(items)
	case key.Tighter != schema.Fewer:
		if !slices.Equal(items, merged) {
			m.report(key, layer, value, by, merged, "leave it to the managed settings")
		}
		return merged
	}
	kept := slices.DeleteFunc(slices.Clone(items), func(item string) bool { return !slices.Contains(merged, item) })
	m.reportItems(key, layer, value, items, kept)
	if key.Name == commandsAllowed && len(kept) == 0 {
		return []string{schema.MatchesNothing} // an empty list would allow all
	}
	return kept
}

// union adds the items that are not in a list yet.
func union(list, more []string) []string {
	list = slices.Clone(list)
	for _, item := range more {
		if !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}

// allowedItems leaves out what a lower layer cannot add to a union.
func (m *merger) allowedItems(key *schema.Key, at int, value schema.Value, items []string) []string {
	kept, layer := items, m.falling[at].Layer
	switch {
	case key.Name == "hooks.trust.hashes" && layer != protocol.Managed && !m.projectsAllowed():
		kept = nil
	case key.Name == "agent.providers":
		return m.switchedOff(key, at, value, items)
	}
	m.reportItems(key, layer, value, items, kept)
	return kept
}

// projectsAllowed reports whether the managed layer lets a project's hooks run
// by themselves. If it does not, only the hashes it lists itself count.
func (m *merger) projectsAllowed() bool {
	value, found := m.managed("hooks.allow")
	return !found || slices.Contains(value.V.([]string), string(protocol.Project))
}

// switchedOff leaves out the features that a layer cannot switch off: those that
// keep what a layer above it set.
func (m *merger) switchedOff(key *schema.Key, at int, value schema.Value, items []string) (off []string) {
	layer := m.falling[at].Layer
	for i, item := range items {
		feature := agentparts.FeatureByName(item)
		if feature == nil {
			continue
		}
		by := m.keptOn(feature, at)
		if by == "" {
			off = append(off, item)
			continue
		}
		m.warnItem(value, i, fmt.Sprintf("%s %q of the %s settings has no effect: the %s settings set what it keeps (%s)", key.Name, item, layer, by, strings.Join(feature.Keeps, ", ")), "remove it")
	}
	return off
}

// keptOn is the lowest layer above one that set what a feature keeps, "" if none
// did.
func (m *merger) keptOn(feature *agentparts.Feature, below int) protocol.Layer {
	for at := below - 1; at >= 0; at-- {
		for _, key := range feature.Keeps {
			if _, found := m.value(at, key); found {
				return m.falling[at].Layer
			}
		}
	}
	return ""
}

// withoutKeys leaves hookd's own keys out of the variables that a project names
// for its tools, unless a layer above names them too.
func (m *merger) withoutKeys(key *schema.Key, value schema.Value, above []string) (kept []string) {
	for i, item := range value.V.([]string) {
		if !agentparts.IsKeyName(item) || slices.Contains(above, item) {
			kept = append(kept, item)
			continue
		}
		m.warnItem(value, i, fmt.Sprintf("%s %q of the project settings has no effect: it holds the key with which hookd calls the model, which a project cannot hand to its tools", key.Name, item),
			"remove it, or name it in the user settings")
	}
	return kept
}

// reportItems says of each item that is not kept that it has no effect.
func (m *merger) reportItems(key *schema.Key, layer protocol.Layer, value schema.Value, items, kept []string) {
	for i, item := range items {
		if !slices.Contains(kept, item) {
			m.warnItem(value, i, fmt.Sprintf("%s %q of the %s settings has no effect: the managed settings do not allow it", key.Name, item, layer), "remove it")
		}
	}
}

func (m *merger) warnItem(list schema.Value, item int, message, remedy string) {
	pos := list.Pos
	pos.Path = fmt.Sprintf("%s[%d]", pos.Path, item)
	m.warn(pos, message, remedy)
}
