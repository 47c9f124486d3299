package loader

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
	"github.com/hookd-dev/hookd/loader/internal/report"
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
	unset  *report.Problem   // why it cannot be started here, though it may be allowed
	name   string            // as it is known everywhere: of an outer project's hook with the way to it before it
	base   string            // as it is known in its own scope
	path   string            // its own file; "" for a command that is no file
	line   int               // of an MCP server in its settings file, else 0
	argv   []string          // of a command entry: program resolved, arguments as written
	words  []string          // the same as written, but for a program that is a path
	own    string            // of a command entry: the program as resolved, before copying
	file   *candidate
	waits  bool // of a server: nobody allowed the settings that name it
	listed bool // discovered or named by settings, not only by a trust record

	described []schema.Described
	sideFile  string // name in the hooks folder, "" without one
	bundle    *bundle
	fresh     string          // hash of the bundle as this version makes it, if an earlier one's is believed
	swaps     map[string]swap // words of the command line that mean a file of the bundle
	unwatched []string        // code of the project that runs and is not in the bundle, in words

	given      bool    // a server that is told where the project lies
	ownProgram bool    // the program of the command is a file of the project
	program    program // of such a one
	pins       pins    // what starts it, settled; of a hook of the project that may run
	unstarted  bool    // trouble is no more than that what starts it cannot be found
	trouble    *report.Problem
	record     *trustRecord
	told       *told // the program's own answer, if it is the last one of described
	stands     bool  // it stands for something else, and nothing is to be decided about it

	resolution schema.Resolution
	status     executor.Status
	why        string
	fault      *protocol.Failure
	run        string // path of what runs; "" if nothing does
	inPlace    bool   // what runs is the original, or lies beside what the original lies beside
	folder     string // where the copies of the bundle are that run

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
func (f *found) seal(hashes *files.HashCache, in place, e entry) (missing []string, err error) {
	raw, err := canonical(e)
	if err != nil {
		return nil, err
	}
	b := &bundle{Name: f.base, Entry: raw, base: in.hooks, see: in.see, spare: in.spare}
	if f.isCommand() {
		b.base = in.root
		err = f.addCommand(b, hashes, in)
	} else {
		err = f.addFile(b, hashes, in, e.Args)
	}
	if err != nil {
		return nil, err
	}
	if missing, err = b.addHelpers(hashes, e.Files); err != nil {
		return nil, err
	}
	if err := b.seal(); err != nil {
		return nil, err
	}
	f.bundle = b
	return missing, nil
}

// addFile puts in a hook file with its side file, and what of the project its
// arguments name.
func (f *found) addFile(b *bundle, hashes *files.HashCache, in place, args []string) (err error) {
	err = b.put(hashes, f.base, f.path)
	if err == nil && f.sideFile != "" {
		err = b.add(hashes, f.sideFile)
	}
	if err == nil && in.pinned {
		err = f.addWords(b, hashes, &in, args, kindUnknown, projectPrefix)
	}
	if err != nil || f.file.trouble != nil {
		return err
	}
	return f.settleStarter(b, hashes, &in, in.starter(f.file.program))
}

// addCommand puts in the files of the project that a command names, and looks for
// what starts its program if that is one of them.
func (f *found) addCommand(b *bundle, hashes *files.HashCache, in place) error {
	if !in.pinned {
		return nil
	}
	if at := in.locate(f.argv[0]); filepath.IsAbs(f.argv[0]) && at.name != "" && at.exists && at.st.Mode.IsRegular() {
		if err := b.add(hashes, at.name); err != nil {
			return err
		}
		f.ownProgram, f.swaps = true, map[string]swap{f.argv[0]: {name: at.name}}
		if f.trouble == nil {
			if f.program, f.trouble = readProgram(firstBytes(at.where)); f.trouble == nil {
				if err := f.settleStarter(b, hashes, &in, in.starter(f.program)); err != nil {
					return err
				}
			}
		}
	}
	of := kindOf(f.argv[0])
	if f.ownProgram && f.program.words != "" {
		of = kindUnknown
	}
	return f.addWords(b, hashes, &in, f.argv[1:], of, "")
}

// settleStarter takes in what starts a script: that it cannot be found, and its
// bytes where it lies in the project, which only a hook in place may have.
func (f *found) settleStarter(b *bundle, hashes *files.HashCache, in *place, s starter) error {
	if s.bad != nil {
		if f.trouble == nil {
			f.trouble, f.unstarted = s.bad, !s.refused
		}
		return nil
	}
	if at := in.locate(s.pin.Path); in.pinned && s.pin.Path != "" && at.name != "" {
		f.unwatched = append(f.unwatched, fmt.Sprintf("its interpreter %s lies in the project, and so does what that loads", at.name))
		return b.put(hashes, projectPrefix+at.name, s.pin.Path)
	}
	return nil
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
	hooks      string                 // the hooks folder
	root       string                 // the working directory of hooks: the project's root
	searchPath string                 // PATH of the layer's hooks
	fixed      []string               // folders of it that do not depend on the caller, or nil if that makes no difference
	pinned     bool                   // what starts a hook stays what it was when a person allowed it
	foreign    bool                   // files inside root are not to be believed
	checks     *ownership.Walk        // who may own what starts a hook
	rootOnly   bool                   // and hooks that fail the checks are not run
	inside     func(path string) bool // of user and machine: whether a program is one of the project's; nil if that is no matter
	see        func(path string)
	held       map[pin]*pin // pins as they were found to hold
	spare      *int64       // see bundle
	starters   map[starterKey]starter
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
	if where == root || !files.Within(root, where) {
		return "", false
	}
	rel, err := filepath.Rel(root, where)
	return filepath.ToSlash(rel), err == nil
}
