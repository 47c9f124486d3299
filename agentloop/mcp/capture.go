package mcp

import (
	"context"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// capture keeps the result of one request as the server wrote it. The SDK's own
// types round large integers, reorder schemas, and refuse a result for one part
// of a kind that they do not know.
type capture struct {
	mu  sync.Mutex
	raw jsontext.Value
}

type captureKey struct{}

func withCapture(ctx context.Context) (context.Context, *capture) {
	c := &capture{}
	return context.WithValue(ctx, captureKey{}, c), c
}

// captureOf is where the result of the request that ctx belongs to is kept, nil
// if nobody wants it.
func captureOf(ctx context.Context) *capture {
	c, _ := ctx.Value(captureKey{}).(*capture)
	return c
}

func (c *capture) set(raw []byte) {
	if c == nil || len(raw) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = append(jsontext.Value(nil), raw...)
}

func (c *capture) take() jsontext.Value {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.raw
}
