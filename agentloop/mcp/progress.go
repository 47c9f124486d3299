package mcp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookd-dev/hookd/agentloop/tool"
)

// progressPause is the least time between two reports of one call that are shown.
const progressPause = 100 * time.Millisecond

// progressReports are the calls of a connection whose progress may be told, by token.
type progressReports struct {
	mu     sync.Mutex
	calls  map[string]*progress
	tokens int
}

// progress shows what a server says of the progress of one call.
type progress struct {
	ctx context.Context

	mu   sync.Mutex
	last time.Time
	over bool
}

// follow gives a call a token by which its progress is known. The caller must call done
// when the call is over.
func (r *progressReports) follow(ctx context.Context) (token string, done func()) {
	p := &progress{ctx: ctx}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls == nil {
		r.calls = map[string]*progress{}
	}
	r.tokens++
	token = fmt.Sprintf("hookd-%d", r.tokens)
	r.calls[token] = p
	return token, func() {
		r.mu.Lock()
		delete(r.calls, token)
		r.mu.Unlock()
		p.mu.Lock() // what is being shown is shown before the call is over
		p.over = true
		p.mu.Unlock()
	}
}

// received is the SDK's handler of a server's report.
func (r *progressReports) received(_ context.Context, request *sdk.ProgressNotificationClientRequest) {
	if request == nil || request.Params == nil {
		return
	}
	token, _ := request.Params.ProgressToken.(string)
	r.mu.Lock()
	p := r.calls[token]
	r.mu.Unlock()
	if p != nil {
		p.show(progressText(request.Params))
	}
}

func (p *progress) show(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); !p.over && now.Sub(p.last) >= progressPause {
		p.last = now
		tool.Output(p.ctx, text)
	}
}

func progressText(p *sdk.ProgressNotificationParams) string {
	const most = 500
	text := fmt.Sprintf("[%g]", p.Progress)
	if p.Total > 0 {
		text = fmt.Sprintf("[%g/%g]", p.Progress, p.Total)
	}
	if p.Message != "" {
		text += " " + strings.ToValidUTF8(p.Message[:min(len(p.Message), most)], "\uFFFD")
	}
	return text + "\n"
}
