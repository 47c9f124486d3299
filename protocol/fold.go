package protocol

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
