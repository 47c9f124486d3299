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

// found is one hook on its way into the set: a file of a hooks folder, a
// command entry, or what a settings entry, a required name or a trust record
// leaves of one that is not there.
type found struct {
	bundle.Code
	scope  *scope
	layer  protocol.Layer
	kind   records.Kind      // "": a hook
	title  string            // of what is no hook: its name alone
	server *schema.MCPServer // with its variables in their places
	unset  *report.Problem   // why it cannot be started here, though it may be allowed
	name   string            // as it is known everywhere: of an outer project's hook with the way to it before it
	base   string            // as it is known in its own scope
	path   string            // its own file; "" for a command that is no file
	line   int               // of an MCP server in its settings file, else 0
	file   *candidate
	waits  bool // of a server: nobody allowed the settings that name it
	listed bool // discovered or named by settings, not only by a trust record

	described []schema.Described
	sideFile  string // name in the hooks folder, "" without one

	given  bool             // a server that is told where the project lies
	pins   interpreter.Pins // what starts it, settled; of a hook of the project that may run
	record *records.Record
	told   *told // the program's own answer, if it is the last one of described
	stands bool  // it stands for something else, and nothing is to be decided about it

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
