package discover

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/environment"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/imports"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/rulefile"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// A Scanner finds what the layers of one load hold, and runs nothing.
type Scanner struct {
	*report.Report
	Env        *environment.Environment
	Hashes     []string // hooks.trust.hashes in force: what they may name is hashed
	HashAll    bool     // every hash is needed: a person looks
	HashBudget int64    // bytes that may still be hashed without need

	Instructions bool   // AGENTS.md and its like are looked for
	Cwd          string // real path of the working directory, for those
}

// layerScan is the state while one scope is scanned.
type layerScan struct {
	*Scanner
	scope     *candidate.Scope
	Dir       string
	Folder    hooksFolder
	Sides     map[string]bool // names of side files in the folder
	Checks    *ownership.Walk
	hooks     []*candidate.Hook
	byName    map[string]*candidate.Hook
	resources []*candidate.Resource
}

// Hooks finds the hooks of one scope: the files of its folder, the entries of its
// settings and, for a project, what was allowed before.
func (sc *Scanner) Hooks(s *candidate.Scope) []*candidate.Hook {
	if s.Dir == "" {
		return nil
	}
	g := sc.Begin(s, sc.Env.HooksDir(s))
	g.Inputs.See(g.Dir)
	sc.reportUnreadNames(s.Dir)
	g.Folder = OpenHooks(g.Dir, g.Checks)
	g.discover()
	g.imported()
	for i := range s.File.InForce.Use {
		g.use(&s.File.InForce.Use[i])
	}
	if s.File.Waiting != nil {
		g.waiting(s.File.Waiting.Settings.Use)
	}
	if s.Layer == protocol.Project {
		for i := range s.Decided.Here.Hooks {
			if r := &s.Decided.Here.Hooks[i]; !r.IsResource() {
				g.recorded(r)
			}
		}
		g.inheritedGone()
	}
	if guard := waitingGuard(s); guard != nil {
		g.hooks = append(g.hooks, guard)
	}
	for _, f := range g.hooks {
		sc.DescribeForTrust(f)
	}
	return g.hooks
}

// Begin returns a scan of one scope in which nothing was found yet. dir is the folder
// to look into.
func (sc *Scanner) Begin(s *candidate.Scope, dir string) *layerScan {
	return &layerScan{Scanner: sc, scope: s, Dir: dir, Checks: sc.Env.ChecksFor(s.Layer), byName: map[string]*candidate.Hook{}}
}

// waiting adds the entries of settings that nobody allowed. They say what a
// hook is that nobody allowed either, so that a guard is known as one; to a hook
// that a person decided about they do nothing.
func (g *layerScan) waiting(entries []schema.Described) {
	for i := range entries {
		if d := &entries[i]; d.Name == nil || g.scope.Decided.RecordOf(*d.Name) == nil {
			g.use(d)
		}
	}
}

func (g *layerScan) put(f *candidate.Hook) *candidate.Hook {
	f.Scope = g.scope
	f.Base, f.Name = f.Name, g.scope.Prefix+f.Name
	g.hooks = append(g.hooks, f)
	if _, taken := g.byName[f.Base]; !taken {
		g.byName[f.Base] = f
	}
	return f
}

func (g *layerScan) discover() {
	names, err := ListHooks(g.Dir)
	g.Sides = names.Sides
	if err != nil {
		g.Add(report.New(report.Unreadable, g.Dir, 0, "", "the hooks folder cannot be listed: "+files.Cause(err), "make it a readable folder"))
		if g.scope.Layer != protocol.Project { // what was allowed of the project fails by itself
			g.RefuseAll(fmt.Sprintf("the hooks folder %s cannot be listed: %s", g.Dir, files.Cause(err)), "make it a readable folder")
		}
		return
	}
	if names.More {
		g.Add(report.Newf(report.TooMany, g.Dir, "", "move what is no hook elsewhere", "the folder holds more than %d files; the rest is not looked at", maxCandidates))
	}
	if !g.scope.Discovers() {
		return
	}
	for _, name := range names.Hooks {
		g.File(name)
	}
	if !names.More {
		g.reportLoneSideFiles(names.Hooks)
	}
	for _, name := range names.Rules {
		ruleFile(g, name)
	}
}

// File puts in one file of the hooks folder; nil if it is none.
func (g *layerScan) File(name string) *candidate.Hook {
	c := &candidate.File{Name: name, Path: filepath.Join(g.Dir, name)}
	if real := g.scope.LeadsOut(c.Path); real != "" {
		c.Real, c.Problem = c.Path, &report.Problem{Why: candidate.LinkOut + real, Remedy: candidate.LinkOutRemedy}
	} else if c = g.Folder.look(name); c == nil {
		return nil
	}
	if c.Head == nil {
		if _, err := files.Lstat(c.Path); files.Missing(err) {
			return nil
		}
	}
	f := g.put(&candidate.Hook{File: c, Subject: candidate.Subject{Name: name, Path: c.Path, Code: bundle.Code{Program: c.Program, Problem: c.Problem}, Listed: true}})
	if c.Head != nil {
		g.Inputs.Read(c.Path, c.Head.Stat)
		g.Env.Hashes.KeepHead(c.Path, c.Head, g.Now)
	}
	g.Inputs.See(c.Path)
	if c.Real != c.Path {
		g.Inputs.See(c.Real) // so that the folder it really lies in is watched
	}
	if c.Head == nil && g.scope.LeadsOut(c.Path) != "" { // it may be a guard
		f.Described = append(f.Described, unreadableDescription(schema.FromHeader, c.Path, f.Name))
	}
	if c.Head != nil {
		if g.JustChanged(c.Head.Stat) && c.Head.Stat.Size == 0 {
			g.HalfWritten = true // an editor that truncates before it writes
		}
		if !c.Program.Binary {
			d, findings, ok := describeHeader(c.Path, f.Name, c.Head)
			g.Add(findings...)
			if ok {
				f.Described = append(f.Described, d)
			}
		}
	} else if c.Problem.Why == movingTrouble.Why {
		g.HalfWritten = true
	}
	for _, side := range SideFiles {
		if g.Sides[name+side.Suffix] { // a later one changes the folder
			g.Inputs.See(c.Path + side.Suffix)
			g.describeBySide(f)
			break
		}
	}
	return f
}

func (g *layerScan) describeBySide(f *candidate.Hook) {
	d, member, findings := DescribeSideFile(f.Path, f.Name, g.scope.LeadsOut)
	g.Add(findings...)
	if member != "" {
		if g.scope.LeadsOut(filepath.Join(g.Dir, member)) == "" {
			f.SideFile = member
		}
		f.Described = append(f.Described, d)
		if st, err := files.Stat(filepath.Join(g.Dir, member)); err == nil && len(d.Faults) > 0 && g.JustChanged(st) {
			g.HalfWritten = true
		}
	}
}

// use adds one entry of the settings' hooks.use.
func (g *layerScan) use(d *schema.Described) {
	if d.Name == nil || slices.Contains(d.Faults, "name") {
		// Nobody can know which hook it describes, but it may have been a guard.
		g.put(&candidate.Hook{Described: []schema.Described{*d}, Subject: candidate.Subject{Name: d.Pos.Path, Listed: true}})
		return
	}
	f := g.byName[*d.Name]
	command := d.Command != nil || slices.Contains(d.Faults, "command")
	if !command && (d.Reply != nil || slices.Contains(d.Faults, "reply")) {
		useRule(g, f, *d)
		return
	}
	switch {
	case command && f != nil:
		f.Path, f.File, f.Code, f.SideFile, f.Rule = "", nil, bundle.Code{}, "", false
		f.Described = nil
	case command:
		f = g.put(&candidate.Hook{Subject: candidate.Subject{Name: *d.Name, Listed: true}})
	case f == nil:
		if f = g.File(*d.Name); f == nil {
			f = g.put(&candidate.Hook{Subject: candidate.Subject{Name: *d.Name, Path: filepath.Join(g.Dir, *d.Name), Listed: true}})
			f.Problem = &report.Problem{Why: "there is no such file in " + g.Dir, Remedy: "put it there, or remove its entry from the settings"}
		}
	}
	if command {
		g.takeCommand(f, d)
	}
	f.Described = append(f.Described, *d)
}

// useRule adds an entry that carries its reply itself. There must be no hook file of its
// name: nobody could know which of the two is meant, and both may be guards.
func useRule(g *layerScan, f *candidate.Hook, d schema.Described) {
	if f == nil {
		f = g.File(*d.Name)
	}
	switch {
	case f != nil && f.Path != "" && d.Reply == nil: // a key of it was misspelt; it is rejected for that
	case f != nil && f.Path != "":
		g.Add(schema.NewFinding(d.At("reply"), *d.Name, schema.SeverityError, schema.CodeConflict,
			"the entry has a reply, and there is a hook file of its name: "+f.Path, "leave the reply out, or give the rule another name"))
		d.Faults = append(slices.Clone(d.Faults), "events", "match", "reply") // either may refuse more than the other
	case f != nil: // an earlier entry: the later one counts, as it does for commands
		f.Rule, f.Code, f.Described = true, bundle.Code{}, nil
	default:
		f = g.put(&candidate.Hook{Subject: candidate.Subject{Name: *d.Name, Listed: true}, Rule: true})
	}
	f.Described = append(f.Described, d)
}

// ruleFile adds the rules of one file. Each is a hook of its own, as an entry of the
// settings is.
func ruleFile(g *layerScan, name string) {
	path := filepath.Join(g.Dir, name)
	if rulefile.PackOf(name) == "" {
		g.Add(report.New(report.Unread, path, 0, "", "hookd does not read a file of rules with this ending", "rename it to one that ends with "+strings.Join(rulefile.Suffixes, " or ")))
		return
	}
	g.Inputs.See(path)
	real, unsafe, st, err := g.Folder.follow(name)
	if files.Missing(err) {
		return
	}
	if real != path {
		g.Inputs.See(real) // so that the folder it really lies in is watched
	}
	var text []byte
	out := g.scope.LeadsOut(path)
	if err == nil && out == "" {
		text, err = files.ReadSmall(path, rulefile.MaxSize)
	}
	var rules []schema.Described
	var findings []schema.Finding
	switch {
	case out != "":
		rules, findings = rulefile.Unreadable(path, "the rules do not count: "+candidate.LinkOut+out, candidate.LinkOutRemedy)
	case err == nil:
		rules, findings = rulefile.Parse(path, text)
	default:
		rules, findings = rulefile.Unreadable(path, "the rules cannot be read: "+files.Cause(err), "make it a regular file that you can read, or remove it")
	}
	if slices.ContainsFunc(findings, func(f schema.Finding) bool { return f.Code == string(report.BadRules) }) && g.JustChanged(st) {
		g.HalfWritten = true
	}
	g.Add(findings...)
	for i := range rules {
		packRule(g, path, unsafe, rules[i])
	}
}

// packRule adds a rule of a file. One whose name another file of rules has belongs to
// neither: each may refuse what the other does not.
func packRule(g *layerScan, file, unsafe string, d schema.Described) {
	if d.Name != nil && !slices.Contains(d.Faults, "name") {
		name := *d.Name
		other := g.byName[name]
		if other == nil || !other.Rule {
			useRule(g, other, d)
			ofPack(g.byName[name], file, unsafe)
			return
		}
		g.Add(schema.NewFinding(d.At("name"), name, schema.SeverityError, schema.CodeDuplicateName,
			"another file of rules has a rule of this name: "+other.Described[0].Pos.File, "give one of them another name"))
		d.Faults = append(slices.Clone(d.Faults), "name")
	}
	g.use(&d)
	ofPack(g.hooks[len(g.hooks)-1], file, unsafe)
}

func ofPack(f *candidate.Hook, file, unsafe string) {
	if f.Pack = file; unsafe != "" {
		f.Problem = &report.Problem{Why: unsafe, Remedy: "make it yours and writable by you only: chown, chmod go-w"}
	}
}

// recorded adds what was allowed of the project and is no longer found.
func (g *layerScan) recorded(r *records.Record) {
	f := g.byName[r.Hook]
	if f == nil {
		path := ""
		if !r.Command && imports.Owner(r.Hook) == "" {
			path = filepath.Join(g.Dir, r.Hook)
		}
		// With discovery switched off the file may still be there: that is a
		// change of what was allowed, not a loss.
		if path != "" && !g.scope.Discovers() {
			f = g.File(r.Hook)
		}
		if f == nil {
			f = g.put(&candidate.Hook{Subject: candidate.Subject{Name: r.Hook, Path: path}})
		}
		f.Listed = false
	}
	f.Record = r
}

// inheritedGone adds the hooks of the main checkout that the worktree lacks.
func (g *layerScan) inheritedGone() {
	if g.scope.Decided.InMain == nil {
		return
	}
	for i := range g.scope.Decided.InMain.Hooks {
		r := &g.scope.Decided.InMain.Hooks[i]
		if !r.IsResource() && g.byName[r.Hook] == nil && g.scope.Decided.Inherited(r.Hook) != nil {
			g.recorded(r)
		}
	}
}

// Describe adds what the settings say of a hook file.
func (g *layerScan) Describe(f *candidate.Hook) {
	entries := g.scope.File.InForce.Use
	if g.scope.File.Waiting != nil {
		entries = g.scope.File.Waiting.Settings.Use
	}
	for i := range entries {
		d := &entries[i]
		if d.Name != nil && *d.Name == f.Base && d.Command == nil {
			f.Described = append(f.Described, *d)
		}
	}
}
