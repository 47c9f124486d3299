package loader

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// A scanner finds what the layers of one load hold, and runs nothing.
type scanner struct {
	*report.Report
	env     *environment
	hashes  []string // hooks.trust.hashes in force: what they may name is hashed
	hashAll bool     // every hash is needed: a person looks
	spare   int64    // bytes that may still be hashed without need
}

// layerScan is the state while one scope is scanned.
type layerScan struct {
	*scanner
	scope     *scope
	dir       string
	folder    hooksFolder
	sides     map[string]bool // names of side files in the folder
	checks    *ownership.Walk
	hooks     []*hookCandidate
	byName    map[string]*hookCandidate
	resources []*resource
}

// hooks finds the hooks of one scope: the files of its folder, the entries of its
// settings and, for a project, what was allowed before.
func (sc *scanner) hooks(s *scope) []*hookCandidate {
	if s.dir == "" {
		return nil
	}
	g := sc.begin(s, sc.env.hooksDir(s))
	g.Inputs.See(g.dir)
	sc.tellUnread(s.dir)
	g.folder = openHooks(g.dir, g.checks)
	g.discover()
	for i := range s.settings.Use {
		g.use(&s.settings.Use[i])
	}
	if s.waiting != nil {
		g.waiting(s.waiting.settings.Use)
	}
	if s.layer == protocol.Project {
		for i := range s.decisions.Hooks {
			if r := &s.decisions.Hooks[i]; !r.IsMaterial() {
				g.recorded(r)
			}
		}
		g.inheritedGone()
	}
	if guard := waitingGuard(s); guard != nil {
		g.hooks = append(g.hooks, guard)
	}
	for _, f := range g.hooks {
		sc.describeForTrust(f)
	}
	return g.hooks
}

func (sc *scanner) begin(s *scope, dir string) *layerScan {
	return &layerScan{scanner: sc, scope: s, dir: dir, checks: sc.env.checksFor(s.layer), byName: map[string]*hookCandidate{}}
}

// waiting takes in the entries of settings that nobody allowed. They say what a
// hook is that nobody allowed either, so that a guard is known as one; to a hook
// that a person decided about they do nothing.
func (g *layerScan) waiting(entries []schema.Described) {
	for i := range entries {
		if d := &entries[i]; d.Name == nil || g.scope.recordOf(*d.Name) == nil {
			g.use(d)
		}
	}
}

func (g *layerScan) put(f *hookCandidate) *hookCandidate {
	f.scope = g.scope
	f.base, f.name = f.name, g.scope.prefix+f.name
	g.hooks = append(g.hooks, f)
	if _, taken := g.byName[f.base]; !taken {
		g.byName[f.base] = f
	}
	return f
}

func (g *layerScan) discover() {
	names, sides, more, err := listHooks(g.dir)
	g.sides = sides
	if err != nil {
		g.Add(report.New(report.Unreadable, g.dir, 0, "", "the hooks folder cannot be listed: "+files.Cause(err), "make it a readable folder"))
		if g.scope.layer != protocol.Project { // what was allowed of the project fails by itself
			g.RefuseAll(fmt.Sprintf("the hooks folder %s cannot be listed: %s", g.dir, files.Cause(err)), "make it a readable folder")
		}
		return
	}
	if more {
		g.Add(report.Newf(report.TooMany, g.dir, "", "move what is no hook elsewhere", "the folder holds more than %d files; the rest is not looked at", maxCandidates))
	}
	if !g.scope.discovers() {
		return
	}
	for _, name := range names {
		g.file(name)
	}
	if !more {
		g.tellLoneSides(names)
	}
}

// file puts in one file of the hooks folder; nil if it is none.
func (g *layerScan) file(name string) *hookCandidate {
	c := g.folder.look(name)
	if c == nil {
		return nil
	}
	if c.content == nil {
		if _, err := files.Lstat(c.path); files.Missing(err) {
			return nil
		}
	}
	f := g.put(&hookCandidate{file: c, subject: subject{name: name, path: c.path, Code: bundle.Code{Program: c.program, Problem: c.trouble}, listed: true}})
	g.Inputs.See(c.path)
	if c.real != c.path {
		g.Inputs.See(c.real) // so that the folder it really lies in is watched
	}
	if c.content != nil {
		if g.JustChanged(c.content.Stat) && c.content.Stat.Size == 0 {
			g.HalfWritten = true // an editor that truncates before it writes
		}
		if !c.program.Binary {
			d, findings, ok := describeHeader(c.path, f.name, c.content)
			g.Add(findings...)
			if ok {
				f.described = append(f.described, d)
			}
		}
	} else if c.trouble.Why == movingTrouble.Why {
		g.HalfWritten = true
	}
	for _, side := range sideFiles {
		if g.sides[name+side.suffix] { // a later one changes the folder
			g.Inputs.See(c.path + side.suffix)
			g.describeBySide(f)
			break
		}
	}
	return f
}

func (g *layerScan) describeBySide(f *hookCandidate) {
	d, member, findings := describeSideFile(f.path, f.name)
	g.Add(findings...)
	if member != "" {
		f.sideFile = member
		f.described = append(f.described, d)
		if st, err := files.Stat(filepath.Join(g.dir, member)); err == nil && len(d.Faults) > 0 && g.JustChanged(st) {
			g.HalfWritten = true
		}
	}
}

// use takes in one entry of the settings' hooks.use.
func (g *layerScan) use(d *schema.Described) {
	if d.Name == nil || slices.Contains(d.Faults, "name") {
		// It cannot be told which hook it describes, but it may have been a guard.
		g.put(&hookCandidate{described: []schema.Described{*d}, subject: subject{name: d.Pos.Path, listed: true}})
		return
	}
	f := g.byName[*d.Name]
	command := d.Command != nil || slices.Contains(d.Faults, "command")
	switch {
	case command && f != nil:
		f.path, f.file, f.Code, f.sideFile = "", nil, bundle.Code{}, ""
		f.described = nil
	case command:
		f = g.put(&hookCandidate{subject: subject{name: *d.Name, listed: true}})
	case f == nil:
		if f = g.file(*d.Name); f == nil {
			f = g.put(&hookCandidate{subject: subject{name: *d.Name, path: filepath.Join(g.dir, *d.Name), listed: true}})
			f.Problem = &report.Problem{Why: "there is no such file in " + g.dir, Remedy: "put it there, or remove its entry from the settings"}
		}
	}
	if command {
		f.Argv, f.Problem = g.command(d.Command)
		f.NameWords(d.Command)
	}
	f.described = append(f.described, *d)
}

// command resolves the program of a command entry: absolute, ./ from the folder
// of its layer (the project's root, or where the settings lie), or found on PATH.
func (g *layerScan) command(words []string) ([]string, *report.Problem) {
	if len(words) == 0 {
		return []string{}, &report.Problem{Why: "its command cannot be read", Remedy: "correct its settings entry"}
	}
	argv := g.scope.fromSettings(words)
	switch {
	case filepath.IsAbs(argv[0]):
	case filepath.Base(argv[0]) != argv[0]:
		argv[0] = filepath.Join(g.scope.relativeTo(), argv[0])
	default:
		found := g.env.builder(g.scope, false).ProgramOf(argv[0])
		if found.Bad == nil {
			argv[0] = found.Pin.Path
		}
		if found.Bad != nil || g.scope.needsTrust() {
			return argv, found.Bad
		}
	}
	_, unsafe, err := g.checks.Follow(argv[0])
	if err != nil {
		return argv, &report.Problem{Why: fmt.Sprintf("the program %s was not found", argv[0]), Remedy: "install it, or correct the settings entry"}
	}
	st, err := files.Stat(argv[0])
	switch {
	case err != nil || !st.Mode.IsRegular():
		return argv, &report.Problem{Why: fmt.Sprintf("%s is no program", argv[0]), Remedy: "correct the settings entry"}
	case unsafe != "":
		return argv, &report.Problem{Why: unsafe, Remedy: "make it yours and writable by you only: chown, chmod go-w"}
	}
	if g.env.liesInside(g.scope.layer, argv[0]) {
		return argv, &report.Problem{Why: fmt.Sprintf("%s lies in the project, which the %s settings cannot vouch for", argv[0], g.scope.layer), Remedy: "name it in the project's settings and allow it there"}
	}
	for _, word := range argv[1:] {
		if _, path := interpreter.OptionPath(word); filepath.IsAbs(path) && !g.env.projectAllowed() && g.env.liesInside(g.scope.layer, path) && files.IsRegular(path) {
			return argv, &report.Problem{Why: fmt.Sprintf("%s lies in the project, which the %s settings cannot vouch for", path, g.scope.layer), Remedy: "name a file outside of the project, or allow the project"}
		}
	}
	return argv, checkMode(argv[0], st)
}

// recorded takes in what was allowed of the project and is no longer found.
func (g *layerScan) recorded(r *records.Record) {
	f := g.byName[r.Hook]
	if f == nil {
		path := ""
		if !r.Command {
			path = filepath.Join(g.dir, r.Hook)
		}
		// With discovery switched off the file may still be there: that is a
		// change of what was allowed, not a loss.
		if !r.Command && !g.scope.discovers() {
			f = g.file(r.Hook)
		}
		if f == nil {
			f = g.put(&hookCandidate{subject: subject{name: r.Hook, path: path}})
		}
		f.listed = false
	}
	f.record = r
}
