package discover

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

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/instructions"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// resourceFolders say where resources that are files lie, below a layer's
// folder, and what a folder in there must hold to be one.
var resourceFolders = []struct {
	kind records.Kind
	dir  string
	file string // of a resource that is a folder; "" if none can be
}{
	{records.KindSkill, "skills", "SKILL.md"},
	{records.KindRecipe, "recipes", ""},
}

const serversDir = "mcpServers" // stands before a server's name in records and messages

// Resources finds the skills, recipes, servers and instructions of one scope. A layer that is not there
// holds none.
func (sc *Scanner) Resources(s *candidate.Scope) []*candidate.Resource {
	if s.Dir == "" {
		return nil
	}
	g := sc.Begin(s, s.Dir)
	for _, folder := range resourceFolders {
		g.resourceFiles(folder.kind, folder.dir, folder.file)
	}
	if sc.Instructions {
		g.instructions()
	}
	g.servers(s.File.InForce.Values, false)
	if s.File.Waiting != nil {
		g.servers(s.File.Waiting.Settings.Values, true)
	}
	if s.Layer == protocol.Project {
		g.recordedResources()
	}
	return g.resources
}

// servers adds the MCP servers that settings name. waits says that nobody
// allowed the settings.
func (g *layerScan) servers(values map[string]schema.Value, waits bool) {
	value := values["agent.mcpServers"]
	servers, _ := value.V.(map[string]schema.MCPServer)
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		g.server(name, servers[name], value.Pos.File)
		g.resources[len(g.resources)-1].Waits = waits
	}
}

// resourceFiles adds the files of one folder.
func (g *layerScan) resourceFiles(kind records.Kind, dir, inFolder string) {
	where := filepath.Join(g.Dir, dir)
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
			g.resourceFile(kind, file, path.Join(dir, file, inFolder), []string{path.Join(dir, file, "**")})
		case strings.HasSuffix(file, ".md"):
			g.resourceFile(kind, strings.TrimSuffix(file, ".md"), path.Join(dir, file), nil)
		}
	}
}

// resourceFile adds one skill or recipe; member is its file below the
// layer's folder, with what it brings along.
func (g *layerScan) resourceFile(kind records.Kind, name, member string, helpers []string) {
	f := g.resource(kind, name, member, filepath.Join(g.Dir, filepath.FromSlash(member)))
	if f.Problem != nil {
		return
	}
	if real := g.scope.LeadsOut(f.Path); real != "" {
		f.Problem = &report.Problem{Why: candidate.LinkOut + real, Remedy: candidate.LinkOutRemedy}
		return
	}
	if _, unsafe, err := g.Checks.Follow(f.Path); err != nil {
		f.Problem = unreadable(f.Path, err)
		return
	} else if unsafe != "" {
		f.Problem = &report.Problem{Why: unsafe, Remedy: "make it yours and writable by you only: chown, chmod go-w"}
		return
	}
	g.sealResource(f, nil, g.Dir, func(d *bundle.Draft) error {
		if err := d.Add(member); err != nil {
			return err
		}
		_, err := d.AddHelpers(helpers)
		return err
	})
}

// instructions adds the files of instructions: of a project those in its root and on the way
// from there to the working directory, else the one in the layer's folder.
func (g *layerScan) instructions() {
	root, names, folders := g.Dir, []string{instructions.OwnName}, []string{"."}
	if g.scope.Layer == protocol.Project {
		root, names = g.scope.Root, instructions.OfProject
		folders = instructions.Folders(root, g.Cwd, g.Env.Workspace.Inside(g.scope.Project))
		for _, r := range g.scope.Decided.Here.Hooks {
			if f := (&candidate.Resource{Subject: candidate.Subject{Kind: r.Kind, Base: r.Hook}}); g.HashAll && f.IsNested() && !slices.Contains(folders, path.Dir(f.File())) {
				folders = append(folders, path.Dir(f.File()))
			}
		}
	}
	for _, folder := range folders {
		file := instructions.Find(root, folder, names, g.scope.Layer != protocol.Project, g.Inputs.See)
		if file == nil {
			continue
		}
		f := g.resource(records.KindInstructions, file.Name, candidate.InstructionsBase(file.Name), file.Path)
		f.Real = file.Real
		if f.Problem == nil {
			f.Problem = flawOf(g, file)
		}
		if f.Problem != nil {
			continue
		}
		g.sealResource(f, nil, root, func(d *bundle.Draft) error { return d.AddFrom(file.Name, file.Real) })
	}
}

// flawOf returns why a file of instructions cannot be used. What it holds is looked at only
// where a person decides: who uses it looks again.
func flawOf(g *layerScan, file *instructions.File) *report.Problem {
	if file.Problem != nil {
		return file.Problem
	}
	if _, unsafe, err := g.Checks.Follow(file.Path); err != nil {
		return unreadable(file.Path, err)
	} else if unsafe != "" {
		return &report.Problem{Why: unsafe, Remedy: "make it yours and writable by you only: chown, chmod go-w"}
	}
	if !g.HashAll {
		return nil
	}
	bytes, err := files.ReadSmall(file.Real, instructions.MaxSize)
	if err != nil {
		return unreadable(file.Path, err)
	}
	if why := text.Flaw(bytes); why != "" {
		return &report.Problem{Why: why, Remedy: "write it as plain text in UTF-8"}
	}
	return nil
}

// server adds one MCP server. What it starts of the project is a part of
// what is allowed, as with a command hook.
func (g *layerScan) server(name string, s schema.MCPServer, file string) {
	f := g.resource(records.KindServer, name, path.Join(serversDir, name), file)
	filled, unset := withVariables(s, g.variable())
	f.Server, f.Line, f.Unset = &filled, s.Line, unset
	in := g.Env.Builder(g.scope, false)
	if s.Command != "" {
		f.Argv, f.Problem = g.command(append([]string{filled.Command}, filled.Args...))
		f.NameWords(append([]string{filled.Command}, filled.Args...))
	}
	f.KnowsProject = g.scope.Layer != protocol.Project && namesProject(s)
	if f.Problem == nil {
		f.Problem = in.CheckVariables(f.Server)
	}
	if f.Problem != nil && g.scope.Layer != protocol.Project {
		return
	}
	g.sealResource(f, s, g.scope.Root, func(d *bundle.Draft) error { return f.AddServer(d, f.Server) })
}

// resource begins one; member is its name in the records.
func (g *layerScan) resource(kind records.Kind, name, member, path string) *candidate.Resource {
	f := &candidate.Resource{Title: name, Subject: candidate.Subject{Scope: g.scope, Kind: kind, Name: g.scope.Prefix + member, Base: member, Path: path, Listed: true}}
	if !utf8.ValidString(member) {
		f.Problem = &report.Problem{Why: "its name is not valid UTF-8", Remedy: "rename it"}
	}
	g.resources = append(g.resources, f)
	return f
}

// sealResource makes the bundle: what a person allows of a project's, and what
// belongs to any.
func (g *layerScan) sealResource(f *candidate.Resource, said any, base string, fill func(*bundle.Draft) error) {
	var r *records.Record
	if at := slices.IndexFunc(g.scope.Decided.Here.Hooks, func(r records.Record) bool { return r.IsResource() && r.Hook == f.Base }); at >= 0 {
		r = &g.scope.Decided.Here.Hooks[at]
	}
	in := *g.Env.Builder(g.scope, false)
	in.HashBudget = g.hashBudget(g.scope, r)
	sealed, err := in.Build(f.Base, struct {
		Kind   records.Kind `json:"kind"`
		Server any          `json:"server,omitzero"`
	}{f.Kind, said}, base, fill)
	if errors.Is(err, bundle.ErrNotHashed) {
		return
	}
	if err != nil {
		f.Problem = &report.Problem{Why: "its files cannot be used: " + err.Error(), Remedy: "correct or remove it"}
		return
	}
	f.Bundle = sealed
}

// recordedResources joins what was decided with what is there.
func (g *layerScan) recordedResources() {
	for i := range g.scope.Decided.Here.Hooks {
		r := &g.scope.Decided.Here.Hooks[i]
		if !r.IsResource() || r.Kind == records.KindSettings || r.Kind == records.KindInstructions && !g.Instructions {
			continue
		}
		at := slices.IndexFunc(g.resources, func(f *candidate.Resource) bool { return f.Base == r.Hook })
		if at < 0 {
			gone := &candidate.Resource{Title: titleOf(r.Hook), Subject: candidate.Subject{Scope: g.scope, Kind: r.Kind, Name: g.scope.Prefix + r.Hook, Base: r.Hook, Record: r}}
			if gone.Kind == records.KindInstructions {
				gone.Title = gone.File()
			}
			if g.HashAll || !gone.IsNested() { // another working directory may have it
				g.resources = append(g.resources, gone)
			}
			continue
		}
		g.resources[at].Record = r
	}
}

// titleOf is the name of a resource by its name in the records.
func titleOf(member string) string {
	return path.Base(strings.TrimSuffix(strings.TrimSuffix(member, ".md"), "/SKILL"))
}
