package loader

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Material is what a layer holds for the agent loop besides its hooks. One of a
// project may be used only if a person allowed it (protocol, section 7): a skill
// and a recipe speak to the model, a server runs.
type Material struct {
	Kind   records.Kind    `json:"kind"`
	Name   string          `json:"name"`
	Layer  protocol.Layer  `json:"source"`
	Path   string          `json:"path"`   // where it was written; of a server the settings file
	Hash   string          `json:"hash"`   // of the bundle; "" of one that cannot be used
	Status executor.Status `json:"status"` // ready untrusted changed broken disabled
	Why    string          `json:"why"`    // for any status but ready

	Unwatched []string `json:"unwatched,omitzero"` // code of the project that it runs and that nobody allowed, in words
	Given     bool     `json:"given,omitzero"`     // a server of user or machine that is told where the project lies

	// Use is the file to read: the private copy of a project's, the original of
	// other layers. It is "" for a server and for what may not be used.
	Use string `json:"-"`
	// Beside are the further files of a skill that is a folder, relative to the
	// folder of Use, with slashes between parts.
	Beside []string `json:"-"`
}

// materialFolders say where materials that are files lie, below a layer's
// folder, and what a folder in there must hold to be one.
var materialFolders = []struct {
	kind records.Kind
	dir  string
	file string // of a material that is a folder; "" if none can be
}{
	{records.KindSkill, "skills", "SKILL.md"},
	{records.KindRecipe, "recipes", ""},
}

const serversDir = "mcpServers" // stands before a server's name in records and messages

// gatherMaterials finds the materials of one layer. A layer that is not there
// holds none.
func (p *load) gatherMaterials(s *scope) {
	if s.dir == "" {
		return
	}
	g := &gathering{load: p, scope: s, layer: s.layer, dir: s.dir, checks: p.checksFor(s.layer)}
	for _, folder := range materialFolders {
		g.materialFiles(folder.kind, folder.dir, folder.file)
	}
	g.servers(s.settings.Values, false)
	if s.waiting != nil {
		g.servers(s.waiting.settings.Values, true)
	}
	if s.layer == protocol.Project {
		g.recordedMaterials()
	}
}

// servers takes in the MCP servers that settings name. waits says that nobody
// allowed the settings.
func (g *gathering) servers(values map[string]schema.Value, waits bool) {
	value := values["agent.mcpServers"]
	servers, _ := value.V.(map[string]schema.MCPServer)
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		g.server(name, servers[name], value.Pos.File)
		g.materials[len(g.materials)-1].waits = waits
	}
}

// materialFiles takes in the files of one folder.
func (g *gathering) materialFiles(kind records.Kind, dir, inFolder string) {
	where := filepath.Join(g.dir, dir)
	g.Inputs.See(where)
	entries, err := os.ReadDir(where)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		g.Add(report.New(report.Unreadable, where, 0, "", "the folder cannot be listed: "+files.Cause(err), "make it a readable folder"))
		return
	}
	if len(entries) > maxCandidates {
		g.Add(report.Newf(report.TooMany, where, "", "move what does not belong there elsewhere", "the folder holds more than %d files; the rest is not looked at", maxCandidates))
		entries = entries[:maxCandidates]
	}
	for _, entry := range entries {
		file := entry.Name()
		if strings.HasPrefix(file, ".") {
			continue
		}
		isFolder := false
		if st, err := files.Stat(filepath.Join(where, file)); err == nil && st.Mode.IsDir() {
			if isFolder = inFolder != ""; !isFolder {
				continue
			}
		}
		switch {
		case isFolder:
			g.Inputs.See(filepath.Join(where, file, inFolder))
			if !files.IsRegular(filepath.Join(where, file, inFolder)) {
				continue
			}
			g.materialFile(kind, file, path.Join(dir, file, inFolder), []string{path.Join(dir, file, "**")})
		case strings.HasSuffix(file, ".md"):
			g.materialFile(kind, strings.TrimSuffix(file, ".md"), path.Join(dir, file), nil)
		}
	}
}

// materialFile takes in one skill or recipe; member is its file below the
// layer's folder, with what it brings along.
func (g *gathering) materialFile(kind records.Kind, name, member string, helpers []string) {
	f := g.material(kind, name, member, filepath.Join(g.dir, filepath.FromSlash(member)))
	if f.Problem != nil {
		return
	}
	if _, unsafe, err := g.checks.Follow(f.path); err != nil {
		f.Problem = unreadable(f.path, err)
		return
	} else if unsafe != "" {
		f.Problem = &report.Problem{Why: unsafe, Remedy: "make it yours and writable by you only: chown, chmod go-w"}
		return
	}
	g.sealMaterial(f, nil, g.dir, func(d *bundle.Draft) error {
		if err := d.Add(member); err != nil {
			return err
		}
		_, err := d.AddHelpers(helpers)
		return err
	})
}

// server takes in one MCP server. What it starts of the project is a part of
// what is allowed, as with a command hook.
func (g *gathering) server(name string, s schema.MCPServer, file string) {
	f := g.material(records.KindServer, name, path.Join(serversDir, name), file)
	filled, unset := withVariables(s, g.variable())
	f.server, f.line, f.unset = &filled, s.Line, unset
	in := g.placeOf(g.scope, false)
	if s.Command != "" {
		f.Argv, f.Problem = g.command(append([]string{filled.Command}, filled.Args...))
		f.NameWords(append([]string{filled.Command}, filled.Args...))
	}
	f.given = g.layer != protocol.Project && namesProject(s)
	if f.Problem == nil {
		f.Problem = in.CheckVariables(f.server)
	}
	if f.Problem != nil && g.layer != protocol.Project {
		return
	}
	g.sealMaterial(f, s, g.scope.root, func(d *bundle.Draft) error { return f.AddServer(d, f.server) })
}

// material begins one; member is its name in the records.
func (g *gathering) material(kind records.Kind, name, member, path string) *found {
	f := &found{scope: g.scope, layer: g.layer, kind: kind, name: g.scope.prefix + member, base: member, title: name, path: path, listed: true}
	if !utf8.ValidString(member) {
		f.Problem = &report.Problem{Why: "its name is not valid UTF-8", Remedy: "rename it"}
	}
	g.materials = append(g.materials, f)
	return f
}

// sealMaterial makes the bundle: what a person allows of a project's, and what
// belongs to any.
func (g *gathering) sealMaterial(f *found, said any, base string, fill func(*bundle.Draft) error) {
	var r *records.Record
	if at := slices.IndexFunc(g.scope.decisions.Hooks, func(r records.Record) bool { return r.IsMaterial() && r.Hook == f.base }); at >= 0 {
		r = &g.scope.decisions.Hooks[at]
	}
	in := *g.placeOf(g.scope, false)
	in.Spare = g.spareFor(g.scope, r)
	sealed, err := in.Build(f.base, struct {
		Kind   records.Kind `json:"kind"`
		Server any          `json:"server,omitzero"`
	}{f.kind, said}, base, fill)
	if errors.Is(err, bundle.ErrNotHashed) {
		return
	}
	if err != nil {
		f.Problem = &report.Problem{Why: "its files cannot be used: " + err.Error(), Remedy: "correct or remove it"}
		return
	}
	f.Bundle = sealed
}

// recordedMaterials joins what was decided with what is there.
func (g *gathering) recordedMaterials() {
	for i := range g.scope.decisions.Hooks {
		r := &g.scope.decisions.Hooks[i]
		if !r.IsMaterial() || r.Kind == records.KindSettings {
			continue
		}
		at := slices.IndexFunc(g.materials, func(f *found) bool { return f.scope == g.scope && f.base == r.Hook })
		if at < 0 {
			g.materials = append(g.materials, &found{scope: g.scope, layer: g.layer, kind: r.Kind, name: g.scope.prefix + r.Hook, base: r.Hook, title: titleOf(r.Hook), record: r})
			continue
		}
		g.materials[at].record = r
	}
}

// titleOf is the name of a material by its name in the records.
func titleOf(member string) string {
	return path.Base(strings.TrimSuffix(strings.TrimSuffix(member, ".md"), "/SKILL"))
}

// decideMaterial settles whether one may be used. Nothing of it guards anything,
// so that what may not be used is absent, and said to be.
func (p *load) decideMaterial(f *found) {
	p.tellUnwatched(f)
	trusted := f.scope.needsTrust() && f.Unstarted && f.Bundle != nil && f.record != nil && f.Bundle.Hash == f.record.Hash
	if trusted {
		f.Problem = nil // what starts it is pinned
	}
	switch r := f.record; {
	case f.Problem != nil:
		f.stop(executor.Broken, f.Problem.Why)
		p.Add(report.New(report.MaterialUnusable, f.path, f.line, f.name, f.Problem.Why, f.Problem.Remedy))
	case r != nil && r.Decision == records.Denied:
		f.stop(executor.Disabled, "denied with hookd untrust")
	case !f.scope.needsTrust():
		f.run = f.path
	case f.Bundle == nil && r != nil: // only a record is left of it
		f.stop(executor.Gone, "it was allowed here and is no longer there")
	case f.waits: // and so does the server, whatever was decided about it
		f.stop(executor.Untrusted, "nobody allowed the project's settings yet")
		p.unaskedMaterials = append(p.unaskedMaterials, f.name)
		p.Add(report.New(report.MaterialUntrusted, f.path, f.line, f.name, "it is not used: "+f.why, f.scope.trustRemedy()))
	case r != nil && f.Bundle.Hash == r.Hash, r == nil && f.allowedInMain() && !f.runsUnwatched(), p.hashListed(f):
		if p.policy(f, string(protocol.Project)) {
			p.useCopy(f)
		}
	case r != nil:
		f.stop(executor.Changed, "it is not what was allowed any more"+p.difference(f))
		p.Add(report.New(report.MaterialUntrusted, f.path, f.line, f.name, "it is not used: "+f.why, f.scope.trustRemedy()))
	default:
		f.stop(executor.Untrusted, "nobody allowed it yet")
		p.unaskedMaterials = append(p.unaskedMaterials, f.name)
		p.Add(report.New(report.MaterialUntrusted, f.path, f.line, f.name, "it is not used: "+f.why, f.scope.trustRemedy()))
	}
	if f.unset != nil && f.run != "" {
		f.stop(executor.Broken, f.unset.Why)
		p.Add(report.New(report.MaterialUnusable, f.path, f.line, f.name, f.unset.Why, f.unset.Remedy))
	}
}

// useCopy settles that the private copy is used.
func (p *load) useCopy(f *found) {
	f.Bundle.Members = slices.Clone(f.Bundle.Members)
	if err := p.store.put(f.Bundle); err != nil {
		f.stop(executor.Changed, "its private copy cannot be relied on: "+err.Error())
		p.Add(report.New(report.Tampered, p.store.folder(f.Bundle.Hash), 0, f.name, f.why, "allow it again with: "+f.scope.trustCommand()))
		return
	}
	switch f.kind {
	case records.KindServer:
		f.Argv = f.Copied(f.Argv, p.store.folder(f.Bundle.Hash))
		f.run = f.path
		p.holdPins(f)
	default:
		f.run = p.store.path(f.Bundle.Hash, f.base)
	}
}

// settleServers leaves only those servers in the settings that may be started,
// by name the managed layer's before the project's before the user's: one that
// nobody allowed takes no name away.
func (p *load) settleServers() {
	allowed := map[string]schema.MCPServer{}
	order := append([]*scope{p.user}, p.projectScopes()...)
	for _, scope := range append(order, p.machine) {
		for _, f := range p.materials {
			if f.kind != records.KindServer || f.scope != scope || f.run == "" {
				continue
			}
			s := *f.server
			s.Layer = f.layer
			if len(f.Argv) > 0 {
				p.startServer(f, &s)
			}
			allowed[f.title] = s
		}
	}
	p.settings.Agent.MCPServers = allowed
}

// material returns it as the snapshot shows it.
func (f *found) material() Material {
	m := Material{Kind: f.kind, Name: f.title, Layer: f.layer, Path: f.path, Status: f.status, Why: f.why, Unwatched: f.Unwatched, Given: f.given}
	if m.Status == "" {
		m.Status = executor.Ready
	}
	if f.Bundle != nil {
		m.Hash = f.Bundle.Hash
	}
	if f.run != "" && f.kind != records.KindServer {
		m.Use, m.Beside = f.run, f.beside()
	}
	return m
}

// beside are the files of a material but the first.
func (f *found) beside() []string {
	var names []string
	for _, m := range f.Bundle.Members {
		if name, below := strings.CutPrefix(m.Name, path.Dir(f.base)+"/"); below && m.Name != f.base {
			names = append(names, name)
		}
	}
	return names
}

// projectMaterials are those of the innermost project.
func (p *load) projectMaterials() []*found {
	return slices.DeleteFunc(slices.Clone(p.materials), func(f *found) bool { return f.scope != p.inner })
}
