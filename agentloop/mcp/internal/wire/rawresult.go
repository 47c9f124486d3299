package wire

import (
	"bytes"
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/hookd-dev/hookd/protocol"
)

// RawResult keeps the result of one request as the server wrote it. The SDK's own
// types round large integers, reorder schemas, and refuse a result for one part
// of a kind that they do not know.
type RawResult struct {
	mu      sync.Mutex
	raw     protocol.RawMessage
	refused *jsonrpc.Error
}

type rawResultKey struct{}

// WithRawResult returns a context under which the result of one request is kept.
func WithRawResult(ctx context.Context) (context.Context, *RawResult) {
	c := &RawResult{}
	return context.WithValue(ctx, rawResultKey{}, c), c
}

// rawResultOf returns where the result of the request of ctx is kept, nil if nobody wants
// it.
func rawResultOf(ctx context.Context) *RawResult {
	c, _ := ctx.Value(rawResultKey{}).(*RawResult)
	return c
}

// set keeps raw, which nobody changes any more.
func (c *RawResult) set(raw []byte) {
	if c == nil || len(raw) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = raw
}

// refuse keeps the error that the server answered with.
func (c *RawResult) refuse(why *jsonrpc.Error) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused = why
}

// Take returns the result, or the error that the server answered with, or neither.
func (c *RawResult) Take() (raw protocol.RawMessage, refused *jsonrpc.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.raw, c.refused
}

// large is from how many bytes on a result of a call is not read twice.
const large = 64 << 10

// placeholder returns what the SDK reads in the place of a kept result of a call: to read
// tens of megabytes into types that nobody looks at takes it longer than all the rest.
// The SDK itself answers a result that asks the client for something.
func placeholder(method string, raw []byte) []byte {
	if method != "tools/call" || len(raw) < large || bytes.Contains(raw, []byte(`input_required`)) || bytes.Contains(raw, []byte(`inputRequests`)) {
		return raw
	}
	return []byte(`{"resultType":"complete","content":[]}`)
}
