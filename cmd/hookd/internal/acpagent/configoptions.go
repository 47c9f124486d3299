package acpagent

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/conversation"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/peer"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// mode is what the person lets run without the loop's own question, as with --allow. Hooks decide
// in every mode, and what the machine's settings leave to a person is asked in every mode.
type mode struct {
	acp.Mode
	allows []toolname.Allowed
}

var modes = []mode{
	{acp.Mode{ID: "ask", Name: "Ask", Description: "Commands, changes of files and tools of servers ask before they run, as your settings say"}, nil},
	{acp.Mode{ID: "edit", Name: "Edit without asking", Description: "Files of the session's folders are changed without asking; all else asks. Hooks still decide"}, allowed("write")},
	{acp.Mode{ID: "run", Name: "Run without asking", Description: "Everything runs without asking. Hooks still decide, and ask"}, allowed("shell", "write", "mcp", "net", "other")},
}

func allowed(words ...string) (list []toolname.Allowed) {
	for _, word := range words {
		a, err := toolname.ParseAllowed(word)
		if err != nil {
			panic(err) // a test makes all modes
		}
		list = append(list, a)
	}
	return list
}

// choices are what a client may choose for a session while it goes on: its mode and its model.
type choices struct {
	mode atomic.Pointer[mode]

	mu   sync.Mutex // of the model
	c    *conversation.Conversation
	next model.Model // that answers after the turn; nil: as now
}

// choice is a row of the table of what there is to choose.
type choice struct {
	id  string
	now func(*choices) acp.ConfigOption
	set func(c *choices, value string, during *turn) error
}

const modeOption, modelOption = "mode", "model"

// choiceTable is in the order in which a client shows it.
var choiceTable = []choice{
	{modeOption, (*choices).modeNow, func(c *choices, id string, _ *turn) error { return c.enterMode(id) }},
	{modelOption, (*choices).modelNow, (*choices).chooseModel},
}

// options are what a client may choose, as it is now.
func (c *choices) options() (list []acp.ConfigOption) {
	for i := range choiceTable {
		list = append(list, choiceTable[i].now(c))
	}
	return list
}

// news tells the client of a change that it has not asked for as one of an option.
func (c *choices) news() *acp.OptionNews {
	return &acp.OptionNews{Kind: acp.OptionsChanged, ConfigOptions: c.options()}
}

// modeState is what a client is told of the modes that knows no options.
func (c *choices) modeState() *acp.ModeState {
	state := &acp.ModeState{CurrentModeID: c.mode.Load().ID}
	for i := range modes {
		state.AvailableModes = append(state.AvailableModes, modes[i].Mode)
	}
	return state
}

func (c *choices) modeNow() acp.ConfigOption {
	o := acp.ConfigOption{
		ID: modeOption, Name: "Mode", Category: "mode", Type: "select", CurrentValue: c.mode.Load().ID,
		Description: "What runs without asking",
	}
	for i := range modes {
		o.Options = append(o.Options, acp.ConfigChoice{Value: modes[i].ID, Name: modes[i].Name, Description: modes[i].Description})
	}
	return o
}

func (c *choices) enterMode(id string) error {
	var known []string
	for i := range modes {
		if modes[i].ID == id {
			c.mode.Store(&modes[i])
			return nil
		}
		known = append(known, modes[i].ID)
	}
	return rpc.Errorf(rpc.InvalidParams, "hookd has no mode %.100q, it has: %s", id, strings.Join(known, ", "))
}

func (c *choices) modelNow() acp.ConfigOption {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := acp.ConfigOption{
		ID: modelOption, Name: "Model", Category: "model", Type: "select", CurrentValue: c.model(),
		Description: "Which model answers, from the next prompt on",
	}
	for _, name := range c.c.Models() {
		o.Options = append(o.Options, acp.ConfigChoice{Value: name, Name: show.Line(name)})
	}
	return o
}

// model is the name of the model that answers the next prompt. The lock must be held.
func (c *choices) model() string {
	if c.next != nil {
		return model.Origin(c.next)
	}
	return model.Origin(c.c.Model)
}

// chooseModel lets another model answer the next prompt: one that is offered, or any that /model
// takes. during is the turn during which it was chosen, nil if none ran: it ends with the model
// that it began with.
func (c *choices) chooseModel(name string, during *turn) error {
	if name == "" {
		return rpc.Errorf(rpc.InvalidParams, "the value must name a model, as anthropic:NAME does").With("path", "/value")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m, err := c.c.ChooseModel(name)
	if err != nil {
		failure := failureOf(err)
		if failure.Code == rpc.InternalError {
			failure.Code = rpc.InvalidParams
		}
		return failure
	}
	if during.goesOn() {
		c.next = m
		return nil
	}
	c.next = nil
	return c.c.UseModel(m)
}

// useNext lets the model answer that was chosen during the turn that has ended.
func (c *choices) useNext() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.next
	if c.next = nil; m == nil {
		return nil
	}
	return c.c.UseModel(m)
}

// change is a change of a session's options. It has a place among the session's prompts: those
// that came before it do not see it, and those that come after it wait for it.
type change struct {
	during *turn         // that the session worked on; nil: none
	before chan struct{} // closed when the change before it is made; nil: there was none
	made   chan struct{} // closed when this one is made, or refused
}

func (s *session) beginChange() *change {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &change{during: s.turn, before: s.settled, made: make(chan struct{})}
	s.settled = c.made
	return c
}

// end lets go on what waits for a change: it waits for those before it, too, also after the client
// has taken this one back.
func (c *change) end() {
	await(context.Background(), c.before)
	close(c.made)
}

// await waits for a change; made is nil if there is none. It reports false if ctx ends before.
func await(ctx context.Context, made <-chan struct{}) bool {
	if made == nil {
		return true
	}
	select {
	case <-made:
		return true
	case <-ctx.Done():
		return false
	}
}

// setConfigOption changes one option, and answers with all of them.
func (a *Agent) setConfigOption(r *peer.Request, params *acp.SetConfigParams) {
	value, isText := params.Value.(string)
	if !isText {
		r.Fail(rpc.Errorf(rpc.InvalidParams, "the value of %.100q must be the text of one of its choices", params.ConfigID).With("path", "/value"))
		return
	}
	a.change(r, params.SessionID, params.ConfigID, value, func(s *session) any {
		if params.ConfigID == modeOption {
			s.show(s.ctx, &acp.ModeNews{Kind: acp.ModeChanged, CurrentModeID: s.choices.mode.Load().ID})
		}
		return &acp.SetConfigResult{ConfigOptions: s.choices.options()}
	})
}

// setMode changes the mode for a client that knows no options.
func (a *Agent) setMode(r *peer.Request, params *acp.SetModeParams) {
	a.change(r, params.SessionID, modeOption, params.ModeID, func(s *session) any {
		s.show(s.ctx, s.choices.news())
		return acp.Empty{}
	})
}

// change changes an option of a session, in the background: the session may still be being opened.
// told tells the client what else has changed by that, and returns the answer.
func (a *Agent) change(r *peer.Request, id, option, value string, told func(*session) any) {
	s := a.sessions.find(id)
	if s == nil {
		r.Fail(noSession(id))
		return
	}
	c := s.beginChange()
	a.work.Go(func() {
		defer c.end()
		if !await(r.Context(), c.before) || !s.wait(r.Context()) {
			r.Fail(s.unusable(r.Context()))
			return
		}
		for i := range choiceTable {
			if choiceTable[i].id != option {
				continue
			}
			if err := choiceTable[i].set(&s.choices, value, c.during); err != nil {
				r.Fail(failureOf(err))
				return
			}
			r.Answer(told(s))
			return
		}
		r.Fail(rpc.Errorf(rpc.InvalidParams, "hookd has no option %.100q; it has %s and %s", option, modeOption, modelOption).With("path", "/configId"))
	})
}
