package match

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/hookd-dev/hookd/protocol/hookmatch"
	"github.com/hookd-dev/hookd/schema"
)

// Matcher is a compiled [schema.Match]: its keys, its patterns for commands and paths,
// and its condition. The zero value
// matches everything.
type Matcher struct {
	hookmatch.Keys
	command commandPatterns
	path    []pathPattern
	when    *condition

	// Whole is for a hook that grants: match.command holds only if its patterns cover
	// every command of the line, and match.path only if they cover every file of the
	// call. Else one command, or one file, is enough.
	Whole bool

	// reported is set when the condition was undecided, so that it is reported once
	// and not with every event.
	reported *atomic.Bool
}

// Compile compiles every key of m. With an error it also returns the key that does
// not compile.
func Compile(m *schema.Match) (Matcher, string, error) {
	keys, key, err := hookmatch.Compile(m)
	if err != nil {
		return Matcher{}, key, err
	}
	out := Matcher{Keys: keys, reported: new(atomic.Bool)}
	if out.command, err = compileCommands(m.Command); err != nil {
		return Matcher{}, keyCommand, err
	}
	if out.path, err = compilePaths(m.Path); err != nil {
		return Matcher{}, keyPath, err
	}
	if m.When != "" {
		program, err := compileCondition(m.When)
		if err != nil {
			return Matcher{}, "when", err
		}
		out.when = program
	}
	return out, "", nil
}

// HasCondition reports whether the matcher has anything to [Matcher.Decide].
func (m *Matcher) HasCondition() bool {
	return m.when != nil || len(m.command.any) > 0 || len(m.path) > 0
}

// TakesTime reports whether Decide evaluates an expression, which its context bounds.
func (m *Matcher) TakesTime() bool { return m.when != nil }

// ConditionTime bounds the evaluation of a condition, besides the hook's own limit.
const ConditionTime = maxConditionTime

// Decide compares commands and paths and evaluates the condition, on the event as it is
// now. One that does not hold decides, whatever the others come to. The error says why
// they are undecided.
func (m *Matcher) Decide(ctx context.Context, in *Input) (Decision, error) {
	command, err := m.commandHolds(in)
	if command == No {
		return No, nil
	}
	path, pathErr := m.pathHolds(in)
	if path == No {
		return No, nil
	}
	when, whenErr := m.whenHolds(ctx, in)
	switch {
	case when == No:
		return No, nil
	case command == Undecided:
		return Undecided, err
	case path == Undecided:
		return Undecided, pathErr
	}
	return when, whenErr
}

// UndecidedKey returns the key of match that an error of Decide is about.
func UndecidedKey(err error) string {
	if of, is := errors.AsType[*undecidedKey](err); is {
		return of.key
	}
	return "when"
}

// undecidedKey says why match.command or match.path is undecided.
type undecidedKey struct{ key, why string }

func (u *undecidedKey) Error() string { return u.why }

// The keys that are compared in this package.
const (
	keyCommand = "command"
	keyPath    = "path"
)

// whenHolds evaluates the condition.
func (m *Matcher) whenHolds(ctx context.Context, in *Input) (Decision, error) {
	if m.when == nil {
		return Yes, nil
	}
	env, err := in.environment()
	if err != nil {
		return Undecided, err
	}
	in.meter = newMeter(ctx)
	return m.when.decide(in, env)
}

// FirstReport reports whether this is the first time that the condition is reported as
// undecided.
func (m *Matcher) FirstReport() bool { return !m.reported.Swap(true) }
