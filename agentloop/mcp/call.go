package mcp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// remote is one tool of a server. It outlives the connection: after a restart
// the next call goes to the new one.
type remote struct {
	host        *host
	name        string // as the server knows it
	description tool.Description
}

func (t *remote) Describe() tool.Description { return t.description }

// Run calls the tool and waits for its result, as long as ctx and the connection
// live.
func (t *remote) Run(ctx context.Context, args protocol.RawMessage) (protocol.Result, error) {
	l, why := t.host.connection()
	if l == nil {
		return protocol.Result{}, &tool.Error{Kind: protocol.CallFailed, Text: why}
	}
	raw, err := l.call(ctx, t.name, args)
	switch {
	case ctx.Err() != nil:
		return protocol.Result{}, context.Cause(ctx)
	case err != nil:
		return protocol.Result{}, t.explain(l, err)
	}
	result, err := readResult(raw, t.host.options.Text)
	if err != nil {
		return protocol.Result{}, &tool.Error{Kind: protocol.CallFailed, Text: fmt.Sprintf("the MCP server %s answered what cannot be used: %v", t.host.server.Name, err)}
	}
	return result, nil
}

// call sends tools/call. The result is as the server wrote it.
func (l *live) call(ctx context.Context, name string, args protocol.RawMessage) (protocol.RawMessage, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(l.calls, func() { cancel(context.Cause(l.calls)) })
	defer stop()
	params := &sdk.CallToolParams{Name: name, Arguments: args}
	token, done := l.follow(ctx)
	defer done()
	params.SetProgressToken(token)
	ctx, kept := withCapture(ctx)
	var typed *sdk.CallToolResult
	err := l.guard(func() (err error) {
		typed, err = l.speak.CallTool(ctx, params)
		return err
	})
	raw, refused := kept.take()
	switch {
	case refused != nil: // answered, also where the server ended right after
		return nil, refused
	case raw != nil: // the SDK refuses what it does not know
		return raw, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	}
	return json.Marshal(typed)
}

// explain says why a call has no result.
func (t *remote) explain(l *live, err error) error {
	name := t.host.server.Name
	switch refused := refusal(err); {
	case refused != nil && refused.Code == jsonrpc.CodeInvalidParams:
		return &tool.Error{Kind: protocol.CallBadArgs, Text: fmt.Sprintf("the MCP server %s refused the args: %s", name, refused.Message)}
	case refused != nil:
		return &tool.Error{Kind: protocol.CallFailed, Text: fmt.Sprintf("the MCP server %s refused the call: %s (code %d)", name, refused.Message, refused.Code)}
	}
	if isEnd(err) {
		within(l.ended, patience) // then it is known how it ended
	}
	return &tool.Error{Kind: protocol.CallFailed, Text: fmt.Sprintf("the MCP server %s gave no result: %s", name, l.reason(err))}
}

// shown is how often the progress of one call is shown at most.
const shown = 100 * time.Millisecond

// progress shows what a server says of the progress of one call.
type progress struct {
	ctx context.Context

	mu   sync.Mutex
	last time.Time
	over bool
}

// follow gives a call a token that its progress is known by.
func (l *live) follow(ctx context.Context) (token string, done func()) {
	p := &progress{ctx: ctx}
	l.mu.Lock()
	l.tokens++
	token = fmt.Sprintf("hookd-%d", l.tokens)
	l.progress[token] = p
	l.mu.Unlock()
	return token, func() {
		l.mu.Lock()
		delete(l.progress, token)
		l.mu.Unlock()
		p.mu.Lock() // what is being shown is shown before the call is over
		p.over = true
		p.mu.Unlock()
	}
}

func (l *live) progressed(_ context.Context, request *sdk.ProgressNotificationClientRequest) {
	if request == nil || request.Params == nil {
		return
	}
	token, _ := request.Params.ProgressToken.(string)
	l.mu.Lock()
	p := l.progress[token]
	l.mu.Unlock()
	if p != nil {
		p.show(progressText(request.Params))
	}
}

func (p *progress) show(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); !p.over && now.Sub(p.last) >= shown {
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
