package trust

import (
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/records"
)

// State is what the trust records say about a hook of a project.
type State string

const (
	StateTrusted State = "trusted"
	StateNew     State = "new"
	StateChanged State = "changed"
	StateGone    State = "gone"
	StateDenied  State = "denied"
)

// Found is what a load found of a hook, a resource or a settings file, as far as a
// decision depends on it.
type Found struct {
	Hash      string // of its bundle; "" if it has none
	There     bool   // a file or a settings entry of it exists
	Faulty    bool   // its description cannot be used
	Unwatched bool   // it runs code that the hash does not cover
	Elsewhere string // the checkout in which it starts, if a person allowed it in another one
}

// Recorded is what was decided about it before.
type Recorded struct {
	Here      *records.Record // in its own project; nil if nobody decided
	Main      *records.Record // what was allowed in the main checkout of which the project is a worktree; nil if nothing was
	Checkout  string          // the main checkout
	MainRules bool            // the main checkout counts by itself, so nothing of it is missed in the worktree
	Listed    bool            // the managed layer lists its hash, or that of the whole project
}

// Source is what lets something run.
type Source string

const (
	FromRecord Source = "record" // a person allowed it here
	FromMain   Source = "main"   // a person allowed it in the main checkout
	FromList   Source = "list"   // hooks.trust.hashes lists it
)

// Decision says whether something may run.
type Decision struct {
	State  State
	Source Source          // what lets it run; "" if nothing does
	Record *records.Record // what it is measured against; nil if nobody decided about it
	Why    string          // why it does not run; "" if it may
}

// Decide compares what was found with what was recorded. It is a pure function: equal
// values give equal decisions, and it reads nothing else.
//
// A denial comes before all that would let it run. A hash that is listed counts for
// what was allowed before and is changed now. What was allowed and is not as it was is
// told apart from what nobody decided about, because its absence must be noticed.
func Decide(found Found, recorded Recorded) Decision {
	here, main := recorded.Here, recorded.Main
	if here != nil {
		main = nil // a decision in the project itself counts before that in its main checkout
	}
	switch {
	case here != nil && here.Decision == records.Denied:
		return Decision{State: StateDenied, Record: here, Why: "denied with hookd untrust"}
	case found.is(here) && found.Unwatched && found.Elsewhere != "":
		return Decision{State: StateTrusted, Record: here, Why: "it runs code of the checkout that hookd does not watch, and " + found.Elsewhere + " is another checkout"}
	case found.is(here):
		return Decision{State: StateTrusted, Source: FromRecord, Record: here}
	case found.is(main) && !found.Faulty && !found.Unwatched:
		return Decision{State: StateTrusted, Source: FromMain, Record: main}
	case recorded.Listed && found.Hash != "" && !found.Faulty:
		return Decision{State: StateTrusted, Source: FromList, Record: here}
	case here != nil && !found.There:
		return Decision{State: StateGone, Record: here, Why: "it was allowed here and is no longer there"}
	case here != nil:
		return Decision{State: StateChanged, Record: here, Why: "it is not what was allowed any more"}
	case main != nil && !recorded.MainRules && (found.Faulty || !found.is(main)):
		return Decision{State: StateChanged, Record: main, Why: "it is not what was allowed in " + recorded.Checkout}
	}
	return Decision{State: StateNew, Why: "nobody allowed it yet"}
}

// is reports whether what was found is exactly what a record is about.
func (f Found) is(r *records.Record) bool { return r != nil && f.Hash != "" && f.Hash == r.Hash }

// MayRun reports whether something lets it run.
func (d Decision) MayRun() bool { return d.Source != "" }

// hashAmong reports whether a list of hashes has one, with or without the prefix.
func hashAmong(hashes []string, hash string) bool {
	return hash != "" && slices.ContainsFunc(hashes, func(h string) bool {
		return strings.TrimPrefix(h, bundle.HashPrefix) == strings.TrimPrefix(hash, bundle.HashPrefix)
	})
}
