package protocol

import (
	"cmp"
	"strings"
)

// Layer is where a hook comes from. A higher layer runs later within a class,
// so its change stands and its verdict is on the final event.
type Layer string

const (
	Project Layer = "project"
	User    Layer = "user"
	Managed Layer = "managed"
	Builtin Layer = "builtin" // compiled in; runs before the project's hooks
)

// Rank orders the layers: built-ins run first, the managed layer last. A hook
// of a lower rank never undoes what one of a higher rank said.
func (l Layer) Rank() int {
	switch l {
	case Project:
		return 1
	case User:
		return 2
	case Managed:
		return 3
	}
	return 0
}

// Origin is where a hook comes from: its layer and, of projects that lie in one
// another, which. A hook of a project above the one that is worked in has the way
// to it before its name (../../guard.sh), and is to the inner project's hooks what
// a hook of a higher layer is: they neither undo what it said nor use up what it
// needs. The zero value is the origin of no hook.
type Origin struct {
	Layer Layer
	Above int // folders between the project that is worked in and the hook's own
}

// OriginOf is the origin of a hook that is known by its layer and name.
func OriginOf(layer Layer, name string) Origin {
	o := Origin{Layer: layer}
	for layer == Project && strings.HasPrefix(name, "../") {
		o.Above, name = o.Above+1, name[len("../"):]
	}
	return o
}

// Compare orders origins: below 0 if o stands below other.
func (o Origin) Compare(other Origin) int {
	return cmp.Or(cmp.Compare(o.Layer.Rank(), other.Layer.Rank()), cmp.Compare(o.Above, other.Above))
}

// String names the origin in messages.
func (o Origin) String() string {
	if o.Above == 0 {
		return string(o.Layer)
	}
	return string(o.Layer) + " " + strings.TrimSuffix(strings.Repeat("../", o.Above), "/")
}

// HookRef names a hook: equal names in different layers are different hooks.
type HookRef struct {
	Layer Layer
	Name  string
}

// Origin is where the hook comes from.
func (r HookRef) Origin() Origin { return OriginOf(r.Layer, r.Name) }

// HookInfo is the hook that gave an answer, as far as the fold needs to know it.
type HookInfo struct {
	Name     string
	Layer    Layer
	Class    Class
	Mode     Mode
	Rule     Rule // what its failure does
	Required bool
	Hash     string // of the bundle that ran
	Dialect  string // whose protocol it speaks, "" for hookd's

	// Sensitive hooks see what nobody else is to see, and nobody is to read what they
	// changed as it was before: see [Run.Sensitive].
	Sensitive bool
}

// Origin is where the hook comes from.
func (v HookInfo) Origin() Origin { return OriginOf(v.Layer, v.Name) }

// Class is what a hook may do, and so when it runs.
type Class string

const (
	CanModify  Class = "modify"  // everything; runs first, one after the other
	CanBlock   Class = "block"   // judges the final event
	CanObserve Class = "observe" // gets the final event and the outcome, never delays it
)

// Mode says whether a hook's answer has effect.
type Mode string

const (
	Enforce Mode = "enforce"
	Audit   Mode = "audit" // the answer is only recorded, as would
)

// Rule is what a hook's failure does.
type Rule string

const (
	RuleContinue Rule = "continue"
	RuleBlock    Rule = "block"
	RuleStop     Rule = "stop"
)
