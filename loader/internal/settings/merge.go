package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Merge merges the layers into the effective settings, in whatever
// order they are given. A higher layer's values can only be tightened by a
// lower one; an attempt to loosen them is reported and has no effect. The
// managed layer's values that have no tighter direction stand as they are; of
// those that only project and user set, the project's counts. Of several projects
// the ones given earlier are the inner ones, which count as lower.
func Merge(layers ...schema.LayerSettings) (schema.Settings, []schema.Finding) {
	m := &merger{falling: slices.Clone(layers)}
	slices.Reverse(m.falling)
	slices.SortStableFunc(m.falling, func(a, b schema.LayerSettings) int { return b.Layer.Rank() - a.Layer.Rank() })
	m.dropPlayed()
	for i := range schema.Keys {
		key := &schema.Keys[i]
		switch {
		case key.Type == schema.TypeEntries: // merged into the hooks they describe
		case key.Scalar():
			key.Set(&m.settings, "", m.scalar(key))
		case key.Tighter == schema.OwnLayer:
			m.own(key)
		case key.Type == schema.TypePrices:
			m.prices(key)
		case key.Type == schema.TypeFolders:
			m.folders(key)
		case key.Type == schema.TypeServers:
			m.servers(key)
		default:
			m.list(key)
		}
	}
	m.settings.Agent.Approval.ModeLayer = m.highestWith("agent.approval.mode", m.settings.Agent.Approval.Mode)
	if most, set := m.managed("agent.approval.tools"); set {
		m.settings.Agent.Bounded, m.settings.Agent.AtMost = true, slices.Clone(most.V.([]string))
	}
	m.belonging()
	m.settings.Agent.Tools.Bash.Layer = m.highestThatLists("agent.tools.bash.deny", "agent.tools.bash.allow")
	return m.settings, m.findings
}

type merger struct {
	falling  []schema.LayerSettings // from the highest to the lowest
	dropped  []dropped
	settings schema.Settings
	findings []schema.Finding
}

// dropped is a value without effect: its place in falling, and its key.
type dropped struct {
	at  int
	key string
}

func (m *merger) value(at int, key string) (schema.Value, bool) {
	value, found := m.falling[at].Values[key]
	return value, found && !slices.Contains(m.dropped, dropped{at, key})
}

// highestWith is the highest layer that set a setting to the value in force, ""
// if none did.
func (m *merger) highestWith(key string, value any) protocol.Layer {
	for i := range m.falling {
		if written, found := m.value(i, key); found && written.V == value {
			return m.falling[i].Layer
		}
	}
	return ""
}

// highestThatLists is the highest layer that has an item in one of some lists, ""
// if none has.
func (m *merger) highestThatLists(keys ...string) protocol.Layer {
	for i := range m.falling {
		for _, key := range keys {
			if written, found := m.value(i, key); found && len(written.V.([]string)) > 0 {
				return m.falling[i].Layer
			}
		}
	}
	return ""
}

// scalar is the value in force: the default, or what managed, user and project
// write, each over the one before, without those that a higher layer does not
// allow.
func (m *merger) scalar(key *schema.Key) any {
	stands, by := key.Default, protocol.Layer("")
	for i := range m.falling {
		layer := m.falling[i].Layer
		value, found := m.value(i, key.Name)
		if !found {
			continue
		}
		managed := by == protocol.Managed && (key.Tighter == schema.Free || key.FixedByManaged)
		bound := by != "" || layer == protocol.Project && key.ProjectTightens
		switch {
		case managed && value.V != stands:
			m.report(key, layer, value, by, stands, "leave it to the managed settings")
		case !managed && bound && key.Looser(value.V, stands):
			m.report(key, layer, value, by, stands, "write a tighter value, or none")
		default:
			stands, by = value.V, higher(by, layer, key)
			continue
		}
		m.dropped = append(m.dropped, dropped{i, key.Name})
	}
	return stands
}

// higher says which layer rules the value for those below. What the managed
// layer fixes it goes on ruling; otherwise it is the layer that moved last.
func higher(by, layer protocol.Layer, key *schema.Key) protocol.Layer {
	if by == protocol.Managed && (key.Tighter == schema.Free || key.FixedByManaged) {
		return by
	}
	return layer
}

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
	f := schema.Finding{Severity: schema.SeverityWarning, Code: string(schema.CodeLoosens), File: pos.File, Message: message, Remedy: remedy}
	if pos.Line > 0 {
		f.Line = &pos.Line
	}
	if pos.Path != "" {
		f.Path = &pos.Path
	}
	m.findings = append(m.findings, f)
}

// own sets each layer's value for its own hooks. Where the values have an order,
// the managed layer's is the least for all, and no other layer's binds another.
func (m *merger) own(key *schema.Key) {
	for _, layer := range []protocol.Layer{protocol.Managed, protocol.User, protocol.Project} {
		if key.Default != nil {
			key.Set(&m.settings, layer, key.Default)
		}
	}
	for i := range m.falling {
		layer := m.falling[i].Layer
		value, found := m.value(i, key.Name)
		if !found { // an inner project does not get what an outer one says of its own
			if key.Default != nil {
				key.Set(&m.settings, layer, key.Default)
			}
			continue
		}
		least, bound := m.managed(key.Name)
		if bound && len(key.Order) > 0 && order(key, value.V) < order(key, least.V) {
			m.report(key, layer, value, protocol.Managed, least.V, "write a stricter rule, or none")
			continue
		}
		key.Set(&m.settings, layer, value.V)
	}
}

// managed is what the managed layer says of a key.
func (m *merger) managed(key string) (schema.Value, bool) {
	for i := range m.falling {
		if m.falling[i].Layer == protocol.Managed {
			return m.value(i, key)
		}
	}
	return schema.Value{}, false
}

func order(key *schema.Key, value any) int { return slices.Index(key.Order, value.(string)) }

// list merges a setting that is a list of strings.
func (m *merger) list(key *schema.Key) {
	merged, by := slices.Clone(key.Default.([]string)), protocol.Layer("")
	for i := range m.falling {
		layer := m.falling[i].Layer
		value, found := m.value(i, key.Name)
		if !found {
			continue
		}
		items := value.V.([]string)
		commands := key.Name == "agent.tools.bash.allow"
		if commands && by == "" && len(items) == 0 {
			continue // no list, which a lower layer may write
		}
		if layer == protocol.Project && key.Name == "agent.tools.env" {
			items = m.withoutKeys(key, value, merged)
		}
		switch {
		case key.Tighter == schema.Union:
			items = m.allowedItems(key, i, value, items)
			merged = union(merged, items)
		case by == "" || by != protocol.Managed && key.Tighter == schema.Free:
			merged = slices.Clone(items)
		default:
			kept := slices.DeleteFunc(slices.Clone(items), func(item string) bool { return !slices.Contains(merged, item) })
			if key.Tighter == schema.Fewer {
				m.reportItems(key, layer, value, items, kept)
				if merged = kept; commands && len(kept) == 0 {
					merged = []string{schema.MatchesNothing} // an empty list would allow all
				}
			} else if !slices.Equal(items, merged) {
				m.report(key, layer, value, by, merged, "leave it to the managed settings")
			}
		}
		if by != protocol.Managed {
			by = layer
		}
	}
	key.Set(&m.settings, "", merged)
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
	for i := range m.falling {
		if value, found := m.value(i, "hooks.allow"); found {
			return slices.Contains(value.V.([]string), string(protocol.Project))
		}
	}
	return true
}

// switchedOff leaves out the features that a layer cannot switch off: those that
// keep what a layer above it set.
func (m *merger) switchedOff(key *schema.Key, at int, value schema.Value, items []string) (off []string) {
	layer := m.falling[at].Layer
	for i, item := range items {
		feature := schema.BuiltinByName(item)
		if feature == nil {
			continue
		}
		by := m.keptOn(feature, at)
		if by == "" {
			off = append(off, item)
			continue
		}
		pos := value.Pos
		pos.Path = fmt.Sprintf("%s[%d]", pos.Path, i)
		m.warn(pos, fmt.Sprintf("%s %q of the %s settings has no effect: the %s settings set what it keeps (%s)", key.Name, item, layer, by, strings.Join(feature.Keeps, ", ")), "remove it")
	}
	return off
}

// keptOn is the lowest layer above one that set what a feature keeps, "" if none
// did.
func (m *merger) keptOn(feature *schema.Builtin, below int) protocol.Layer {
	for i := below - 1; i >= 0; i-- {
		for _, key := range feature.Keeps {
			if _, found := m.value(i, key); found {
				return m.falling[i].Layer
			}
		}
	}
	return ""
}

func (m *merger) reportItems(key *schema.Key, layer protocol.Layer, value schema.Value, items, kept []string) {
	for i, item := range items {
		if !slices.Contains(kept, item) {
			pos := value.Pos
			pos.Path = fmt.Sprintf("%s[%d]", pos.Path, i)
			m.warn(pos, fmt.Sprintf("%s %q of the %s settings has no effect: the managed settings do not allow it", key.Name, item, layer), "remove it")
		}
	}
}

func union(a, b []string) []string {
	for _, item := range b {
		if !slices.Contains(a, item) {
			a = append(a, item)
		}
	}
	return a
}

// prices unites the price lists; the highest layer's price of a model counts.
func (m *merger) prices(key *schema.Key) {
	merged := []schema.Price{}
	for i := range m.falling {
		value, found := m.value(i, key.Name)
		if !found {
			continue
		}
		for _, price := range value.V.([]schema.Price) {
			if !slices.ContainsFunc(merged, func(p schema.Price) bool { return p.Model == price.Model }) {
				merged = append(merged, price)
			}
		}
	}
	key.Set(&m.settings, "", merged)
}

// folders unites the lists of folders whose owners are all right.
func (m *merger) folders(key *schema.Key) {
	merged := []schema.TrustedFolder{}
	for i := range m.falling {
		if value, found := m.value(i, key.Name); found {
			merged = append(merged, value.V.([]schema.TrustedFolder)...)
		}
	}
	key.Set(&m.settings, "", merged)
}

// servers merges the MCP servers by name: the managed layer's stand, and of
// project and user the project's counts.
func (m *merger) servers(key *schema.Key) {
	merged := map[string]schema.MCPServer{}
	for i := range m.falling {
		layer := m.falling[i].Layer
		value, found := m.value(i, key.Name)
		if !found {
			continue
		}
		servers := value.V.(map[string]schema.MCPServer)
		for _, name := range slices.Sorted(maps.Keys(servers)) {
			if before, taken := merged[name]; taken && before.Layer == protocol.Managed {
				m.warn(value.Pos, fmt.Sprintf("the server %q of the %s settings has no effect: the managed settings have one of that name", name, layer), "give it another name")
				continue
			}
			merged[name] = servers[name]
		}
	}
	key.Set(&m.settings, "", merged)
}
