package agentloop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/hookd-dev/hookd/agentloop/internal/conversation"
	"github.com/hookd-dev/hookd/agentloop/internal/limits"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
	"golang.org/x/sync/semaphore"
)

// toolCalls are the tool calls of one step. Their tool-call-start gates are passed one
// after the other in the model's order, so that a stop always leaves the same calls not
// begun, and a person is asked one question at a time; the tools themselves run at the same
// time.
type toolCalls struct {
	agent  *agent
	events *events
	list   []*toolCall
	end    stepEnd

	byPerson bool // the person made the calls, so that the loop itself asks about none
}

// toolCall is one call on its way through the loop.
type toolCall struct {
	protocol.Call
	tool    tool.Tool // nil: unknown, or not offered to the model
	badArgs error     // the model's args cannot be read at all
	changed bool      // hooks changed the args
	kept    bool      // the changed args are those in the conversation
	began   time.Time
	begun   bool // tool-call-start was fired, so one more event follows
	result  protocol.Result
	context protocol.Content // appended to the result
	outcome string           // ok error blocked
	judged  bool             // tool-call-end was fired: there was a result
}

// newToolCalls returns the calls of an answer. It finds their tools among those that the
// model was offered.
func newToolCalls(e *events, answer *modelAnswer) *toolCalls {
	s := &toolCalls{agent: e.agent, events: e}
	for _, part := range conversation.Calls(answer.message) {
		t, description, known := e.agent.tools.Lookup(part.Name)
		c := &toolCall{badArgs: answer.badArgs[part.ToolCallID], Call: protocol.Call{
			ToolCallID: part.ToolCallID, Name: part.Name, Kind: description.Kind, Server: description.Server, Args: part.Args,
		}}
		if known && e.agent.tools.Allows(part.Name) && slices.ContainsFunc(answer.tools, func(o protocol.Tool) bool { return o.Name == part.Name }) {
			c.tool = t
		}
		s.list = append(s.list, c)
	}
	return s
}

// run runs the calls. Whatever happens, each has a result afterwards.
func (s *toolCalls) run(ctx context.Context) {
	atOnce := s.agent.session.Limits.ToolCalls
	if atOnce < 0 {
		atOnce = len(s.list)
	}
	slots := semaphore.NewWeighted(int64(atOnce))
	var running sync.WaitGroup
	for _, c := range s.list {
		if slots.Acquire(ctx, 1) != nil || ctx.Err() != nil || s.end.isSet() {
			break
		}
		if !s.admit(ctx, c) {
			slots.Release(1)
			continue
		}
		running.Go(func() {
			defer slots.Release(1)
			s.execute(ctx, c)
		})
	}
	running.Wait()
	for _, c := range s.list {
		if !c.begun { // only step-stop tells of it
			c.result, c.outcome = conversation.ErrorResult(s.end.notRun()), "blocked"
		}
	}
}

// admit asks hooks and the person whether a call may run. It returns true if the tool is to
// run; else the call has ended.
func (s *toolCalls) admit(ctx context.Context, c *toolCall) bool {
	c.began = time.Now()
	c.Touched = c.touches(c.Args)
	permissions := s.permissions(c)
	var allowedBefore askResolver
	switch {
	case s.byPerson:
		allowedBefore = allowedByCalling
	case c.tool != nil:
		allowedBefore = permissions.allowedBefore(&c.Call)
	}
	fired := protocol.ToolCallStartData{Call: c.Call, Parallel: len(s.list)}
	v, err := s.events.decideAndResolve(ctx, protocol.ToolCallStart, fired, allowedBefore, func(e *protocol.Event) {
		e.CheckArgs = func(args protocol.RawMessage) error { return s.agent.tools.Check(c.Name, args) }
		e.Touches = c.touches
	})
	if err == nil {
		s.events.show(ctx, v)
	}
	if errors.As(err, new(notFired)) {
		return false
	}
	c.begun = true
	hidden := false
	if err == nil {
		c.context = append(c.context, v.contextParts()...)
		hidden, err = c.takeArgs(v, fired)
	}
	if err != nil {
		s.endUndecided(ctx, c, err)
		return false
	}
	if hidden && !s.keepArgs(ctx, c) {
		return false
	}
	kind, byPerson := protocol.CallBlocked, false
	if v.Action == protocol.Ask {
		kind = protocol.CallDenied
		if v, byPerson, err = permissions.grant(ctx, &c.Call, v); err != nil {
			s.endUndecided(ctx, c, err)
			return false
		}
	}
	if !v.passed() {
		s.endRefused(ctx, c, kind, v)
		return false
	}
	if v.Replaced != nil && s.agent.tools.Allows(c.Name) { // a recipe without the tool has no hook in its place, either
		if s.keepArgs(ctx, c) {
			s.endReplaced(ctx, c, v)
		}
		return false
	}
	return s.checkReady(ctx, c) && (byPerson || s.byPerson || s.hasConsent(ctx, c)) && s.keepArgs(ctx, c)
}

func (s *toolCalls) permissions(c *toolCall) *permissions {
	return &permissions{s.agent.session, s.events, &c.context}
}

// takeArgs takes over the args that hooks changed. It reports whether a sensitive hook
// changed them, so that nobody reads what they were before.
func (c *toolCall) takeArgs(v *verdict, fired protocol.ToolCallStartData) (hidden bool, err error) {
	data, err := decided(v, fired)
	if err != nil {
		return false, err
	}
	if v.changes("args") {
		if c.Original = c.Args; v.ArgsHidden {
			c.Original, hidden = nil, true
		}
		c.Args, c.badArgs, c.changed = data.Args, nil, true
		if c.Touched = data.Touched; c.RealPath == "" { // a gate elsewhere cannot know
			c.Touched = c.touches(c.Args)
		}
	}
	if args := v.Redacted(); args != nil {
		c.Args, c.changed, hidden = args, true, true
	}
	return hidden, nil
}

// keepArgs records the args of a call that hooks changed in place of the model's, before it
// runs: the model reads later what ran, in this run or when the session is resumed. What a
// sensitive hook took away is not kept of a call that does not run, either.
func (s *toolCalls) keepArgs(ctx context.Context, c *toolCall) bool {
	if !c.changed || c.kept {
		return true
	}
	c.kept = true
	if err := s.agent.history.Record(store.Entry{Kind: store.Args, ToolCallID: c.ToolCallID, Args: c.Args}); err != nil {
		s.endUndecided(ctx, c, internal(err))
		return false
	}
	return true
}

// hasConsent asks the loop's own question about a call. It returns true if the call may run.
func (s *toolCalls) hasConsent(ctx context.Context, c *toolCall) bool {
	v, err := s.permissions(c).consent(ctx, &c.Call)
	switch {
	case err != nil:
		s.endUndecided(ctx, c, err)
		return false
	case v == nil:
		return true
	case !v.passed():
		s.endRefused(ctx, c, protocol.CallDenied, v)
		return false
	}
	return s.checkReady(ctx, c) // another call may have ended the run since
}

// endRefused ends a call that hooks or a person refused.
func (s *toolCalls) endRefused(ctx context.Context, c *toolCall, kind protocol.CallErrorKind, v *verdict) {
	if v.Action == protocol.Stop || s.agent.session.OnToolBlock == protocol.RuleStop {
		s.end.set(v.refusal(), v.by())
	}
	by := v.by()
	s.endWithError(ctx, c, protocol.CallError{Kind: kind, Text: v.RefusalText()}, &by)
}

// endReplaced ends a call with the result that a hook gave in the tool's place.
func (s *toolCalls) endReplaced(ctx context.Context, c *toolCall, v *verdict) {
	var result protocol.Result
	if err := json.Unmarshal(v.Replaced, &result, decodeOptions); err != nil {
		s.endUndecided(ctx, c, internal(fmt.Errorf("result of %s: %w", v.ReplacedBy, err)))
		return
	}
	s.endWithResult(ctx, c, result, true)
}

// checkReady checks that the tool is there, its args fit, and no other call ended the run while
// hooks were asked about this one.
func (s *toolCalls) checkReady(ctx context.Context, c *toolCall) bool {
	if s.end.isSet() {
		s.endWithError(ctx, c, protocol.CallError{Kind: protocol.CallBlocked, Text: s.end.notRun()}, &s.end.by)
		return false
	}
	if problem := c.problem(s.agent); problem != nil {
		s.endWithError(ctx, c, *problem, nil)
		return false
	}
	return true
}

// problem returns why the agent's tool cannot run the call, nil if it can.
func (c *toolCall) problem(a *agent) *protocol.CallError {
	problem := func(kind protocol.CallErrorKind, format string, args ...any) *protocol.CallError {
		return &protocol.CallError{Kind: kind, Text: fmt.Sprintf(format, args...)}
	}
	switch {
	case c.tool == nil && a.tools.Gone(c.Name):
		return problem(protocol.CallUnknownTool, "the tool %s is not there any more: what provides it has ended or offers it no longer", c.Name)
	case c.tool == nil && a.tools.Denied(c.Name):
		return problem(protocol.CallBlocked, "%s", a.tooDeep())
	case c.tool == nil:
		return problem(protocol.CallUnknownTool, "there is no tool named %q", c.Name)
	case c.badArgs != nil:
		return problem(protocol.CallBadArgs, "%v", c.badArgs)
	}
	if err := a.tools.Check(c.Name, c.Args); err != nil {
		return problem(protocol.CallBadArgs, "the args do not fit the tool's schema: %v", err)
	}
	return nil
}

// execute runs the tool, unless the run was aborted since its gate was passed.
func (s *toolCalls) execute(ctx context.Context, c *toolCall) {
	// The tool ends for questions when the end of its call was shown, so that nothing of
	// it is printed over a question.
	exclusion := &s.agent.session.exclusion
	if ctx.Err() != nil || exclusion.BeginTool(ctx) != nil {
		s.endWithError(ctx, c, aborted(ctx), nil)
		return
	}
	defer exclusion.EndTool()
	result, err := s.runTool(ctx, c)
	var known *tool.Error
	switch {
	case ctx.Err() != nil:
		problem := aborted(ctx)
		if errors.As(err, &known) && known.Kind == protocol.CallAborted { // what it waited for
			problem.Text += "; " + known.Text
		}
		s.endWithError(ctx, c, problem, nil)
	case errors.As(err, &known):
		s.endWithError(ctx, c, protocol.CallError{Kind: known.Kind, Text: known.Text}, nil)
	case err != nil:
		s.endWithError(ctx, c, protocol.CallError{Kind: protocol.CallFailed, Text: err.Error()}, nil)
	default:
		s.endWithResult(ctx, c, result, false)
	}
}

// touches returns what the tool would touch with some args.
func (c *toolCall) touches(args protocol.RawMessage) protocol.Touched {
	if files, is := c.tool.(tool.FileTool); is {
		return files.Touches(args)
	}
	return protocol.Touched{}
}

// runTool runs the tool. What it writes meanwhile is shown, unless a hook may still refuse
// or change the result, or the error that holds the output so far.
func (s *toolCalls) runTool(ctx context.Context, c *toolCall) (result protocol.Result, err error) {
	working := tool.WithAgent(tool.WithCallID(limits.InTool(s.events.withRunContext(ctx)), c.ToolCallID), s.agent.id.ID)
	if _, is := c.tool.(tool.FileTool); is {
		working = tool.WithTouched(working, c.Touched)
	}
	if !s.events.mayChange(protocol.ToolCallEnd, protocol.ToolCallEndData{Call: c.Call}) &&
		!s.events.mayChange(protocol.ToolCallError, protocol.ToolCallErrorData{Call: c.Call}) {
		output := &toolOutput{stream: s.events.stream, ctx: ctx, id: c.ToolCallID}
		defer output.end()
		working = tool.WithOutput(working, output.write)
	}
	defer func() {
		if p := recover(); p != nil { // a tool's panic must not end the program
			err = fmt.Errorf("the tool %s failed: %v", c.Name, p)
		}
	}()
	return c.tool.Run(working, c.Args)
}

// endWithResult lets hooks judge a result. What they leave of it is what the model reads and what
// is kept.
func (s *toolCalls) endWithResult(ctx context.Context, c *toolCall, result protocol.Result, synthetic bool) {
	if len(result.Content) == 0 {
		result.Content = protocol.TextContent("no content")
	}
	fired := protocol.ToolCallEndData{Call: c.Call, Result: result, DurationMs: protocol.Milliseconds(time.Since(c.began)), Synthetic: synthetic}
	c.judged = true
	v, err := s.events.fire(ctx, protocol.ToolCallEnd, fired)
	if errors.As(err, new(notFired)) {
		s.endWithError(ctx, c, aborted(ctx), nil)
		return
	}
	data := fired
	if err == nil {
		c.context = append(c.context, v.contextParts()...)
		data, err = decided(v, fired)
	}
	if err != nil { // not judged, so not shown
		c.result, c.outcome = conversation.ErrorResult("the result was withheld: "+err.Error()), "error"
		s.endRun(ctx, err)
		return
	}
	c.result, c.outcome = data.Result, "ok"
	switch {
	case !v.keepsResult():
		c.result, c.outcome = conversation.ErrorResult(v.RefusalText()), "blocked"
	case data.Result.IsError:
		c.outcome = "error"
	}
	if v.Action == protocol.Stop {
		s.end.set(v.refusal(), v.by())
	}
}

// endWithError ends a call without a result of its tool. The text, as hooks leave it, is what the model
// reads.
func (s *toolCalls) endWithError(ctx context.Context, c *toolCall, problem protocol.CallError, by *string) {
	c.outcome = "error"
	if by != nil {
		c.outcome = "blocked"
	}
	fired := protocol.ToolCallErrorData{Call: c.Call, Error: problem, BlockedBy: by, DurationMs: protocol.Milliseconds(time.Since(c.began))}
	data := fired
	v, err := s.events.fire(s.events.afterEnd(ctx), protocol.ToolCallError, fired)
	if err == nil {
		c.context = append(c.context, v.contextParts()...)
		data, err = decided(v, fired)
	}
	c.result = conversation.ErrorResult(data.Error.Text)
	switch {
	case err != nil:
		s.endRun(ctx, err)
	case v.Action == protocol.Stop:
		s.end.set(v.refusal(), v.by())
	}
}

// endUndecided ends a call about which the gate gave no decision, and the run with it.
func (s *toolCalls) endUndecided(ctx context.Context, c *toolCall, err error) {
	s.endRun(ctx, err)
	problem := protocol.CallError{Kind: protocol.CallFailed, Text: "not run: " + err.Error()}
	if ctx.Err() != nil {
		problem = aborted(ctx)
	}
	s.endWithError(ctx, c, problem, nil)
}

// endRun ends the run because a decision is missing, unless the context's end is the
// reason, which ends the run by itself.
func (s *toolCalls) endRun(ctx context.Context, err error) {
	if ctx.Err() == nil {
		s.end.set(err, "")
	}
}
