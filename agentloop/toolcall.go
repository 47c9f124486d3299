package agentloop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// newCall looks a call's tool up among those that the model was offered.
func (l *Loop) newCall(part protocol.Part, a *answer) *toolCall {
	t, description, known := l.tools.registry.Lookup(part.Name)
	c := &toolCall{Call: protocol.Call{
		ToolCallID: part.ToolCallID, Name: part.Name, Kind: description.Kind, Server: description.Server, Args: part.Args,
	}}
	if known && l.tools.allows(part.Name) && slices.ContainsFunc(a.tools, func(o protocol.Tool) bool { return o.Name == part.Name }) {
		c.tool = t
	}
	c.gone = c.tool == nil && l.tools.gone(part.Name)
	c.badArgs = a.badArgs[part.ToolCallID]
	return c
}

// startCall asks whether a call may run. It returns true if the work is to be
// done; else the call is over.
func (r *Run) startCall(ctx context.Context, b *batch, c *toolCall) bool {
	c.began = time.Now()
	c.Touched = c.touches(c.Args)
	fired := protocol.ToolCallStartData{Call: c.Call, Parallel: c.parallel}
	v, err := r.settled(ctx, protocol.ToolCallStart, fired, r.beforehand(c), func(e *protocol.Event) {
		e.CheckArgs = func(args protocol.RawMessage) error { return r.loop.tools.registry.Check(c.Name, args) }
		e.Touches = c.touches
	})
	if err == nil {
		r.tell(ctx, v)
	}
	if errors.As(err, new(unfired)) {
		return false
	}
	c.begun = true
	if err != nil {
		r.callLost(ctx, b, c, err)
		return false
	}
	c.context = append(c.context, v.contextParts()...)
	data, err := decided(v, fired)
	if err != nil {
		r.callLost(ctx, b, c, err)
		return false
	}
	if v.changes("args") {
		if c.Original = c.Args; v.ArgsHidden {
			c.Original, c.hidden = nil, true
		}
		c.Args, c.badArgs, c.changed = data.Args, nil, true
		if c.Touched = data.Touched; c.RealPath == "" { // a gate elsewhere cannot know
			c.Touched = c.touches(c.Args)
		}
	}
	if args := v.Redacted(); args != nil {
		c.Args, c.changed, c.hidden = args, true, true
	}
	if c.hidden && !r.keepArgs(ctx, b, c) {
		return false
	}
	kind, byPerson := protocol.CallBlocked, false
	if v.Action == protocol.Ask {
		kind = protocol.CallDenied
		if v, byPerson, err = r.permission(ctx, c, v); err != nil {
			r.callLost(ctx, b, c, err)
			return false
		}
	}
	if !v.passed() {
		r.callRefused(ctx, b, c, kind, v)
		return false
	}
	if v.Replaced != nil && r.loop.tools.allows(c.Name) { // a recipe without the tool has no hook in its place, too
		if r.keepArgs(ctx, b, c) {
			r.callReplaced(ctx, b, c, v)
		}
		return false
	}
	return r.callReady(ctx, b, c) && (byPerson || r.consented(ctx, b, c)) && r.keepArgs(ctx, b, c)
}

// keepArgs keeps the args of a call that hooks changed in place of the model's, before
// it runs: what ran is what the model reads of it later, in this run or when the
// session is resumed. What a sensitive hook took away is not kept of a call either that
// does not run.
func (r *Run) keepArgs(ctx context.Context, b *batch, c *toolCall) bool {
	if !c.changed || c.kept {
		return true
	}
	c.kept = true
	if err := r.loop.keep(store.Entry{Kind: store.Args, ToolCallID: c.ToolCallID, Args: c.Args}); err != nil {
		r.callLost(ctx, b, c, internal(err))
		return false
	}
	return true
}

// callRefused ends a call that hooks or a person refused.
func (r *Run) callRefused(ctx context.Context, b *batch, c *toolCall, kind protocol.CallErrorKind, v *verdict) {
	if v.Action == protocol.Stop || r.loop.options.OnToolBlock == protocol.RuleStop {
		b.stop(v.refusal(), v.by())
	}
	by := v.by()
	r.callError(ctx, b, c, protocol.CallError{Kind: kind, Text: v.told()}, &by)
}

// callReplaced ends a call that a hook answered in the tool's place.
func (r *Run) callReplaced(ctx context.Context, b *batch, c *toolCall, v *verdict) {
	var result protocol.Result
	if err := json.Unmarshal(v.Replaced, &result, decodeOptions); err != nil {
		r.callLost(ctx, b, c, internal(fmt.Errorf("result of %s: %w", v.ReplacedBy, err)))
		return
	}
	r.callEnd(ctx, b, c, result, true)
}

// callReady checks that the tool is there, its args fit, and no other call ended
// the run while hooks were asked about this one.
func (r *Run) callReady(ctx context.Context, b *batch, c *toolCall) bool {
	problem := protocol.CallError{}
	by := (*string)(nil)
	switch {
	case b.stopped():
		problem = protocol.CallError{Kind: protocol.CallBlocked, Text: b.notRun()}
		by = &b.by
	case c.gone:
		problem = protocol.CallError{Kind: protocol.CallUnknownTool, Text: fmt.Sprintf("the tool %s is not there any more: what provides it has ended or offers it no longer", c.Name)}
	case c.tool == nil && c.Name == builtin.SpawnSubagent && r.loop.tools.last:
		problem = protocol.CallError{Kind: protocol.CallBlocked, Text: r.loop.tooDeep()}
	case c.tool == nil:
		problem = protocol.CallError{Kind: protocol.CallUnknownTool, Text: fmt.Sprintf("there is no tool named %q", c.Name)}
	case c.badArgs != nil:
		problem = protocol.CallError{Kind: protocol.CallBadArgs, Text: c.badArgs.Error()}
	default:
		err := r.loop.tools.registry.Check(c.Name, c.Args)
		if err == nil {
			return true
		}
		problem = protocol.CallError{Kind: protocol.CallBadArgs, Text: fmt.Sprintf("the args do not fit the tool's schema: %v", err)}
	}
	r.callError(ctx, b, c, problem, by)
	return false
}

// work runs the tool, unless the run was aborted since its gate was passed.
func (r *Run) work(ctx context.Context, b *batch, c *toolCall) {
	if ctx.Err() != nil {
		r.callError(ctx, b, c, aborted(ctx), nil)
		return
	}
	// Until the call has ended and was told, so that nothing of it is printed over a question.
	if err := r.loop.options.floor.enter(ctx); err != nil {
		r.callError(ctx, b, c, aborted(ctx), nil)
		return
	}
	defer r.loop.options.floor.leave()
	result, err := r.runTool(ctx, c)
	var known *tool.Error
	switch {
	case ctx.Err() != nil:
		problem := aborted(ctx)
		if errors.As(err, &known) && known.Kind == protocol.CallAborted { // what it waited for
			problem.Text += "; " + known.Text
		}
		r.callError(ctx, b, c, problem, nil)
	case errors.As(err, &known):
		r.callError(ctx, b, c, protocol.CallError{Kind: known.Kind, Text: known.Text}, nil)
	case err != nil:
		r.callError(ctx, b, c, protocol.CallError{Kind: protocol.CallFailed, Text: err.Error()}, nil)
	default:
		r.callEnd(ctx, b, c, result, false)
	}
}

// touches is what the tool would touch with some args.
func (c *toolCall) touches(args protocol.RawMessage) protocol.Touched {
	if files, is := c.tool.(tool.FileTool); is {
		return files.Touches(args)
	}
	return protocol.Touched{}
}

// runTool runs the tool. What it puts out meanwhile is shown, unless a hook may
// still refuse or change the result.
func (r *Run) runTool(ctx context.Context, c *toolCall) (protocol.Result, error) {
	working := tool.WithAgent(tool.WithCallID(onFloor(r.hosting(ctx)), c.ToolCallID), r.loop.options.Agent.ID)
	if _, is := c.tool.(tool.FileTool); is {
		working = tool.WithTouched(working, c.Touched)
	}
	if !r.holdsResult(c) {
		output := &toolOutput{run: r, ctx: ctx, id: c.ToolCallID}
		defer output.end()
		working = tool.WithOutput(working, output.show)
	}
	return runRecovered(working, c)
}

// runRecovered keeps a tool's panic from taking the program down.
func runRecovered(ctx context.Context, c *toolCall) (result protocol.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the tool %s failed: %v", c.Name, p)
		}
	}()
	return c.tool.Run(ctx, c.Args)
}

// callEnd lets hooks judge a result. What they leave of it is what the model
// reads and what is kept.
func (r *Run) callEnd(ctx context.Context, b *batch, c *toolCall, result protocol.Result, synthetic bool) {
	if len(result.Content) == 0 {
		result.Content = protocol.TextContent("no content")
	}
	fired := protocol.ToolCallEndData{Call: c.Call, Result: result, DurationMs: milliseconds(time.Since(c.began)), Synthetic: synthetic}
	v, err := r.fire(ctx, protocol.ToolCallEnd, fired)
	if errors.As(err, new(unfired)) {
		r.callError(ctx, b, c, aborted(ctx), nil)
		return
	}
	var data protocol.ToolCallEndData
	if err == nil {
		c.context = append(c.context, v.contextParts()...)
		data, err = decided(v, fired)
	}
	if err != nil { // not judged, so not shown
		c.result, c.outcome = errorResult("the result was withheld: "+err.Error()), "error"
		b.lost(ctx, err)
		return
	}
	c.result, c.outcome = data.Result, "ok"
	switch {
	case !v.keepsResult():
		c.result, c.outcome = errorResult(v.told()), "blocked"
	case data.Result.IsError:
		c.outcome = "error"
	}
	if v.Action == protocol.Stop {
		b.stop(v.refusal(), v.by())
	}
}

// callError ends a call that has no result. The text, as hooks leave it, is what
// the model reads.
func (r *Run) callError(ctx context.Context, b *batch, c *toolCall, problem protocol.CallError, by *string) {
	c.outcome = "error"
	if by != nil {
		c.outcome = "blocked"
	}
	fired := protocol.ToolCallErrorData{Call: c.Call, Error: problem, BlockedBy: by, DurationMs: milliseconds(time.Since(c.began))}
	data := fired
	v, err := r.fire(r.after(ctx), protocol.ToolCallError, fired)
	if err == nil {
		c.context = append(c.context, v.contextParts()...)
		data, err = decided(v, fired)
	}
	c.result = errorResult(data.Error.Text)
	switch {
	case err != nil:
		b.lost(ctx, err)
	case v.Action == protocol.Stop:
		b.stop(v.refusal(), v.by())
	}
}

// callLost ends a call whose gate gave no decision.
func (r *Run) callLost(ctx context.Context, b *batch, c *toolCall, err error) {
	b.lost(ctx, err)
	problem := protocol.CallError{Kind: protocol.CallFailed, Text: "not run: " + err.Error()}
	if ctx.Err() != nil {
		problem = aborted(ctx)
	}
	r.callError(ctx, b, c, problem, nil)
}

// lost ends the run when a decision is missing for another reason than the
// context's end, which ends the run by itself.
func (b *batch) lost(ctx context.Context, err error) {
	if ctx.Err() == nil {
		b.stop(err, "")
	}
}

func aborted(ctx context.Context) protocol.CallError {
	cause := context.Cause(ctx)
	if errors.As(cause, new(*limitReached)) {
		return protocol.CallError{Kind: protocol.CallTimeout, Text: cause.Error()}
	}
	return protocol.CallError{Kind: protocol.CallAborted, Text: "aborted: " + cause.Error()}
}
