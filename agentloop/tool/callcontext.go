package tool

import (
	"context"

	"github.com/hookd-dev/hookd/protocol"
)

// What a tool is told of its call besides the args stands in the context: who calls,
// which call it is, who watches, and what hooks judged. The loop puts it there.

type (
	outputKey struct{}
	callKey   struct{}
	agentKey  struct{}
	judgedKey struct{}
)

// WithOutput returns a context under which a tool's [Output] reaches show.
func WithOutput(ctx context.Context, show func(text string)) context.Context {
	return context.WithValue(ctx, outputKey{}, show)
}

// Output shows a piece of what a tool writes while it works, for the person who
// watches; the result must hold it all the same. It does nothing if nobody watches, or
// if a hook may still withhold the result.
func Output(ctx context.Context, text string) {
	if show := watcher(ctx); show != nil {
		show(text)
	}
}

// IsShown reports whether what a tool writes while it works is shown to a person: somebody
// watches, and no hook may still withhold or change it.
func IsShown(ctx context.Context) bool { return watcher(ctx) != nil }

func watcher(ctx context.Context) func(text string) {
	show, _ := ctx.Value(outputKey{}).(func(string))
	return show
}

// WithCallID returns a context that names the tool call at work.
func WithCallID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, callKey{}, id)
}

// CallID returns the id of the tool call that a tool works on, "" outside of one.
func CallID(ctx context.Context) string {
	id, _ := ctx.Value(callKey{}).(string)
	return id
}

// WithAgent returns a context that names the agent whose call is at work.
func WithAgent(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, agentKey{}, id)
}

// AgentID returns the id of the agent whose call a tool works on, "" outside of one.
func AgentID(ctx context.Context) string {
	id, _ := ctx.Value(agentKey{}).(string)
	return id
}

// WithTouched returns a context under which a [FileTool] works on nothing but the file
// that hooks were told of.
func WithTouched(ctx context.Context, touched protocol.Touched) context.Context {
	return context.WithValue(ctx, judgedKey{}, &touched)
}

// judgedFile returns the file that hooks were told of, nil if they were not.
func judgedFile(ctx context.Context) *protocol.Touched {
	judged, _ := ctx.Value(judgedKey{}).(*protocol.Touched)
	return judged
}
