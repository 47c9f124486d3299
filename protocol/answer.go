package protocol

import (
	"time"
)

// HookInfo is the hook behind an answer, as far as the fold needs to know it.
type HookInfo struct {
	Name     string
	Layer    Layer
	Class    Class
	Mode     Mode
	Rule     Rule // what its failure does
	Required bool
	Hash     string // of the bundle that ran

	// Sensitive hooks see what nobody else is to see, and nobody is to read what they
	// changed as it was before: see [Run.Sensitive].
	Sensitive bool
}

// Answer is what asking one hook came to. Either Reply or Failure is set, never
// both: a hook that could not be asked has said nothing.
type Answer struct {
	HookInfo
	ReadResult
	Exit   *int // nil if there was no process or it was ended by a signal
	Signal string
	Took   time.Duration
	Stderr string // tail, bounded

	Limits AnswerLimits // by the hook's own layer
}

// AnswerLimits are the limits of the hook's own layer on what its answer may come
// to. A zero field stands for the fold's.
type AnswerLimits struct {
	Event   DecodeLimits // of the event after its change
	Context int64        // bytes of context for the model, of this layer's hooks and those above together; below 0: none
}

// ProcessEnd is how a hook's process ended, as far as the reading of its output
// needs to know.
type ProcessEnd struct {
	Exit   *int   // nil if there was no process or a signal ended it
	Signal string // SIGSEGV, if a signal ended it that hookd did not send

	// Failure is why there is no trustworthy end: timeout, budget, spawn,
	// output, lost, aborted and the like.
	Failure *Failure

	// Program are the names by which an interpreter that cannot run the hook's program
	// tells where: the program's path, and files among its arguments.
	Program []string

	// Answered says that a standby or resident hook ended its turn by a reply
	// that repeats the event's id. Only such a reply counts then, and neither
	// exit code nor later output does.
	Answered bool
}

// ReadResult is the result of reading a hook's output.
type ReadResult struct {
	Reply    *Reply
	Failure  *Failure
	ByExit   bool     // the reply is a block made of exit code 2
	Warnings []string // notes: text lines around the reply, ignored members
}
