package agentloop

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/internal/conversation"
	"github.com/hookd-dev/hookd/agentloop/internal/gohooks"
	"github.com/hookd-dev/hookd/agentloop/internal/limits"
	"github.com/hookd-dev/hookd/agentloop/internal/toolset"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/recipe"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/forced"
)

// Gate decides events; see [protocol.EventGate].
type Gate = protocol.EventGate

// Provider is one feature of the loop; see [provider.Provider].
type Provider = provider.Provider

// Options describe a loop. Model is needed; the zero value of all else is useful.
type Options struct {
	Gate  Gate // asks the hooks; nil: only those of the providers are asked
	Model model.Model
	Tools []tool.Tool

	// Providers are features of the loop besides [builtin.Defaults], which limit a run
	// in steps, tokens, time and retries. A provider with the name of a default one
	// takes its place; NoDefaults leaves them out, so that only the ceilings bound a run
	// (1,000 steps, 101 tries of a model call). The providers' hooks join the gate,
	// which must take Go hooks then, and their tools join Tools.
	Providers  []Provider
	NoDefaults bool

	// Sources have tools that are not there from the beginning, or not to the end;
	// see [tool.Source].
	Sources []tool.Source

	Session *store.Session // open and not used elsewhere; the caller closes it. nil: kept in memory only
	Source  string         // of session-start: startup resume fork; default by what Session holds
	System  string         // the system text; one in the session counts before it

	Project string         // absolute path of the project root, "" without one
	Cwd     string         // absolute path; default: Project
	Agent   protocol.Agent // default: main, depth 0, host hookd

	Params     protocol.Params // of every model call
	Compaction Compaction

	Consent         Consent       // which calls need a person's yes although no hook asks
	Approver        Approver      // nil: every question is answered no
	ApprovalTimeout time.Duration // after which a question is answered no; 0: none

	Recipes *recipe.Library // that hooks and people can ask for; nil: those that come with the program

	Limits      Limits
	OnToolBlock protocol.Rule // RuleStop: a refused tool call ends the run with agent-error
}

// Compaction is when and how the conversation is compacted.
type Compaction struct {
	protocol.Compaction // as events show it

	// KeepFirst and KeepLast are how many messages at the beginning and at the end a
	// compaction leaves as they are. Whatever they say, the first user message stays,
	// prompts that nobody has answered yet, and tool calls that have no result.
	KeepFirst, KeepLast int
}

// Limits are those of the loop itself. How long a run may take, and how many steps,
// tokens and retries it has, its providers say. 0 is the default.
type Limits struct {
	ToolCalls   int // tool calls at once; default 4, negative: as many as the model asks for
	Forced      int // forced continuations in a row without a tool call; 0: 5, negative: none
	ForcedTotal int // forced continuations since the last user prompt; 0: 20, negative: none
	// ForcedOf returns both numbers for the hooks of one origin, which are counted by
	// themselves: 0 is none. nil: Forced and ForcedTotal for each.
	ForcedOf func(origin protocol.Origin) (row, total int)
	Depth    int // how deep sub-agents may start sub-agents; default 3, negative: none at all
}

// stepCeiling is the number of steps that no run exceeds, whatever hooks and settings say.
const stepCeiling = 1000

func (l *Limits) depth() int { return max(l.Depth, 0) }

// forced returns how often the hooks of an origin may force the agent on.
func (l *Limits) forced(origin protocol.Origin) forced.Count {
	if l.ForcedOf == nil {
		return forced.Count{Row: l.Forced, Total: l.ForcedTotal}
	}
	row, total := l.ForcedOf(origin)
	return forced.Count{Row: row, Total: total}
}

// setDefaults fills in what the caller left out.
func (o *Options) setDefaults() error {
	if o.Model == nil {
		return errors.New("a model is needed")
	}
	if o.Gate == nil {
		o.Gate = &gohooks.Gate{}
	}
	o.Approver = oneAtATime(o.Approver)
	o.Cwd = cmp.Or(o.Cwd, o.Project)
	o.Agent.ID = cmp.Or(o.Agent.ID, "main")
	o.Agent.Host = cmp.Or(o.Agent.Host, "hookd")
	if o.Recipes == nil {
		o.Recipes, _ = recipe.New() // a test asserts that our own have no fault
	}
	l := &o.Limits
	l.ToolCalls = cmp.Or(l.ToolCalls, 4)
	l.Forced = cmp.Or(l.Forced, 5)
	l.ForcedTotal = cmp.Or(l.ForcedTotal, 20)
	l.Depth = cmp.Or(l.Depth, 3)
	return nil
}

// providers returns the defaults that the caller does not replace, and what the caller
// gave.
func (o *Options) providers() []Provider {
	if o.NoDefaults {
		return o.Providers
	}
	replaced := func(p Provider) bool {
		return slices.ContainsFunc(o.Providers, func(own Provider) bool { return own.Name == p.Name })
	}
	return append(slices.DeleteFunc(builtin.Defaults(), replaced), o.Providers...)
}

// session is what all agents of a loop share.
type session struct {
	Options
	id              protocol.Session
	sequence        *sequence
	exclusion       limits.Exclusion
	answerListeners []answerListener // of the providers
	started         bool             // session-start was fired
	startRefusal    error            // session-start was refused: no run in this session
}

// newSession lets the providers' hooks join the gate and their tools the others.
func newSession(o Options) (*session, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	s := &session{Options: o, sequence: newSequence(), id: protocol.Session{ID: protocol.NewID()}}
	if o.Session != nil {
		s.id = protocol.Session{ID: o.Session.ID(), Transcript: o.Session.Path()}
	}
	var hooks []protocol.GoHook
	s.Tools = slices.Clone(s.Tools)
	for _, p := range o.providers() {
		hooks = append(hooks, p.Hooks...)
		s.Tools = append(s.Tools, p.Tools...)
		if p.OnAnswer != nil {
			s.answerListeners = append(s.answerListeners, p.OnAnswer)
		}
	}
	if len(hooks) == 0 {
		return s, nil
	}
	extended, err := s.Gate.Extend(hooks...)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, fmt.Errorf("the gate (%T) takes no Go hooks, so the providers' hooks, the default limits among them, cannot join it: "+
			"use a gate that takes them, such as that of hookd.Static; or set Options.NoDefaults and give no providers, "+
			"and have the gate's own hooks limit the run", o.Gate)
	}
	s.Gate = extended
	return s, err
}

// agent is one agent of a session: its own, a sub-agent, or one that runs a recipe.
type agent struct {
	session *session
	id      protocol.Agent // as events name it
	history *conversation.History
	tools   *toolset.Set
	forced  *forced.Counts

	params     protocol.Params     // of model calls
	compaction protocol.Compaction // as events show it

	depth    int                                       // below the session's own agent
	recipe   string                                    // that it runs, or works for; "" if none
	notAsked map[protocol.EventName][]protocol.HookRef // hooks that are not asked about its events
}

// newAgent returns the session's own agent.
func newAgent(s *session) (*agent, error) {
	tools, err := toolset.New(s.Tools, s.Sources)
	if err != nil {
		return nil, err
	}
	a := &agent{
		session: s, id: s.Agent, history: conversation.New(s.System, 0), tools: tools, forced: &forced.Counts{},
		params: s.Params, compaction: s.Compaction.Compaction,
	}
	a.denySubAgents()
	if s.Session == nil {
		return a, nil
	}
	if state := s.Session.State(); state.Tools != nil {
		a.tools.Restore(state.Tools)
	}
	a.history, err = conversation.Open(s.Session, s.System)
	return a, err
}

// child returns an agent that works for this one: on the same gate, in the same session
// and with the same sequence of events. It is never written to the session's file.
func (a *agent) child(history *conversation.History) *agent {
	c := *a
	parent := a.id.ID
	c.id.ID, c.id.Parent = protocol.NewID(), &parent
	c.id.Depth++
	c.depth++
	c.history, c.tools, c.forced = history, a.tools.Snapshot(), &forced.Counts{}
	c.denySubAgents()
	return &c
}

// forRecipe makes the agent run a recipe: it has no tools but the named ones.
func (a *agent) forRecipe(rec *recipe.Recipe) {
	a.recipe = rec.Name
	a.restrict(rec.AllowedTools)
}

// restrict takes all tools away but the named ones.
func (a *agent) restrict(names []string) {
	a.tools = a.tools.Restricted(names)
	if len(a.tools.Offered()) == 0 {
		a.params.ToolChoice = nil // it would ask for a tool that is not there
	}
}

// skipHook keeps a hook from being asked about events of a name.
func (a *agent) skipHook(event protocol.EventName, hook protocol.HookRef) {
	a.notAsked = maps.Clone(a.notAsked)
	if a.notAsked == nil {
		a.notAsked = map[protocol.EventName][]protocol.HookRef{}
	}
	a.notAsked[event] = append(slices.Clip(a.notAsked[event]), hook)
}

// isDeepest reports whether the agent is too deep to start a sub-agent.
func (a *agent) isDeepest() bool { return a.depth >= a.session.Limits.depth() }

func (a *agent) denySubAgents() {
	if a.isDeepest() {
		a.tools.Deny(builtin.SpawnSubagent)
	}
}

// tooDeep is what the model reads when an agent may start no sub-agent.
func (a *agent) tooDeep() string {
	return fmt.Sprintf("no sub-agent was started: sub-agents may be %d deep and this agent is %d deep already; do the work yourself", a.session.Limits.depth(), a.depth)
}

// render finds the recipe that a hook of a layer names, and puts arguments into its text. A person, and the loop itself, is of the layer built-in.
func (a *agent) render(layer protocol.Layer, name string, args map[string]string) (*recipe.Recipe, string, error) {
	rec, err := a.session.Recipes.For(layer, name)
	if err != nil {
		return nil, "", err
	}
	text, err := rec.Render(args)
	return rec, text, err
}

// Consent is the loop's own question: a call that no hook asks about may still need a
// person's yes. It goes the way of a hook's question, with permission-request, and is asked
// by "policy". A hook of the user or of the machine may answer it, one of a project may
// only refuse. The zero value asks about nothing.
type Consent struct {
	// Asks reports whether a person is asked about a call before it runs; if not, because
	// somebody allowed it beforehand, by whom. It is given the call as it will run. nil:
	// never.
	Asks func(call *protocol.Call) (asks bool, allowed *protocol.Answered)

	// Remedy says how a call of that kind is allowed if nobody is there to ask. The model
	// and the person read it.
	Remedy func(call *protocol.Call) string
}

// answerListener hears a person's answers; see [provider.Provider].
type answerListener = func(session string, request protocol.PermissionRequestData, option protocol.PermissionOption)

// sequence gives the events of a session their numbers, from 1 on each time that it is
// opened. All agents of the session share it.
type sequence struct {
	epoch int64 // when the session was opened; see [protocol.Event]

	mu   sync.Mutex
	last int64 // the last number given out
}

func newSequence() *sequence { return &sequence{epoch: time.Now().UnixNano()} }

// next hands out the next number. No other is handed out before use has returned.
func (s *sequence) next(use func(seq int64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	use(s.last)
}

func (s *sequence) latest() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}
