package settings

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Merge merges the layers into the effective settings, in whatever order they
// are given. A higher layer's values can only be tightened by a lower one; an
// attempt to loosen them is reported and has no effect. The managed layer's
// values that have no tighter direction stand as they are; of those that only
// project and user set, the project's counts. Of several projects the ones given
// earlier are the inner ones, which count as lower.
func Merge(layers ...schema.LayerSettings) (schema.Settings, []schema.Finding) {
	m := &merger{falling: slices.Clone(layers), values: schema.NewLayered(), setBy: map[string]protocol.Layer{}}
	slices.Reverse(m.falling)
	slices.SortStableFunc(m.falling, func(a, b schema.LayerSettings) int { return b.Layer.Rank() - a.Layer.Rank() })
	m.dropPlayed()
	for at := range m.falling {
		m.values.Put(m.layer(at))
	}
	settings := m.values.Settings()
	m.objects(&settings)
	m.origins(&settings)
	unread(&settings, m.falling)
	return settings, m.findings
}

// merger puts one layer after the other over the defaults.
type merger struct {
	falling  []schema.LayerSettings // from the highest to the lowest
	dropped  []place                // values without effect
	values   *schema.Layered        // in force after the layers that were put so far
	setBy    map[string]protocol.Layer
	findings []schema.Finding
}

// place is a value of a layer: the layer's place in falling, and the key.
type place struct {
	at  int
	key string
}

// value is what a layer says of a key, unless it has no effect.
func (m *merger) value(at int, key string) (schema.Value, bool) {
	value, found := m.falling[at].Values[key]
	return value, found && !slices.Contains(m.dropped, place{at, key})
}

// layer returns the plain values of a layer that come into force.
func (m *merger) layer(at int) map[string]any {
	layer, stands := m.falling[at].Layer, map[string]any{}
	for i := range schema.Keys {
		key := &schema.Keys[i]
		if !key.Plain() {
			continue
		}
		path := key.PathFor(layer)
		value, found := m.value(at, key.Name)
		if found && key.Name == commandsAllowed && m.setBy[path] == "" && len(value.V.([]string)) == 0 {
			continue // no list, which a lower layer may write
		}
		var v any
		if found {
			if v, found = m.allowed(key, at, value); !found {
				m.dropped = append(m.dropped, place{at, key.Name})
			}
		}
		switch {
		case found:
			stands[path] = v
			m.setNow(key, path, layer)
		case key.Tighter == schema.OwnLayer && m.setBy[path] != "":
			stands[path] = key.Unset() // an inner project does not get what an outer one says of its own
		}
	}
	return stands
}

// setNow notes which layer binds the layers below with a value. What the managed
// layer fixes stays its own; otherwise it is the layer that moved the value last.
func (m *merger) setNow(key *schema.Key, path string, layer protocol.Layer) {
	if fixed := key.Type == schema.TypeList || key.BoundByManaged(); m.setBy[path] != protocol.Managed || !fixed {
		m.setBy[path] = layer
	}
}

// allowed returns what is left of a value once the layers above have ruled; ok is
// false if nothing is.
func (m *merger) allowed(key *schema.Key, at int, value schema.Value) (v any, ok bool) {
	switch {
	case key.Tighter == schema.OwnLayer:
		return value.V, m.ownAllowed(key, at, value)
	case key.Type == schema.TypeList:
		return m.list(key, at, value), true
	}
	return value.V, m.plainAllowed(key, at, value)
}

// plainAllowed reports whether one plain value may take the place of the one in
// force.
func (m *merger) plainAllowed(key *schema.Key, at int, value schema.Value) bool {
	layer, by, stands := m.falling[at].Layer, m.setBy[key.Name], m.values.Get(key.Name)
	bound := by != "" || layer == protocol.Project && key.ProjectTightens
	switch {
	case by == protocol.Managed && key.BoundByManaged():
		if value.V == stands {
			return true
		}
		m.report(key, layer, value, by, stands, "leave it to the managed settings")
	case bound && key.Looser(value.V, stands):
		m.report(key, layer, value, by, stands, "write a tighter value, or none")
	default:
		return true
	}
	return false
}

// ownAllowed reports whether a layer may say something of its own hooks. Where the
// values have an order, the managed layer's is the least for all, and no other
// layer's binds another.
func (m *merger) ownAllowed(key *schema.Key, at int, value schema.Value) bool {
	least, bound := m.managed(key.Name)
	order := func(v any) int { return slices.Index(key.Order, v.(string)) }
	if !bound || len(key.Order) == 0 || order(value.V) >= order(least.V) {
		return true
	}
	m.report(key, m.falling[at].Layer, value, protocol.Managed, least.V, "write a stricter rule, or none")
	return false
}

// managed is what the managed layer says of a key.
func (m *merger) managed(key string) (schema.Value, bool) {
	for at := range m.falling {
		if m.falling[at].Layer == protocol.Managed {
			return m.value(at, key)
		}
	}
	return schema.Value{}, false
}

// objects merges what is no plain value: prices, trusted folders and servers.
func (m *merger) objects(settings *schema.Settings) {
	prices, folders, servers := []schema.Price{}, []schema.TrustedFolder{}, map[string]schema.MCPServer{}
	for at := range m.falling {
		if value, found := m.value(at, "agent.prices"); found { // the highest layer's price of a model counts
			for _, price := range value.V.([]schema.Price) {
				if !slices.ContainsFunc(prices, func(p schema.Price) bool { return p.Model == price.Model }) {
					prices = append(prices, price)
				}
			}
		}
		if value, found := m.value(at, "hooks.trust.folders"); found {
			folders = append(folders, value.V.([]schema.TrustedFolder)...)
		}
		if value, found := m.value(at, "agent.mcpServers"); found {
			m.servers(servers, at, value)
		}
	}
	settings.Agent.Prices, settings.Hooks.Trust.Folders, settings.Agent.MCPServers = prices, folders, servers
}

// servers adds a layer's MCP servers to those of the layers above: the managed
// layer's stand, and of project and user the project's counts.
func (m *merger) servers(merged map[string]schema.MCPServer, at int, value schema.Value) {
	servers := value.V.(map[string]schema.MCPServer)
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if above, taken := merged[name]; taken && above.Layer == protocol.Managed {
			m.warn(value.Pos, fmt.Sprintf("the server %q of the %s settings has no effect: the managed settings have one of that name", name, m.falling[at].Layer), "give it another name")
			continue
		}
		merged[name] = servers[name]
	}
}

// unread collects the limits that cannot be read. A value of another layer
// does not stand for one: nobody knows which of them is the tighter one.
func unread(settings *schema.Settings, layers []schema.LayerSettings) {
	for i := range layers {
		for _, u := range layers[i].Unread {
			if schema.KeyByName(u.Key).For == schema.ForRun {
				settings.Agent.Unread = append(settings.Agent.Unread, u)
			} else {
				settings.Hooks.Unread = append(settings.Hooks.Unread, u)
			}
		}
	}
}

// report says that a value has no effect against the one in force.
func (m *merger) report(key *schema.Key, layer protocol.Layer, value schema.Value, by protocol.Layer, stands any, remedy string) {
	whose := "the default " + key.Write(stands)
	switch {
	case by == layer:
		whose = "the " + key.Write(stands) + " of a project above"
	case by != "":
		whose = fmt.Sprintf("the %s settings' %s", by, key.Write(stands))
	}
	m.warn(value.Pos, fmt.Sprintf("%s %s of the %s settings has no effect: %s stands", key.Name, key.Write(value.V), layer, whose), remedy)
}

func (m *merger) warn(pos schema.Pos, message, remedy string) {
	m.findings = append(m.findings, schema.NewFinding(pos, "", schema.SeverityWarning, schema.CodeLoosens, message, remedy))
}
