package interpreter

import (
	"slices"

	"github.com/hookd-dev/hookd/loader/internal/ownership"
	"github.com/hookd-dev/hookd/loader/internal/report"
)

// A Pin is the program that starts a hook as it was found when a person allowed
// the hook. It is not part of what is hashed, so that one hash allows the same
// hook on every machine: the words that name the program are.
type Pin struct {
	Path string `json:"path"` // where it was found
	Real string `json:"real"` // what was there, symbolic links followed

	Stray bool `json:"-"` // found only on the PATH of the shell that asked
}

// Pins are what starts one hook: the program of its command, and the interpreter
// of a script, its own file or one of the project that the command starts.
type Pins struct {
	Program     *Pin `json:"program,omitzero"`
	Interpreter *Pin `json:"interpreter,omitzero"`
}

// Each returns the pins that there are.
func (p *Pins) Each() []*Pin {
	return slices.DeleteFunc([]*Pin{p.Program, p.Interpreter}, func(one *Pin) bool { return one == nil })
}

// Starter is the program that some words lead to, looked for now.
type Starter struct {
	Pin     Pin
	Bad     *report.Problem
	Refused bool // it is there, and leads into the project
	Shim    bool // it is a script itself
}

// A Finder finds what starts the hooks of one scope.
type Finder struct {
	Root       string                 // the working directory of hooks: the project's root
	SearchPath string                 // PATH of the layer's hooks
	Fixed      []string               // folders of it that do not depend on the caller, or nil if that makes no difference
	Pinned     bool                   // what starts a hook stays what it was when a person allowed it
	Foreign    bool                   // files inside root are not to be believed
	Checks     *ownership.Walk        // who may own what starts a hook
	RootOnly   bool                   // and hooks that fail the checks are not run
	Inside     func(path string) bool // of user and machine: whether a program is one of the project's; nil if that is no matter
	Starters   map[StarterKey]Starter

	located map[string]Located // of what starts hooks: few programs start them all
	held    map[Pin]*Pin
}

// StarterKey is what a starter depends on within one load.
type StarterKey struct {
	foreign, rootOnly bool
	searchPath, words string
}
