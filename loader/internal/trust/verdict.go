package trust

import (
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Verdict is what was decided about a subject.
type Verdict struct {
	Status  executor.Status
	Why     string
	Fault   *protocol.Failure
	Run     string           // path of what runs; "" if nothing does
	InPlace bool             // what runs is the original, or a copy in a view
	Folder  string           // where the copies of the bundle are that run
	pins    interpreter.Pins // what starts it; of a hook of the project that may run
}

// DecidedHook is a hook candidate with what was decided about it.
type DecidedHook struct {
	*candidate.Hook
	Verdict
}

// DecidedResource is a resource with what was decided about it.
type DecidedResource struct {
	*candidate.Resource
	Verdict
}

// Disable has nothing run, and says why. The first reason stands.
func (v *Verdict) Disable(status executor.Status, why string) {
	if v.Status == "" || v.Status == executor.Ready {
		v.Status, v.Why, v.Run = status, why, ""
	}
}

// FailClosed is Disable for a hook whose absence must not go unnoticed: it stays in the
// set and fails there, under its rule.
func (v *Verdict) FailClosed(name string, status executor.Status, kind protocol.FailureKind, why, remedy string) {
	v.Disable(status, why)
	if v.Fault == nil {
		v.Fault = &protocol.Failure{Kind: kind, Detail: name + ": " + why, Remedy: remedy}
	}
}

// couldBlock reports whether a hook was able to refuse an event at all.
func couldBlock(h *schema.Hook) bool {
	if h.Mode == protocol.Audit && !h.Required {
		return false
	}
	return h.Can != protocol.CanObserve && (h.Reply == nil || h.Reply.Refuses()) || h.Required
}

// Start is how a hook's program is started.
type Start struct {
	Path   string
	Argv   []string // argv[0] included
	Script string   // the file that path reads, "" if path is the hook's program itself
	sets   []string // variables that its interpreter line sets
}

// StartOf returns what is executed: for a hook of the project what was
// pinned, with the words of the interpreter line, then the private copy. Elsewhere
// the kernel does it.
func StartOf(f *candidate.Subject, v *Verdict) Start {
	argv := []string{v.Run}
	if f.IsCommand() {
		argv = slices.Clone(f.Argv)
	}
	if v.pins.Program != nil {
		argv[0] = v.pins.Program.Path
	}
	s := Start{Path: argv[0], Argv: argv}
	if v.pins.Interpreter == nil {
		return s
	}
	program, _ := f.Script()
	l, _ := program.Line()
	if l.Vague {
		return s // in place, where env itself may read it
	}
	s.Script, s.Path, s.sets = argv[0], v.pins.Interpreter.Path, l.Sets
	s.Argv = slices.Concat([]string{s.Path}, l.Args, argv)
	return s
}

// Environ adds what an interpreter line sets.
func (s *Start) Environ(env []string) []string {
	for _, set := range s.sets {
		name, _, _ := strings.Cut(set, "=")
		env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, name+"=") })
		env = append(env, set)
	}
	return env
}

// Allowed is leave to run a hook. Only a decided hook gives it, so that nothing is
// asked before it was decided about.
type Allowed struct{ hook *DecidedHook }

// MayRun returns leave to run the hook; ok is false if it may not run.
func (f *DecidedHook) MayRun() (a Allowed, ok bool) { return Allowed{f}, f.Run != "" }

// Decided returns the hook that may run.
func (a Allowed) Decided() *DecidedHook { return a.hook }
