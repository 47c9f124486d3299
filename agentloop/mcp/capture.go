package mcp

import (
	"bytes"
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/hookd-dev/hookd/protocol"
)

// capture keeps the result of one request as the server wrote it. The SDK's own
// types round large integers, reorder schemas, and refuse a result for one part
// of a kind that they do not know.
type capture struct {
	mu      sync.Mutex
	raw     protocol.RawMessage
	refused *jsonrpc.Error
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

// set keeps raw, which nobody changes any more.
func (c *capture) set(raw []byte) {
	if c == nil || len(raw) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = raw
}

// refuse keeps the error that the server answered with.
func (c *capture) refuse(why *jsonrpc.Error) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused = why
}

func (c *capture) take() (raw protocol.RawMessage, refused *jsonrpc.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.raw, c.refused
}

// large is from how many bytes on a result of a call is not read twice.
const large = 64 << 10

// stand is what the SDK reads in the place of a kept result of a call: to read
// tens of megabytes into types that nobody looks at takes it longer than all the
// rest. One that asks the client for something is the SDK's to answer.
func stand(method string, raw []byte) []byte {
	if method != "tools/call" || len(raw) < large || bytes.Contains(raw, []byte(`input_required`)) || bytes.Contains(raw, []byte(`inputRequests`)) {
		return raw
	}
	return []byte(`{"resultType":"complete","content":[]}`)
}
