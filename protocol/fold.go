package protocol

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// FoldOptions are what a fold needs to know besides the event.
type FoldOptions struct {
	Generation   int64        // of the set of hooks that is asked
	ContextLimit int64        // bytes of context per event, 64 KiB if 0, none below
	Limits       DecodeLimits // of the event after each change

	// AskedBy is, at permission-request, the origin of the hook whose ask is being
	// answered; zero if it was not a hook. An allow of a lower one does not grant
	// it: only the person does.
	AskedBy Origin
}

// Fold turns the answers of an event's hooks, given in running order, into one
// outcome. It is a value: Add returns a new Fold and leaves the old one as it
// was. Nothing an answer says can undo a refusal that was added before it.
//
//	f := protocol.Begin(event, options)
//	for each hook in running order while !f.Closed() {
//		f, run = f.Add(ask(hook, f.Event(), f.SoFar()))
//	}
//	outcome := f.Outcome()
type Fold struct {
	options FoldOptions
	spec    *Spec
	first   Event // as the host fired it
	event   Event // with the changes so far
	hidden  bool  // a sensitive hook changed a call's args

	action  Action
	by      string
	origin  Origin // of by
	reason  string
	failure FailureKind
	byExit  bool

	answered *Answered // by the hook that decided

	context    chain[said]
	notices    chain[HookText]
	messages   []Message
	callback   *CallbackCall
	replaced   RawMessage
	replacedBy string
	changes    []Change
	conflicts  []Conflict
	runs       chain[Run]
}

// Begin starts the fold of an event, whose name must be in the table. The
// session's key stays behind: no hook and no listener sees it.
func Begin(ev Event, options FoldOptions) Fold {
	if options.ContextLimit == 0 {
		options.ContextLimit = DefaultContextSize
	}
	spec := ev.Spec()
	if spec == nil {
		spec = &Spec{Name: ev.Event, Kind: Notice}
	}
	ev.Event = spec.Name
	ev.Session.Key = ""
	return Fold{options: options, spec: spec, first: ev, event: ev, action: Observe}
}

// Event is the event with the changes made so far.
func (f Fold) Event() Event { return f.event }

// Closed reports whether no further hook that may refuse or modify needs to be
// asked: the event is refused, and nothing may lift that.
func (f Fold) Closed() bool {
	return f.action == Stop || f.action == Block
}

// SoFar is what the hooks so far decided, as the next hook reads it.
func (f Fold) SoFar() OutcomeSoFar {
	s := OutcomeSoFar{Action: f.action, Changed: []string{}}
	if f.by != "" {
		by := f.by
		s.By = &by
	}
	known := map[string]bool{}
	for _, c := range f.changes {
		if !known[c.Path] {
			known[c.Path] = true
			s.Changed = append(s.Changed, c.Path)
		}
	}
	return s
}

// Outcome is what the answers so far come to.
func (f Fold) Outcome() Outcome {
	context, runs := f.shareContext()
	o := Outcome{
		Action: f.action, Reason: f.reason, Failure: f.failure, ByExit: f.byExit,
		Event: f.event, Context: context, Notices: f.notices.list(), Messages: f.messages, Callback: f.callback,
		Answered: f.answered, Generation: f.options.Generation, Runs: runs,
		Replaced: f.replaced, ReplacedBy: f.replacedBy, ArgsHidden: f.hidden, Changes: f.changes, Conflicts: f.conflicts,
		changed: f.event,
	}
	if f.by != "" {
		by := f.by
		o.By = &by
	}
	switch f.action {
	case Block:
		// Changes made before a block stay in the record only. After a stop the
		// host may keep what the event announced (a tool's result): as changed.
		o.Event = f.first
		o.Replaced, o.ReplacedBy, o.Callback, o.Messages, o.ArgsHidden = nil, "", nil, nil, false
	case Stop:
		o.Replaced, o.ReplacedBy, o.Callback, o.Messages = nil, "", nil, nil
	}
	return o
}

// strength orders the actions; what is stronger is never weakened by a later
// answer.
func strength(a Action) int {
	switch a {
	case Stop:
		return 5
	case Block:
		return 4
	case Ask:
		return 3
	case Modify, Continue, Callback:
		return 2
	case Allow:
		return 1
	}
	return 0
}

// chain is a list that grows at its end without a copy, and shares what it holds
// with the lists that it grew from: a fold with ten thousand answers is ten thousand
// folds.
type chain[T any] struct {
	last *link[T]
	size int
}

type link[T any] struct {
	value  T
	before *link[T]
}

// with is the list with one value more.
func (c chain[T]) with(value T) chain[T] { return chain[T]{&link[T]{value, c.last}, c.size + 1} }

// list is a new list of the values, nil without any.
func (c chain[T]) list() []T {
	if c.size == 0 {
		return nil
	}
	values, at := make([]T, c.size), c.last
	for i := c.size - 1; i >= 0; i-- {
		values[i], at = at.value, at.before
	}
	return values
}

// said is the context of one hook.
type said struct {
	run    int // which of the fold's runs it is of
	origin Origin
	limit  int64 // of the hook's own layer
	hook   string
	text   string
}

// shareContext cuts the context of all hooks to what there is room for, and
// returns it with the runs, which say what was cut. The machine's hooks are given
// room first, then the user's, then the project's, of projects that lie in one
// another the outer one's first: what a lower layer says, or
// sets as its limit, takes nothing from a higher one. Inside a layer each hook has
// a fair share, so that one cannot use up what others need. Built-in features have
// room of their own.
func (f Fold) shareContext() ([]HookText, []Run) {
	all, runs := f.context.list(), f.runs.list()
	if len(all) == 0 {
		return nil, runs
	}
	given := make([]int64, len(all))
	used := int64(0)
	for _, origin := range originsOf(all) {
		if origin.Layer.Rank() == Builtin.Rank() {
			used = 0
		}
		used += shareOrigin(all, origin, used, given)
	}
	texts := make([]HookText, 0, len(all))
	for i, s := range all {
		text := s.text
		if given[i] < int64(len(text)) {
			kept := cutAtLine(text, given[i])
			run := &runs[s.run]
			run.ContextBytes = len(kept)
			run.Warnings = append(slices.Clip(run.Warnings), fmt.Sprintf("context cut from %d to %d bytes: the limit of an event is %d, for all hooks together", len(text), len(kept), s.limit))
			text = kept + fmt.Sprintf("[hookd: the text of %s ends here; %d of its %d bytes found no room]", s.hook, len(text)-len(kept), len(text))
		}
		texts = append(texts, HookText{Hook: s.hook, Source: s.origin.Layer, Text: text})
	}
	return texts, runs
}

// originsOf are those of the hooks that said something, the highest first.
func originsOf(all []said) []Origin {
	var list []Origin
	for _, s := range all {
		if !slices.ContainsFunc(list, s.origin.level) {
			list = append(list, s.origin)
		}
	}
	slices.SortFunc(list, func(a, b Origin) int { return b.Compare(a) })
	return list
}

// level reports whether neither of two origins stands above the other.
func (o Origin) level(other Origin) bool { return o.Compare(other) == 0 }

// shareOrigin gives the hooks of one origin their shares of what higher ones left,
// and returns how much they took together.
func shareOrigin(all []said, origin Origin, used int64, given []int64) (taken int64) {
	var of []int
	limit := int64(0)
	for i := range all {
		if all[i].origin.level(origin) {
			of = append(of, i)
			limit = max(limit, all[i].limit)
		}
	}
	// Who wants least is served first: what it leaves of its share is for the others.
	slices.SortStableFunc(of, func(a, b int) int { return cmp.Compare(len(all[a].text), len(all[b].text)) })
	room := max(0, limit-used)
	for n, i := range of {
		given[i] = min(int64(len(all[i].text)), (room-taken)/int64(len(of)-n))
		taken += given[i]
	}
	return taken
}

// cutAtLine returns at most n bytes of a text, whole lines where there is one.
func cutAtLine(text string, n int64) string {
	cut := text[:n]
	if end := strings.LastIndexByte(cut, '\n'); end >= 0 {
		return cut[:end+1]
	}
	cut = strings.ToValidUTF8(cut, "")
	if cut != "" {
		cut += "\n"
	}
	return cut
}
