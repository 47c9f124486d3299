package discover

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/imports"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// imported adds the hooks of other agents that the scope's settings import. Settings that
// nobody allowed import too, as they name hooks: what they name is not run, and a guard
// among it must not be merely absent.
func (g *layerScan) imported() {
	if g.scope.Layer == protocol.Managed {
		return
	}
	named := importsOf(&g.scope.File.InForce)
	if g.scope.File.Waiting != nil {
		named = append(named, importsOf(&g.scope.File.Waiting.Settings)...)
	}
	for i, name := range named {
		if a := imports.Find(name); a != nil && !slices.Contains(named[:i], name) {
			in := &importScan{layerScan: g, agent: a}
			in.folder, in.whose = g.importFolder()
			in.all()
		}
	}
}

func importsOf(s *schema.LayerSettings) []string {
	names, _ := s.Values["hooks.import"].V.([]string)
	return slices.Clone(names)
}

// importFolder is the folder that the settings of other agents lie in: the project's root
// for a project, and the home folder for the user. Neither reads the other's.
func (g *layerScan) importFolder() (folder string, whose imports.Scope) {
	if g.scope.Layer == protocol.Project {
		return g.scope.Root, imports.OfProject
	}
	return g.Env.Home, imports.OfUser
}

// importScan is the state while the hooks of one agent are imported.
type importScan struct {
	*layerScan
	agent  *imports.Agent
	folder string // that its settings lie in
	whose  imports.Scope
}

// all adds everything that the agent's settings name.
func (in *importScan) all() {
	a, folder, whose := in.agent, in.folder, in.whose
	if folder == "" {
		return
	}
	var texts []imports.Text
	var bad []*schema.UnreadableError
	for _, name := range a.Files[whose] {
		found, err := in.files(folder, name)
		if err != nil {
			bad = append(bad, err)
		}
		for _, file := range found {
			text, err := in.text(folder, file)
			switch {
			case err != nil:
				bad = append(bad, err)
			case text != nil:
				texts = append(texts, *text)
			}
		}
	}
	hooks, findings, unreadable := a.Read(texts)
	in.Add(findings...)
	for i := range hooks {
		in.hook(a, &hooks[i])
	}
	if a.Folder != "" {
		if err := in.programs(a, filepath.Join(folder, filepath.FromSlash(a.Folder))); err != nil {
			bad = append(bad, err)
		}
	}
	for _, err := range append(bad, unreadable...) {
		in.unreadable(a, err)
	}
	for _, name := range a.Unread[whose] {
		where := filepath.Join(folder, filepath.FromSlash(name))
		in.Inputs.See(where)
		if _, err := files.Stat(where); err == nil {
			in.Add(report.New(report.ImportPart, where, 0, "", a.Title+": what lies here is not imported", "name the programs in hooks.use, each with its dialect"))
		}
	}
}

// maxImportFiles bounds the files that one pattern names.
const maxImportFiles = 100

// files lists the settings files that a name stands for.
func (in *importScan) files(folder, name string) ([]string, *schema.UnreadableError) {
	path := filepath.Join(folder, filepath.FromSlash(name))
	ending, is := strings.CutPrefix(filepath.Base(path), "*")
	if !is {
		return []string{path}, nil
	}
	dir := filepath.Dir(path)
	in.Inputs.See(dir)
	entries, err := os.ReadDir(dir)
	if files.Missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, &schema.UnreadableError{File: dir, Message: "the folder cannot be listed: " + files.Cause(err), Remedy: "make it a readable folder", Err: err}
	}
	var found []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ending) && !strings.HasPrefix(entry.Name(), ".") {
			found = append(found, filepath.Join(dir, entry.Name()))
		}
	}
	if len(found) > maxImportFiles {
		return nil, &schema.UnreadableError{File: dir, Message: fmt.Sprintf("the folder holds more than %d files with hooks", maxImportFiles), Remedy: "join them"}
	}
	return found, nil
}

// text reads one settings file. The result is nil for one that is not there. One
// that others could have written does not count, and neither does a project's that leads
// out of the project.
func (in *importScan) text(folder, file string) (*imports.Text, *schema.UnreadableError) {
	in.Inputs.See(file)
	real, unsafe, err := in.Checks.Follow(file)
	if files.Missing(err) {
		return nil, nil
	}
	bad := func(message, remedy string) (*imports.Text, *schema.UnreadableError) {
		return nil, &schema.UnreadableError{File: file, Message: message, Remedy: remedy, Err: err}
	}
	switch {
	case err != nil:
		return bad("the file cannot be read: "+files.Cause(err), "make the file readable, or remove it")
	case unsafe != "":
		return bad("it does not count: "+unsafe, workspace.OwnRemedy)
	case in.scope.Layer == protocol.Project && !files.Within(files.RealPath(folder), real):
		return bad(candidate.LinkOut+real, candidate.LinkOutRemedy)
	}
	in.Inputs.See(real)
	text, err := settings.ReadText(real)
	if err != nil {
		if unreadable, is := err.(*schema.UnreadableError); is {
			unreadable.File = file
			return nil, unreadable
		}
		return bad(err.Error(), "make the file readable, or remove it")
	}
	return &imports.Text{File: file, Format: imports.FormatOf(file), Bytes: text}, nil
}

// hook adds one hook of an agent's settings.
func (in *importScan) hook(a *imports.Agent, h *imports.Hook) {
	if imports.StartsHookd(h, in.isHookd) {
		in.Add(imports.Ours(h))
		return
	}
	d := h.Describe(in.inProject())
	f := in.put(&candidate.Hook{Subject: candidate.Subject{Name: h.Name, Listed: true}, Import: &candidate.Import{Agent: a.Name}})
	if !h.Faulty {
		in.takeCommand(f, &d)
		if in.scope.NeedsTrust() && in.namesFiles(f) {
			inPlace := true // so that a script finds its helpers where it has them
			d.InPlace = &inPlace
		}
	}
	f.Described = []schema.Described{d}
}

// namesFiles reports whether a command names a file of the project.
func (in *importScan) namesFiles(f *candidate.Hook) bool {
	builder := in.Env.Builder(in.scope, false)
	if f.Shell != nil {
		return f.Shell.NamesFiles(builder)
	}
	return slices.ContainsFunc(f.Argv, func(word string) bool {
		at := builder.Locate(word)
		return at.Name != "" && at.Exists && at.Info.Mode.IsRegular()
	})
}

// inProject reports whether an imported hook of the user starts in the project, as its
// agent has it: only where a person allowed that.
func (in *importScan) inProject() bool {
	return in.scope.Layer == protocol.User && in.Env.ProjectAllowed()
}

// isHookd reports whether a path leads to the running hookd.
func (in *importScan) isHookd(path string) bool {
	return filepath.IsAbs(path) && in.Env.Starter.Hookd != "" && files.RealPath(path) == files.RealPath(in.Env.Starter.Hookd)
}

// programs adds the programs of a folder. As their agent has it, a file counts that
// can be executed and is not called .disable at its end.
func (in *importScan) programs(a *imports.Agent, dir string) *schema.UnreadableError {
	in.Inputs.See(dir)
	folder := OpenHooks(dir, in.Checks)
	if in.scope.Layer == protocol.Project && !files.Within(files.RealPath(in.scope.Root), folder.real) {
		return &schema.UnreadableError{File: dir, Message: "the link leads out of the project, to " + folder.real, Remedy: "put the folder itself there"}
	}
	entries, err := os.ReadDir(dir)
	switch {
	case files.Missing(err):
		return nil
	case err != nil:
		return &schema.UnreadableError{File: dir, Message: "the folder cannot be listed: " + files.Cause(err), Remedy: "make it a readable folder", Err: err}
	case len(entries) > maxImportFiles:
		return &schema.UnreadableError{File: dir, Message: fmt.Sprintf("the folder holds more than %d files", maxImportFiles), Remedy: "move what is no hook elsewhere"}
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".disable") {
			continue
		}
		c := folder.look(entry.Name())
		if c == nil || c.Head != nil && c.Head.Stat.Mode&0o111 == 0 {
			continue
		}
		in.Inputs.See(c.Path)
		h := a.Program(entry.Name())
		d := h.Describe(in.inProject())
		inPlace := in.scope.NeedsTrust()
		d.InPlace = &inPlace
		in.put(&candidate.Hook{
			File: c, Import: &candidate.Import{Agent: a.Name, Folder: dir, Refuses: a.Refuses()}, Described: []schema.Described{d},
			Subject: candidate.Subject{Name: h.Name, Path: c.Path, Code: bundle.Code{Program: c.Program, Problem: c.Problem}, Listed: true},
		})
	}
	return nil
}

// unreadable reports settings of another agent that cannot be read. Nobody can tell
// which guards they name: those that were allowed before fail, and so does every event
// that a hook of that agent can refuse.
func (in *importScan) unreadable(a *imports.Agent, bad *schema.UnreadableError) {
	in.Add(report.New(report.ImportUnreadable, bad.File, bad.Line, "", a.Title+"'s hooks cannot be imported: "+bad.Message, bad.Remedy))
	if st, err := files.Stat(bad.File); err == nil && in.JustChanged(st) && bad.Remedy != workspace.OwnRemedy {
		in.HalfWritten = true
	}
	why := filepath.Base(bad.File) + " cannot be read: " + bad.Message
	for i := range in.scope.Decided.Here.Hooks {
		r := &in.scope.Decided.Here.Hooks[i]
		if imports.Owner(r.Hook) == a.Name && in.byName[r.Hook] == nil {
			f := in.put(&candidate.Hook{Subject: candidate.Subject{Name: r.Hook, Listed: true}, Import: &candidate.Import{Agent: a.Name}})
			f.Argv, f.Problem = []string{}, &report.Problem{Why: why, Remedy: bad.Remedy}
			f.Described = []schema.Described{{From: schema.FromImport, Pos: schema.Pos{File: bad.File, Line: bad.Line}, Faults: []string{"command"}}}
		}
	}
	events := a.Refuses()
	if !in.scope.On() || len(events) == 0 {
		return
	}
	f := in.put(standIn(in.scope, a.Name+":"+filepath.Base(bad.File), bad.File, events, schema.Match{}))
	f.StandIn = &candidate.StandIn{Why: why, Remedy: bad.Remedy, Kind: protocol.FailSettings}
	f.Import = &candidate.Import{Agent: a.Name}
}
