package candidate

import (
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// A Subject is what a person decides about: a hook or a resource of some layer.
type Subject struct {
	bundle.Code
	Scope  *Scope
	Kind   records.Kind    // "": a hook
	Name   string          // as it is known everywhere: of what an outer project holds with the way to that before it
	Base   string          // as it is known in its own scope
	Path   string          // its own file; "" for a command that is no file
	Line   int             // of an MCP server in its settings file, else 0
	Listed bool            // discovered or named by settings, not only by a trust record
	Record *records.Record // what a person decided about it, nil if nobody did
}

// Hook is a hook as it was found, before anything is decided about it: a
// file of a hooks folder, a command entry, or what a settings entry or a trust
// record leaves of one that is not there.
type Hook struct {
	Subject
	File       *File
	SideFile   string // name in the hooks folder, "" without one
	Described  []schema.Described
	Resolution schema.Resolution
	StandIn    *StandIn // it stands for guards that nobody knows; nil for a hook of its own
	Rule       bool     // it carries its reply itself, and starts nothing
	Pack       string   // path of the file of rules that it stands in; "" of any other hook
	Import     *Import  // where it was read from; nil for a hook of our own settings or folders
}

// StandIn is why a hook stands for guards that settings may name: nobody allowed the
// settings, or they cannot be read.
type StandIn struct {
	Why, Remedy string
	Kind        protocol.FailureKind
}

// Import is where a hook comes from that is read from another agent's settings.
type Import struct {
	Agent  string // as in hooks.import
	Folder string // of a program in a folder of that agent; "" for an entry of its settings

	// Refuses are the events that such a hook could refuse: what a program is taken to do
	// before it can be asked.
	Refuses []protocol.EventName
}

// Resource is a skill, a recipe, an MCP server or a file of instructions as it was found.
type Resource struct {
	Subject
	Title        string            // its name alone
	Real         string            // of instructions: the file with links followed
	Server       *schema.MCPServer // with its variables in their places
	Unset        *report.Problem   // why it cannot be started here, though it may be allowed
	Waits        bool              // of a server: nobody allowed the settings that name it
	KnowsProject bool              // a server of user or machine whose settings name the project's folder
}

// Place is where the hook is written: its own file, or the entry of another agent's
// settings.
func (f *Hook) Place() (file string, line int) {
	if f.Path == "" && f.Import != nil && len(f.Described) > 0 {
		return f.Described[0].Pos.File, f.Described[0].Pos.Line
	}
	return f.Path, 0
}

// InOtherCheckout reports whether it starts in another checkout than the one in which a
// person allowed it.
func (f *Subject) InOtherCheckout() bool {
	return f.Scope.Project != "" && f.Scope.Root != f.Scope.Project
}

// Hash is the hash of its bundle, "" if it has none.
func (f *Subject) Hash() string {
	if f.Bundle == nil {
		return ""
	}
	return f.Bundle.Hash
}

// RunsUnwatched reports whether the hook runs code that its hash does not cover.
func (f *Hook) RunsUnwatched() bool {
	return f.Resolution.Hook.InPlace || len(f.Unwatched) > 0
}

// instructionsDir stands before the name of a file of instructions in records and messages:
// no hook is named so.
const instructionsDir = "instructions/"

// InstructionsBase returns the name of a file of instructions in its own scope.
func InstructionsBase(file string) string { return instructionsDir + file }

// File is the resource's own file among those of its bundle, which is also what of its name
// is a path.
func (f *Resource) File() string {
	if f.Kind == records.KindInstructions {
		return strings.TrimPrefix(f.Base, instructionsDir)
	}
	return f.Base
}

// IsNested reports whether it is a file of instructions in a folder below the root.
func (f *Resource) IsNested() bool {
	return f.Kind == records.KindInstructions && strings.Contains(f.File(), "/")
}

// IsThere reports whether a recorded resource still has a file or a settings entry.
func (f *Resource) IsThere() bool { return f.IsCommand() || f.Bundle != nil }

// IsThere reports whether a recorded hook still has a file or a settings entry.
func (f *Hook) IsThere() bool {
	return f.IsCommand() || f.File != nil && f.File.Head != nil || f.Bundle != nil
}

// Faulty reports whether any description of the hook is.
func (f *Hook) Faulty() bool {
	for i := range f.Described {
		if len(f.Described[i].Faults) > 0 {
			return true
		}
	}
	return f.Resolution.Rejected && schema.NamesEvents(f.Described...)
}

// BelieveRecord takes the bundle for what an earlier version would have hashed, if
// that is what was allowed.
func (f *Subject) BelieveRecord() {
	if f.Record == nil || f.Bundle == nil || f.Bundle.Hash == f.Record.Hash {
		return
	}
	if old := f.Bundle.AsRecorded(&f.Record.Bundle, f.Record.Hash); old != nil {
		f.Fresh, f.Bundle = f.Bundle.Hash, old
	}
}

// GoneRemedy says how a hook that vanished comes to be right. A removal cannot be
// accepted while the settings still name the file.
func (f *Subject) GoneRemedy() string {
	if f.Listed {
		return "restore it, or remove its entry from the settings and accept both with: " + f.Scope.TrustCommand()
	}
	return f.Scope.GoneRemedy()
}

// HookFile is the hook's own file: what messages name, and what is never run
// twice at once while an old run of it still ends.
func (f *Subject) HookFile() string {
	if f.Path != "" {
		return f.Path
	}
	return f.Own
}

// OfPython is what a command of Python that names a module, or is code itself,
// gets besides.
func (f *Subject) OfPython() []string {
	if len(f.Words) == 0 || interpreter.KindOf(f.Words[0]) != interpreter.KindPython {
		return nil
	}
	for _, word := range f.Words[1:] {
		if !strings.HasPrefix(word, "-") {
			return nil
		}
		if interpreter.KindPython.TakesCode(word) {
			return []string{hookenv.SafePath}
		}
	}
	return nil
}

// Everywhere is every gate and point: where a hook fails whose events nobody
// knows.
func Everywhere() []protocol.EventName {
	var events []protocol.EventName
	for i := range protocol.Table {
		if protocol.Table[i].Kind != protocol.Notice {
			events = append(events, protocol.Table[i].Name)
		}
	}
	return events
}

// ProjectDefaults are the defaults of a hook as the project's settings alone
// give them: those that were allowed, or for a hook that nobody allowed yet those
// that wait to be.
func (f *Hook) ProjectDefaults() schema.Defaults {
	values := f.Scope.Describing(f.Base).Values
	d := schema.Defaults{Layer: f.Scope.Layer, Name: f.Name, Path: f.Path}
	if v, ok := values["hooks.timeout"].V.(time.Duration); ok {
		d.Timeout = v
	}
	if v, ok := values["hooks.onFailure"].V.(string); ok {
		d.OnFailure = protocol.Rule(v)
	}
	if v, ok := values["hooks.required"].V.([]string); ok {
		d.Required = slices.Contains(v, f.Base)
	}
	return d
}
