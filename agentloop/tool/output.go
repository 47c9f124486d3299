package tool

import (
	"context"
	"io"
	"unicode/utf8"
)

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

// shownLimit is how many bytes of one call's output are shown while it works. A
// program that writes without end must not fill whatever keeps what is shown.
const shownLimit = 1 << 20

// showing returns a writer that shows, as [Output] does, what is written to it:
// as text, with a character that two writes split in one piece.
func showing(ctx context.Context) io.Writer {
	show, _ := ctx.Value(outputKey{}).(func(string))
	if show == nil {
		return io.Discard
	}
	return &shown{show: show}
}

type shown struct {
	show func(string)
	half []byte // the beginning of a character
	sent int
}

func (s *shown) Write(p []byte) (int, error) {
	if s.sent >= shownLimit {
		return len(p), nil
	}
	text := append(s.half, p...)
	whole := len(text) - unfinished(text)
	s.half = append([]byte(nil), text[whole:]...)
	if text = text[:whole]; len(text) > 0 {
		s.sent += len(text)
		piece := utf8Only(string(text))
		if s.sent >= shownLimit {
			piece += "\n… further output is not shown while the tool works …\n"
		}
		s.show(piece)
	}
	return len(p), nil
}

// unfinished is how many bytes at the end are the beginning of a character.
func unfinished(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if b := p[len(p)-n]; utf8.RuneStart(b) {
			if !utf8.FullRune(p[len(p)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
