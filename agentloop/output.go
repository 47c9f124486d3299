package agentloop

import (
	"context"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/protocol"
)

// toolOutput shows what a tool puts out, for as long as it works: a tool that
// goes on putting out behind its return is not heard.
type toolOutput struct {
	run *Run
	ctx context.Context
	id  string

	mu   sync.Mutex // pieces of one call come one at a time
	over bool
}

func (o *toolOutput) show(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over || text == "" {
		return
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	o.run.send(o.ctx, Yield{Kind: YieldOutput, Output: Output{ToolCallID: o.id, Text: text}})
}

func (o *toolOutput) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
}

// holdsResult reports whether a hook may still refuse or change what the call
// puts out.
func (r *Run) holdsResult(c *toolCall) bool {
	known, err := protocol.Marshal(protocol.ToolCallEndData{Call: c.Call})
	return err != nil || r.loop.options.Gate.MayChange(r.envelope(protocol.ToolCallEnd, known))
}
