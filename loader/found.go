package loader

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// found is one hook on its way into the set: a file of a hooks folder, a
// command entry, or what a settings entry, a required name or a trust record
// leaves of one that is not there.
type found struct {
	scope  *scope
	layer  protocol.Layer
	kind   Kind              // "": a hook
	title  string            // of what is no hook: its name alone
	server *schema.MCPServer // with its variables in their places
	unset  *trouble          // why it cannot be started here, though it may be allowed
	name   string            // as it is known everywhere: of an outer project's hook with the way to it before it
	base   string            // as it is known in its own scope
	path   string            // its own file; "" for a command that is no file
	line   int               // of an MCP server in its settings file, else 0
	argv   []string          // of a command entry: program resolved, arguments as written
	own    string            // of a command entry: the program as resolved, before copying
	file   *candidate
	waits  bool // of a server: nobody allowed the settings that name it
	listed bool // discovered or named by settings, not only by a trust record

	described []schema.Described
	sideFile  string // name in the hooks folder, "" without one
	bundle    *bundle
	trouble   *trouble
	record    *trustRecord
	told      *told // the program's own answer, if it is the last one of described
	copyWhole bool  // the private copy was seen to be whole
	stands    bool  // it stands for something else, and nothing is to be decided about it

	resolution schema.Resolution
	status     executor.Status
	why        string
	fault      *protocol.Failure
	run        string // path of what runs; "" if nothing does
	inPlace    bool   // what runs is the original

	offByProject bool // the project's own settings switch it off
}

// hookName names a hook: equal names in different layers are different hooks.
type hookName struct {
	layer protocol.Layer
	name  string
}

// isCommand reports whether the hook is a program named in settings rather than
// a file of the hooks folder.
func (f *found) isCommand() bool { return f.argv != nil }

// stop settles that the hook does not run, and why. The first reason stands.
func (f *found) stop(status executor.Status, why string) {
	if f.status == "" || f.status == executor.Ready {
		f.status, f.why, f.run = status, why, ""
	}
}

// fail is stop for a hook whose absence must not go unnoticed: it stands in the
// set as a failure under its rule.
func (f *found) fail(status executor.Status, kind protocol.FailureKind, why, remedy string) {
	f.stop(status, why)
	if f.fault == nil {
		f.fault = &protocol.Failure{Kind: kind, Detail: f.name + ": " + why, Remedy: remedy}
	}
}

// couldBlock reports whether a hook was able to refuse an event at all.
func couldBlock(h *schema.Hook) bool {
	if h.Mode == protocol.Audit && !h.Required {
		return false
	}
	return h.Can != protocol.CanObserve || h.Required
}

// everywhere is every gate and point: where a hook fails whose events nobody
// knows.
func everywhere() []protocol.EventName {
	var events []protocol.EventName
	for i := range protocol.Table {
		if protocol.Table[i].Kind != protocol.Notice {
			events = append(events, protocol.Table[i].Name)
		}
	}
	return events
}

// entry is a description as it is allowed and recorded: every field settled
// from header, side file and the project's settings, and from nothing else, so
// that neither the user's settings nor a program's answer change the hash.
type entry struct {
	Events      []protocol.EventName `json:"events,omitzero"`
	Match       schema.Match         `json:"match,omitzero"`
	Can         protocol.Class       `json:"can"`
	Mode        protocol.Mode        `json:"mode"`
	OnFailure   protocol.Rule        `json:"onFailure"`
	Required    bool                 `json:"required,omitzero"`
	Priority    int                  `json:"priority,omitzero"`
	Timeout     string               `json:"timeout,omitzero"`
	Enabled     bool                 `json:"enabled"`
	Command     []string             `json:"command,omitzero"`
	Args        []string             `json:"args,omitzero"`
	Run         schema.RunMode       `json:"run"`
	Env         []string             `json:"env,omitzero"`
	Files       []string             `json:"files,omitzero"`
	InPlace     bool                 `json:"inPlace,omitzero"`
	Sensitive   bool                 `json:"sensitive,omitzero"`
	Dialect     string               `json:"dialect"`
	Protocol    int                  `json:"protocol"`
	Description string               `json:"description,omitzero"`
	Rejected    bool                 `json:"rejected,omitzero"` // never equal to one that was allowed
}

func entryOf(r schema.Resolution) entry {
	h := r.Hook
	e := entry{
		Events: h.Events, Match: h.Match, Can: h.Can, Mode: h.Mode, OnFailure: h.OnFailure,
		Required: h.Required, Priority: h.Priority, Enabled: h.Enabled, Command: h.Command, Args: h.Args,
		Run: h.Run, Env: h.Env, Files: h.Files, InPlace: h.InPlace, Sensitive: h.Sensitive,
		Dialect: h.Dialect, Protocol: h.Protocol, Description: h.Description,
	}
	if h.Timeout > 0 {
		e.Timeout = h.Timeout.String()
	}
	return e
}

// hook turns a recorded entry back into a description. timeout is what counts
// where the entry says nothing.
func (e *entry) hook(layer protocol.Layer, name, path string, timeout time.Duration) schema.Hook {
	h := schema.Hook{
		Name: name, Layer: layer, Path: path, Events: e.Events, Match: e.Match, Can: e.Can, Mode: e.Mode,
		OnFailure: e.OnFailure, Required: e.Required, Priority: e.Priority, Enabled: e.Enabled,
		Command: e.Command, Args: e.Args, Run: e.Run, Env: e.Env, Files: e.Files, InPlace: e.InPlace,
		Sensitive: e.Sensitive, Dialect: e.Dialect, Protocol: e.Protocol, Description: e.Description,
		Timeout: timeout,
	}
	if d, err := time.ParseDuration(e.Timeout); err == nil {
		h.Timeout = d
	}
	return h
}

// seal builds the bundle of a hook: its entry, what starts it, and its files.
// missing are the patterns of files that nothing answers to.
func (f *found) seal(files *contentCache, in place, e entry) (missing []string, err error) {
	raw, err := canonical(e)
	if err != nil {
		return nil, err
	}
	b := &bundle{Name: f.base, Entry: raw, exact: true, base: in.hooks, see: in.see, spare: in.spare}
	switch {
	case f.isCommand():
		b.base = in.root
		err = f.addCommand(b, files, in)
	default:
		if f.file.from == files {
			err = b.put(f.base, f.path, f.file.content) // read a moment ago
		} else {
			_, err = b.add(files, f.base)
		}
		if err == nil && f.sideFile != "" {
			_, err = b.add(files, f.sideFile)
		}
		if f.file.trouble == nil {
			b.Interpreter, f.trouble = in.starter(f.file.program)
		}
	}
	if err != nil {
		return nil, err
	}
	if missing, err = b.addHelpers(files, e.Files); err != nil {
		return nil, err
	}
	if err := b.seal(); err != nil {
		return nil, err
	}
	f.bundle = b
	return missing, nil
}

// addCommand puts in the files of the project that a command names, and what
// starts its program if that is one of them.
func (f *found) addCommand(b *bundle, files *contentCache, in place) error {
	for i, arg := range f.argv {
		_, path := optionPath(arg)
		name, inside := insideProject(in.root, path)
		switch {
		case in.foreign && inside && isFile(filepath.Join(in.root, filepath.FromSlash(name))):
			c, err := b.add(files, name)
			if err != nil {
				return err
			}
			if i == 0 && f.trouble == nil {
				f.startedBy(b, c, in)
			}
		case i == 0:
			var err error
			if b.Program, err = filepath.EvalSymlinks(arg); err != nil {
				return err
			}
		}
	}
	return nil
}

// startedBy settles what starts a program of the project.
func (f *found) startedBy(b *bundle, c *content, in place) {
	var p program
	if p, f.trouble = readProgram(c.head); f.trouble == nil {
		b.Interpreter, f.trouble = in.starter(p)
	}
}

// optionPath splits an argument such as --config=FILE into what stands before
// the path that it may hold, and that.
func optionPath(arg string) (before, path string) {
	if name, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
		return name + "=", value
	}
	return "", arg
}

// place is where the hooks of one scope are looked for.
type place struct {
	hooks      string // the hooks folder
	root       string // the working directory of hooks: the project's root
	searchPath string // PATH of the layer's hooks
	foreign    bool   // files inside root are not to be believed
	checks     *walk  // who may own what starts a hook
	rootOnly   bool   // and hooks that fail the checks are not run
	see        func(path string, st *fileStat)
	spare      *int64 // see bundle
	starters   map[starterKey]starter
}

// starter is the interpreter that a script's first line leads to.
type starter struct {
	path string
	bad  *trouble
}

// starterKey is what a starter depends on within one load.
type starterKey struct {
	foreign, rootOnly bool
	searchPath, words string
}

func (in *place) starter(p program) (string, *trouble) {
	key := starterKey{in.foreign, in.rootOnly, in.searchPath, p.words}
	found, ok := in.starters[key]
	if !ok {
		found.path, found.bad = interpreterPath(p, *in)
		in.starters[key] = found
	}
	return found.path, found.bad
}

// interpreterPath is the real path of the program that starts a script. One that
// lies in the project, or is reached through it, could be changed from inside
// the project without any change to the hook.
func interpreterPath(p program, in place) (string, *trouble) {
	written, bad := p.interpreter(in.searchPath)
	if bad != nil || written == "" {
		return written, bad
	}
	walk := in.checks
	walk.links = nil
	real, unsafe, err := walk.follow(written)
	switch {
	case err != nil:
		return written, &trouble{fmt.Sprintf("the interpreter %s cannot be looked at: %v", written, err), "name another interpreter"}
	case unsafe != "" && in.rootOnly:
		return real, &trouble{fmt.Sprintf("its interpreter %s is not root's alone: %s", written, unsafe), "name one that belongs to root and is writable by nobody else"}
	}
	if in.foreign && slices.ContainsFunc(append(walk.links, written, real), func(part string) bool { return within(in.root, part) }) {
		return real, &trouble{fmt.Sprintf("its interpreter %s lies inside the project", written), "name one outside of the project, or run the hook with inPlace"}
	}
	if word := p.projectWord(in); in.foreign && word != "" {
		return real, &trouble{fmt.Sprintf("its interpreter line names %s, which would be looked for in the project", word), "leave it out of the line, or run the hook with inPlace"}
	}
	return real, nil
}

// insideProject returns an argument's path relative to the project, if it is a
// path that lies there. A word without a slash or a dot is taken for a word:
// npm run lint does not mean a file named lint.
func insideProject(root, arg string) (name string, inside bool) {
	if root == "" || !strings.ContainsAny(arg, "/.") || strings.ContainsRune(arg, 0) {
		return "", false
	}
	where := arg
	if !filepath.IsAbs(where) {
		where = filepath.Join(root, where)
	}
	where = filepath.Clean(where)
	if where == root || !within(root, where) {
		return "", false
	}
	rel, err := filepath.Rel(root, where)
	return filepath.ToSlash(rel), err == nil
}

func isFile(path string) bool {
	st, err := stat(path)
	return err == nil && st.Mode.IsRegular()
}

// copied returns the command line with every file of the bundle replaced by its
// private copy.
func (f *found) copied(s store, root string) []string {
	argv := slices.Clone(f.argv)
	for i, arg := range argv {
		before, path := optionPath(arg)
		name, inside := insideProject(root, path)
		if inside && slices.ContainsFunc(f.bundle.Members, func(m member) bool { return m.Name == name }) {
			argv[i] = before + s.path(f.bundle.hash, name)
		}
	}
	return argv
}
