package tool

import "context"

type (
	outputKey struct{}
	callKey   struct{}
)

// WithOutput returns a context under which a tool's [Output] reaches show.
func WithOutput(ctx context.Context, show func(text string)) context.Context {
	return context.WithValue(ctx, outputKey{}, show)
}

// Output shows a piece of what a tool puts out while it works, for the person
// who watches; the result holds it all the same. It does nothing where nobody
// watches, or where a hook may still withhold the result.
func Output(ctx context.Context, text string) {
	if show, _ := ctx.Value(outputKey{}).(func(string)); show != nil {
		show(text)
	}
}

// WithCallID returns a context that names the tool call at work.
func WithCallID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, callKey{}, id)
}

// CallID is the id of the tool call that a tool works on, "" outside of one.
func CallID(ctx context.Context) string {
	id, _ := ctx.Value(callKey{}).(string)
	return id
}
