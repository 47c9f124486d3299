package agentloop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/agentloop/internal/answer"
	"github.com/hookd-dev/hookd/agentloop/internal/conversation"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/forced"
)

// begin fires session-start once per session, then takes the prompt in and starts the
// agent.
func (r *agentRun) begin(ctx context.Context, prompt Prompt) error {
	if err := r.sessionStart(ctx); err != nil {
		return err
	}
	text, err := r.promptSubmit(ctx, prompt)
	if err != nil {
		return err
	}
	return r.agentStart(ctx, text)
}

func (r *agentRun) sessionStart(ctx context.Context) error {
	s, history := r.agent.session, r.agent.history
	if s.started {
		return s.startRefusal
	}
	s.started = true
	r.refreshTools(ctx, true)
	v, err := r.events.fire(ctx, protocol.SessionStart, protocol.SessionStartData{
		Source: s.Source, Model: s.Model.Name(), Tools: r.agent.tools.Names(),
	})
	if err != nil {
		s.started = false // the next prompt begins the session
		return err
	}
	if !v.passed() {
		end := &runEnd{cause: "blocked", message: "no run in this session: " + v.RefusalText(), by: v.by()}
		if v.Failure != "" {
			end.cause = "failure"
		}
		s.startRefusal = end
		return end
	}
	// A resumed session has the same context in its system text already.
	for _, part := range v.contextParts() {
		if !strings.Contains(history.System(), part.Text) {
			if err := history.SetSystem(strings.TrimLeft(history.System()+"\n\n"+part.Text, "\n")); err != nil {
				return internal(err)
			}
		}
	}
	return nil
}

// refreshTools takes in the tools that have come or gone.
func (r *agentRun) refreshTools(ctx context.Context, atAgentStart bool) {
	for _, complaint := range r.agent.tools.Refresh(atAgentStart) {
		r.events.notify(ctx, "error", complaint)
	}
}

// promptSubmit adds the prompt to the conversation and returns its text as it was decided.
func (r *agentRun) promptSubmit(ctx context.Context, prompt Prompt) (string, error) {
	fired := protocol.PromptSubmitData{Prompt: prompt.Text, Source: cmp.Or(prompt.Source, "user"), Attachments: prompt.Attachments}
	if fired.Attachments == nil {
		fired.Attachments = []protocol.Part{}
	}
	v, data, err := fireOrEnd(ctx, r.events, protocol.PromptSubmit, fired)
	if err != nil {
		return "", err
	}
	history, turn := r.agent.history, 0
	if err := history.Add(prompt.before...); err != nil {
		return "", internal(err)
	}
	if prompt.byUser() {
		turn = history.Turn() + 1
		*r.agent.forced = forced.Counts{}
	}
	message := conversation.Text(protocol.RoleUser, data.Prompt)
	message.Content = append(message.Content, prompt.Attachments...)
	message.Content = append(message.Content, prompt.context...)
	message.Content = append(message.Content, v.contextParts()...)
	return data.Prompt, internal(history.AddPrompt(message, turn))
}

func (r *agentRun) agentStart(ctx context.Context, prompt string) error {
	history, tools := r.agent.history, r.agent.tools
	r.refreshTools(ctx, true)
	fired := protocol.AgentStartData{
		Prompt: prompt, System: history.System(), Messages: history.Messages(), Tools: tools.Offered(), Model: r.agent.session.Model.Name(),
	}
	v, data, err := fireOrEnd(ctx, r.events, protocol.AgentStart, fired)
	if err != nil {
		return err
	}
	if err := history.SetSystem(data.System); err != nil {
		return internal(err)
	}
	if v.changes("tools") {
		if !tools.IsRestricted() { // the list of a recipe's run is no one else's
			if err := history.Record(store.Entry{Kind: store.Tools, Tools: data.Tools}); err != nil {
				return internal(err)
			}
		}
		tools.Change(fired.Tools, data.Tools)
	}
	return r.applyMessages(v, data.Messages)
}

// applyMessages puts the hooks' conversation in place if they changed it, and adds their
// context.
func (r *agentRun) applyMessages(v *verdict, messages []protocol.Message) error {
	if v.changes("messages") {
		if err := r.agent.history.Replace(messages); err != nil {
			return internal(err)
		}
	}
	return internal(r.agent.history.AddContext(v.contextParts()))
}

// step is one model call and the tool calls it asks for. It returns the reason (done
// length) when the model is done, "" when another step follows, and an error when the run
// ends otherwise.
func (r *agentRun) step(ctx context.Context) (reason string, err error) {
	if r.events.steps >= stepCeiling { // all other limits are hooks
		return "", &runEnd{cause: "limit", message: fmt.Sprintf("the run took %d steps, more than any run may", stepCeiling)}
	}
	if err := r.addPendingContext(); err != nil {
		return "", err
	}
	switch {
	case r.events.parent == nil:
		r.usage.BeginStep()
	case r.subAgent:
		r.stepNumber = r.usage.BeginSubAgentStep()
	}
	r.refreshTools(ctx, false)
	if err := r.stepStart(ctx); err != nil {
		return "", err
	}
	began := time.Now()
	answer, err := (&inference{agent: r.agent, events: r.events, subAgent: r.subAgent}).run(ctx)
	if err != nil {
		return "", err
	}
	r.pendingContext = append(r.pendingContext, answer.context...)
	calls, err := r.addAnswer(ctx, answer)
	if err != nil {
		return "", err
	}
	stop := protocol.StepStopData{
		Messages: r.agent.history.Messages(), Type: answer.kind(), Calls: calls.stepCalls(), DurationMs: protocol.Milliseconds(time.Since(began)),
	}
	if ctx.Err() != nil { // nothing follows from what hooks say
		r.events.fire(r.events.afterEnd(ctx), protocol.StepStop, stop)
		return "", context.Cause(ctx)
	}
	goOn, err := r.stepStop(ctx, stop, calls)
	switch {
	case calls.end.isSet(): // a stop in the step counts before one after it
		return "", calls.end.err
	case err != nil || goOn:
		return "", err
	case answer.finish == "length":
		return "length", nil
	default:
		return "done", nil
	}
}

// addPendingContext adds the context that waited for the next model call.
func (r *agentRun) addPendingContext() error {
	waiting := r.pendingContext
	r.pendingContext = nil
	return internal(r.agent.history.AddContext(waiting))
}

func (r *agentRun) stepStart(ctx context.Context) error {
	fired := protocol.StepStartData{Messages: r.agent.history.Messages(), StepsLeft: r.limits.StepsLeft(r.events.steps)}
	v, data, err := fireOrEnd(ctx, r.events, protocol.StepStart, fired)
	if err != nil {
		return err
	}
	if err := r.applyMessages(v, data.Messages); err != nil {
		return err
	}
	return r.runRecipes(ctx)
}

func (a *modelAnswer) kind() string { return answer.Kind(a.message) }

// addAnswer adds an answer to the conversation, runs its tool calls, and adds their
// results as one message, in the order of the calls.
func (r *agentRun) addAnswer(ctx context.Context, answer *modelAnswer) (*toolCalls, error) {
	history := r.agent.history
	r.result.Response = answer.message.Content.Text()
	if len(answer.message.Content) > 0 { // no model accepts an empty message
		if err := history.Add(answer.message); err != nil {
			return nil, internal(errors.Join(err, history.AddMissingResults())) // its calls are not run
		}
	}
	calls := newToolCalls(r.events, answer)
	if len(calls.list) == 0 {
		return calls, nil
	}
	r.agent.forced.ToolCalled()
	r.calls.Store(calls)
	defer r.calls.Store(nil)
	calls.run(ctx)
	var content protocol.Content
	for _, c := range calls.list {
		if c.kept {
			history.ReplaceArgs(c.ToolCallID, c.Args)
		}
		content = append(content, conversation.ResultPart(c.ToolCallID, c.result, c.context))
	}
	return calls, internal(history.Add(protocol.Message{Role: protocol.RoleTool, Content: content}))
}

// stepStop ends a step. It reports whether another step follows.
func (r *agentRun) stepStop(ctx context.Context, fired protocol.StepStopData, calls *toolCalls) (goOn bool, err error) {
	v, err := r.events.fire(ctx, protocol.StepStop, fired)
	if err != nil {
		return false, err
	}
	r.pendingContext = append(r.pendingContext, v.contextParts()...)
	if v.changes("messages") {
		data, err := decided(v, fired)
		if err == nil {
			err = internal(r.agent.history.Replace(data.Messages))
		}
		if err != nil {
			return false, err
		}
	}
	if err := v.refusal(); err != nil || calls.end.isSet() {
		return false, err
	}
	if err := r.runRecipes(ctx); err != nil {
		return false, err
	}
	if fired.Type == "tools" {
		return true, internal(r.agent.history.Add(v.continuation()...))
	}
	return r.forceOn(ctx, v)
}

// agentStop asks whether the agent may stop, which it is about to do by itself.
func (r *agentRun) agentStop(ctx context.Context, reason string) (goOn bool, err error) {
	fired := protocol.AgentStopData{
		Reason: reason, Response: r.result.Response, Messages: r.agent.history.Messages(),
		Continued: r.agent.forced.All.Row, ContinuedTotal: r.agent.forced.All.Total,
	}
	v, err := r.events.fire(ctx, protocol.AgentStop, fired)
	if err != nil {
		return false, err
	}
	if v.Action == protocol.Stop || v.Failure != "" {
		return false, v.refusal()
	}
	if v.changes("messages") {
		data, err := decided(v, fired)
		if err == nil {
			err = internal(r.agent.history.Replace(data.Messages))
		}
		if err != nil {
			return false, err
		}
	}
	if err := r.runRecipes(ctx); err != nil {
		return false, err
	}
	goOn, err = r.forceOn(ctx, v)
	if err == nil && goOn {
		err = internal(r.agent.history.AddContext(v.contextParts()))
	} else if err == nil {
		r.events.contextDropped(ctx, v.contextParts())
	}
	return goOn, err
}

// forceOn makes the agent go on if hooks want that and the limits allow it: it adds their
// messages and counts a forced continuation.
func (r *agentRun) forceOn(ctx context.Context, v *verdict) (forced bool, err error) {
	messages := v.continuation()
	if len(messages) == 0 || !r.countForced(ctx, v) {
		return false, nil
	}
	if err := r.addPendingContext(); err != nil {
		return false, err
	}
	return true, internal(r.agent.history.Add(messages...))
}

// countForced counts one more forced continuation. It returns false, and tells the person
// why, if the limits allow none.
func (r *agentRun) countForced(ctx context.Context, v *verdict) bool {
	reached := r.agent.forced.Add(v.ContinuedBy(), r.agent.session.Limits.forced)
	if reached != nil {
		r.events.notify(ctx, "hook", "the run stops although a hook wants it to go on: "+reached.String())
	}
	return reached == nil
}

// stepCalls returns the calls as step-stop tells of them.
func (s *toolCalls) stepCalls() []protocol.StepCall {
	list := make([]protocol.StepCall, len(s.list))
	for i, c := range s.list {
		list[i] = protocol.StepCall{Call: c.Call, Outcome: c.outcome}
	}
	return list
}
