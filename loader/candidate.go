package loader

import (
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// A subject is what a person decides about: a hook or a resource of some layer.
type subject struct {
	bundle.Code
	scope  *scope
	kind   records.Kind    // "": a hook
	name   string          // as it is known everywhere: of what an outer project holds with the way to that before it
	base   string          // as it is known in its own scope
	path   string          // its own file; "" for a command that is no file
	line   int             // of an MCP server in its settings file, else 0
	listed bool            // discovered or named by settings, not only by a trust record
	record *records.Record // what a person decided about it, nil if nobody did
}

// hookCandidate is a hook as it was found, before anything is decided about it: a
// file of a hooks folder, a command entry, or what a settings entry or a trust
// record leaves of one that is not there.
type hookCandidate struct {
	subject
	file       *candidate
	sideFile   string // name in the hooks folder, "" without one
	described  []schema.Described
	resolution schema.Resolution
	standIn    string // why it stands for guards of settings that nobody allowed; "" for a hook of its own
}

// resource is a skill, a recipe or an MCP server as it was found.
type resource struct {
	subject
	title  string            // its name alone
	server *schema.MCPServer // with its variables in their places
	unset  *report.Problem   // why it cannot be started here, though it may be allowed
	waits  bool              // of a server: nobody allowed the settings that name it
	given  bool              // a server of user or machine that is told where the project lies
}

// verdict is what was decided about a subject.
type verdict struct {
	status  executor.Status
	why     string
	fault   *protocol.Failure
	run     string           // path of what runs; "" if nothing does
	inPlace bool             // what runs is the original, or lies beside what the original lies beside
	folder  string           // where the copies of the bundle are that run
	pins    interpreter.Pins // what starts it; of a hook of the project that may run
}

// decidedHook is a hook candidate with what was decided about it.
type decidedHook struct {
	*hookCandidate
	verdict
}

// decidedResource is a resource with what was decided about it.
type decidedResource struct {
	*resource
	verdict
}

// hook is a decided hook on its way into the set.
type hook struct {
	*decidedHook
	told         *told // the program's own answer, if it is the last one of described
	offByProject bool  // the project's own settings switch it off
}

// hookName names a hook: equal names in different layers are different hooks.
type hookName struct {
	layer protocol.Layer
	name  string
}

// disable settles that nothing runs, and why. The first reason stands.
func (v *verdict) disable(status executor.Status, why string) {
	if v.status == "" || v.status == executor.Ready {
		v.status, v.why, v.run = status, why, ""
	}
}

// failClosed is disable for a hook whose absence must not go unnoticed: it stands in
// the set as a failure under its rule.
func (v *verdict) failClosed(name string, status executor.Status, kind protocol.FailureKind, why, remedy string) {
	v.disable(status, why)
	if v.fault == nil {
		v.fault = &protocol.Failure{Kind: kind, Detail: name + ": " + why, Remedy: remedy}
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

// elsewhere reports whether the hook starts in another checkout than the one in
// which a person allowed it.
func (f *subject) elsewhere() bool { return f.scope.project != "" && f.scope.root != f.scope.project }

// allowedInMain reports whether the very same hook was allowed in the main
// checkout of which its project is a worktree.
func (f *subject) allowedInMain() bool {
	return f.scope.elsewhere != nil && f.Bundle != nil && f.scope.elsewhere.Allows(f.base, f.Bundle)
}

// asAllowed reports whether it is exactly what a person allowed.
func (f *subject) asAllowed() bool {
	return f.record != nil && f.Bundle != nil && f.Bundle.Hash == f.record.Hash
}

// runsUnwatched reports whether the hook runs code that its hash does not cover.
func (f *hookCandidate) runsUnwatched() bool {
	return f.resolution.Hook.InPlace || len(f.Unwatched) > 0
}

// isThere reports whether a recorded resource still has a file or a settings entry.
func (f *resource) isThere() bool { return f.IsCommand() || f.Bundle != nil }

// isThere reports whether a recorded hook still has a file or a settings entry.
func (f *hookCandidate) isThere() bool {
	return f.IsCommand() || f.file != nil && f.file.content != nil || f.Bundle != nil
}

// faulty reports whether any description of the hook is.
func (f *hookCandidate) faulty() bool {
	for i := range f.described {
		if len(f.described[i].Faults) > 0 {
			return true
		}
	}
	return f.resolution.Rejected && schema.NamesEvents(f.described...)
}

// believeRecord takes the bundle for what an earlier version would have hashed, if
// that is what was allowed.
func (f *subject) believeRecord() {
	if f.record == nil || f.Bundle == nil || f.Bundle.Hash == f.record.Hash {
		return
	}
	if old := f.Bundle.AsRecorded(&f.record.Bundle, f.record.Hash); old != nil {
		f.Fresh, f.Bundle = f.Bundle.Hash, old
	}
}

// goneRemedy says how a hook that vanished comes to be right. A removal cannot be
// accepted while the settings still name the file.
func (f *subject) goneRemedy() string {
	if f.listed {
		return "restore it, or remove its entry from the settings and accept both with: " + f.scope.trustCommand()
	}
	return f.scope.goneRemedy()
}
