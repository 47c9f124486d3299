package protocol

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
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
	options     FoldOptions
	spec        *Spec
	first       Event // as the host fired it
	event       Event // with the changes so far
	decision    decision
	context     chain[said]
	notices     chain[HookText]
	followUp    followUp
	replacement replacement
	changes     changeLog
	runs        chain[Run]
}

// Begin starts the fold of an event, whose name must be in the table. The
// session's key is left out: no hook and no listener sees it.
func Begin(ev Event, options FoldOptions) Fold {
	if options.ContextLimit == 0 {
		options.ContextLimit = defaultContextSize
	}
	spec := ev.Spec()
	if spec == nil {
		spec = &Spec{Name: ev.Event, Kind: Notice}
	}
	ev.Event = spec.Name
	ev.Session.Key = ""
	return Fold{options: options, spec: spec, first: ev, event: ev, decision: decision{action: Observe}}
}

// Event is the event with the changes made so far.
func (f Fold) Event() Event { return f.event }

// Closed reports whether no further hook that may refuse or modify needs to be
// asked: the event is refused, and nothing may lift that.
func (f Fold) Closed() bool {
	return f.decision.action == Stop || f.decision.action == Block
}

// SoFar is what the hooks so far decided, as the next hook reads it.
func (f Fold) SoFar() OutcomeSoFar {
	return OutcomeSoFar{Action: f.decision.action, By: f.decision.hook(), Changed: f.changes.paths()}
}

// Outcome is what the answers so far come to.
func (f Fold) Outcome() Outcome {
	event, hidden, follow, replaced := f.event, f.changes.argsHidden, f.followUp, f.replacement
	if f.Closed() {
		follow, replaced = followUp{}, replacement{}
	}
	if f.decision.action == Block {
		// Changes made before a block stay in the record only. After a stop the
		// host may keep what the event announced (a tool's result): as changed.
		event, hidden = f.first, false
	}
	runs := f.runs.list()
	return Outcome{
		Action: f.decision.action, By: f.decision.hook(), Reason: f.decision.reason, Failure: f.decision.failure,
		ByExit: f.decision.byExit, Answered: f.decision.answered,
		Event: event, Context: shareContext(f.context.list(), runs), Notices: f.notices.list(),
		Messages: follow.messages, Callback: follow.callback, Replaced: replaced.value, ReplacedBy: replaced.by,
		ArgsHidden: hidden, Changes: f.changes.list, Conflicts: f.changes.conflicts,
		Generation: f.options.Generation, Runs: runs,
		changed: f.event,
	}
}

// ForHooks is the event with the changes made so far as the next hook reads it: with
// the model's own args where they differ.
func (f Fold) ForHooks() Event { return f.forHooks(f.event) }

func (f Fold) forHooks(ev Event) Event {
	if len(f.changes.list) == 0 {
		return ev
	}
	if asked := f.ModelArgs(); asked != nil && !f.changes.argsHidden && jsonspan.Get(ev.Data, memberOriginal) == nil {
		ev.Data = jsonspan.With(ev.Data, memberOriginal, asked)
	}
	return ev
}

// ObserversRead is an outcome's event as observers read it.
func (f Fold) ObserversRead(o *Outcome) Event {
	if o.Action == Block {
		return o.Event // as it came in
	}
	return f.forHooks(o.Event)
}

// ModelArgs are the args of a call as the model gave them, nil where no hook changed
// them. It tells them to hooks in Go also where a sensitive hook changed them.
func (f Fold) ModelArgs() RawMessage {
	if !f.spec.Tool {
		return nil
	}
	asked := jsonspan.Get(f.first.Data, memberOriginal)
	if asked == nil && len(f.changes.list) > 0 {
		asked = jsonspan.Get(f.first.Data, "args")
	}
	if asked == nil || jsonspan.Equal(asked, jsonspan.Get(f.event.Data, "args")) {
		return nil
	}
	return asked
}

// decision is the strongest answer so far, and whose it is.
type decision struct {
	action   Action
	by       string // the hook's name, "" while none has decided
	origin   Origin // of by
	reason   string
	failure  FailureKind // of by, where its rule decided
	byExit   bool
	answered *Answered
}

// or is the next decision if it is stronger than d, else d. If several ask, the
// one of the highest layer is named: a yes to a lower layer's question does not answer
// that one's.
func (d decision) or(next decision) decision {
	higher := next.action == Ask && d.action == Ask && next.origin.Compare(d.origin) > 0
	if strength(next.action) <= strength(d.action) && !higher {
		return d
	}
	return next
}

// hook is the name of the hook that decided, nil if none did.
func (d decision) hook() *string {
	if d.by == "" {
		return nil
	}
	return &d.by
}

// followUp is what the host does after the event: messages to add, a recipe to run.
type followUp struct {
	messages []Message
	callback *CallbackCall
}

// with adds messages, and a callback if there is none yet.
func (u followUp) with(messages []Message, call *CallbackCall, by string, run *Run) followUp {
	u.messages = append(slices.Clip(u.messages), messages...)
	switch {
	case call == nil:
	case u.callback != nil:
		run.warn("another callback was asked for already, by " + u.callback.By + "; this one is not run")
	default:
		mine := *call
		mine.By = by
		u.callback = &mine
	}
	return u
}

// replacement is the result or response in place of the work itself. The last
// modifier's stands.
type replacement struct {
	value RawMessage
	by    string
}

func (r replacement) or(reply Reply, by string) replacement {
	for _, value := range []RawMessage{reply.Result, reply.Response} {
		if value != nil {
			r = replacement{value, by}
		}
	}
	return r
}

// changeLog is who changed what of the event.
type changeLog struct {
	list       []Change
	conflicts  []Conflict
	argsHidden bool // a sensitive hook changed a call's args
}

// with adds an answer's changes, and warns of each that wrote a field which another
// hook had written. What features of the loop do to each other's fields is no conflict
// of anybody's hooks.
func (l changeLog) with(changes []Change, a *Answer, run *Run) changeLog {
	earlier := l.list
	l.list, l.conflicts = slices.Clip(l.list), slices.Clip(l.conflicts)
	for _, c := range changes {
		c.Source, c.Sensitive = a.Layer, a.Sensitive
		l.list = append(l.list, c)
		l.argsHidden = l.argsHidden || a.Sensitive && changesArgs(c)
		for _, e := range slices.Backward(earlier) {
			if !overlaps(c.Path, e.Path) {
				continue
			}
			l.conflicts = append(l.conflicts, Conflict{Path: c.Path, By: a.Name, Owner: e.By})
			if c.Source != Builtin || e.Source != Builtin {
				run.warn(fmt.Sprintf("changed %s, which %s of the %s layer had changed before: this later change stands", c.Path, e.By, e.Source))
			}
			break
		}
	}
	return l
}

// overlaps reports whether two JSON Pointers are equal or one lies in the other.
func overlaps(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// paths are the places that were changed, each once.
func (l changeLog) paths() []string {
	paths, known := []string{}, map[string]bool{}
	for _, c := range l.list {
		if !known[c.Path] {
			known[c.Path] = true
			paths = append(paths, c.Path)
		}
	}
	return paths
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

// shareContext cuts the context of all hooks to what there is room for, and has
// their runs say what was cut. The machine's hooks are given
// room first, then the user's, then the project's, of projects that lie in one
// another the outer one's first: what a lower layer says, or
// sets as its limit, takes nothing from a higher one. Inside a layer each hook has
// a fair share, so that one cannot use up what others need. Built-in features have
// room of their own.
func shareContext(all []said, runs []Run) []HookText {
	if len(all) == 0 {
		return nil
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
	return texts
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
