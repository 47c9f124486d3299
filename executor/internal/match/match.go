package match

import (
	"context"
	"sync/atomic"

	"github.com/hookd-dev/hookd/protocol/hookmatch"
	"github.com/hookd-dev/hookd/schema"
)

// Matcher is a compiled [schema.Match]: its keys, and its condition. The zero value
// matches everything.
type Matcher struct {
	hookmatch.Keys
	when *condition

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
	out := Matcher{Keys: keys}
	if m.When != "" {
		program, err := compileCondition(m.When)
		if err != nil {
			return Matcher{}, "when", err
		}
		out.when, out.reported = program, new(atomic.Bool)
	}
	return out, "", nil
}

// HasCondition reports whether the matcher has a condition to [Matcher.Decide].
func (m *Matcher) HasCondition() bool { return m.when != nil }

// ConditionTime bounds the evaluation of a condition, besides the hook's own limit.
const ConditionTime = maxConditionTime

// Decide evaluates the condition on the event as it is now. The error says why it is
// undecided.
func (m *Matcher) Decide(ctx context.Context, in *Input) (Decision, error) {
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
