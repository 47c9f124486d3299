package mcp

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookd-dev/hookd/agentloop/mcp/internal/wire"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// remoteTool is one tool of a server. It outlives the connection: after a restart the
// next call goes to the new one.
type remoteTool struct {
	supervisor  *supervisor
	name        string // as the server knows it
	description tool.Description
}

func (t *remoteTool) Describe() tool.Description { return t.description }

// Run calls the tool and waits for its result, as long as ctx and the connection
// live.
func (t *remoteTool) Run(ctx context.Context, args protocol.RawMessage) (protocol.Result, error) {
	c, why := t.supervisor.current()
	if c == nil {
		return protocol.Result{}, &tool.Error{Kind: protocol.CallFailed, Text: why}
	}
	raw, err := c.call(ctx, t.name, args)
	switch {
	case ctx.Err() != nil:
		return protocol.Result{}, context.Cause(ctx)
	case err != nil:
		return protocol.Result{}, t.explain(c, err)
	}
	result, err := readResult(raw, t.supervisor.options.Text)
	if err != nil {
		return protocol.Result{}, &tool.Error{Kind: protocol.CallFailed, Text: fmt.Sprintf("the MCP server %s answered what cannot be used: %v", t.supervisor.server.Name, err)}
	}
	return result, nil
}

// call sends tools/call. The result is as the server wrote it.
func (c *connection) call(ctx context.Context, name string, args protocol.RawMessage) (protocol.RawMessage, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(c.life.calls, func() { cancel(context.Cause(c.life.calls)) })
	defer stop()
	params := &sdk.CallToolParams{Name: name, Arguments: args}
	token, done := c.progress.follow(ctx)
	defer done()
	params.SetProgressToken(token)
	ctx, kept := wire.WithRawResult(ctx)
	var typed *sdk.CallToolResult
	err := c.guard(func() (err error) {
		typed, err = c.session.CallTool(ctx, params)
		return err
	})
	raw, refused := kept.Take()
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
func (t *remoteTool) explain(c *connection, err error) error {
	name, server := t.supervisor.server.Name, &t.supervisor.server
	switch refused := refusal(err); {
	case refused != nil && refused.Code == jsonrpc.CodeInvalidParams:
		return &tool.Error{Kind: protocol.CallBadArgs, Text: fmt.Sprintf("the MCP server %s refused the args: %s", name, server.withoutSecrets(refused.Message))}
	case refused != nil:
		return &tool.Error{Kind: protocol.CallFailed, Text: fmt.Sprintf("the MCP server %s refused the call: %s (code %d)", name, server.withoutSecrets(refused.Message), refused.Code)}
	}
	if isEnd(err) {
		within(c.ended, patience) // then it is known how it ended
	}
	return &tool.Error{Kind: protocol.CallFailed, Text: fmt.Sprintf("the MCP server %s gave no result: %s", name, c.reason(err))}
}
