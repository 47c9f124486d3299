package wire

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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

// placeholder returns what the SDK reads in the place of a kept result. To read tens of
// megabytes of a call's result into types that nobody looks at takes it longer than all
// the rest. The SDK itself answers a result that asks the client for something. In a list
// of tools one that the SDK cannot read would make it refuse the whole list.
func placeholder(method string, raw []byte) []byte {
	switch {
	case method == "tools/list":
		return readableTools(raw)
	case method != "tools/call" || len(raw) < large || bytes.Contains(raw, []byte(`input_required`)) || bytes.Contains(raw, []byte(`inputRequests`)):
		return raw
	}
	return []byte(`{"resultType":"complete","content":[]}`)
}

// readableTools returns a list of tools without those that the SDK cannot read.
func readableTools(raw []byte) []byte {
	var members map[string]protocol.RawMessage
	var tools []protocol.RawMessage
	if stdjson.Unmarshal(raw, new(sdk.ListToolsResult)) == nil || json.Unmarshal(raw, &members, Lenient) != nil || json.Unmarshal(members["tools"], &tools, Lenient) != nil {
		return raw
	}
	tools = slices.DeleteFunc(tools, func(t protocol.RawMessage) bool { return stdjson.Unmarshal(t, new(sdk.Tool)) != nil })
	var err error
	if members["tools"], err = protocol.Marshal(tools); err != nil {
		return raw
	}
	without, err := protocol.Marshal(members)
	if err != nil {
		return raw
	}
	return without
}
