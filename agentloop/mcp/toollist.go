package mcp

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookd-dev/hookd/agentloop/mcp/internal/wire"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// Bounds of what a server may list.
const (
	maxPages = 100
	maxTools = 1000
)

// list asks for the server's tools, all pages.
func (c *connection) list() ([]listed, error) {
	ctx, cancel := context.WithTimeoutCause(c.life.context, c.options.StartLimit, fmt.Errorf("%w: its list of tools", errSlow))
	defer cancel()
	var tools []listed
	cursor := ""
	for range maxPages {
		page, err := c.page(ctx, cursor)
		if err != nil {
			return nil, err
		}
		tools = append(tools, page.Tools...)
		if len(tools) > maxTools {
			return nil, fmt.Errorf("it lists more than %d tools", maxTools)
		}
		if cursor = page.NextCursor; cursor == "" {
			return tools, nil
		}
	}
	return nil, fmt.Errorf("its list of tools has more than %d pages", maxPages)
}

// listed is a tool as a server lists it. What it says of its own harmlessness
// (annotations) is not read: only hooks and people decide that.
type listed struct {
	Name        string
	Title       string
	Description string
	Schema      protocol.RawMessage
	Problem     error // why it cannot be offered, nil if nothing is wrong so far
}

type toolPage struct {
	Tools      []listed `json:"tools"`
	NextCursor string   `json:"nextCursor"`
}

// UnmarshalJSON reads one tool. What is wrong with it is its Problem: it does not keep the
// other tools of its server away. A title or a description that is no text is left out.
func (t *listed) UnmarshalJSON(raw []byte) error {
	var members struct {
		Name        protocol.RawMessage `json:"name"`
		Title       protocol.RawMessage `json:"title"`
		Description protocol.RawMessage `json:"description"`
		Schema      protocol.RawMessage `json:"inputSchema"`
	}
	if value := protocol.RawMessage(raw); jsonspan.Kind(value) != '{' {
		t.Problem = fmt.Errorf("it is no object but %s", wire.Clip(string(raw), 40))
		return nil
	}
	if err := json.Unmarshal(raw, &members, wire.Lenient); err != nil {
		return err
	}
	t.Title, t.Description, t.Schema = textOf(members.Title), textOf(members.Description), bytes.Clone(members.Schema)
	t.Name, t.Problem = textOf(members.Name), nameProblem(members.Name)
	return nil
}

// textOf returns a JSON string as text, "" for what is none.
func textOf(value protocol.RawMessage) (text string) {
	if jsonspan.Kind(value) == '"' {
		_ = json.Unmarshal(value, &text, wire.Lenient) // else it is none
	}
	return text
}

func (c *connection) page(ctx context.Context, cursor string) (page toolPage, err error) {
	ctx, kept := wire.WithRawResult(ctx)
	var typed *sdk.ListToolsResult
	err = c.guard(func() (err error) {
		typed, err = c.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		return err
	})
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return page, err
	}
	raw, _ := kept.Take()
	if raw == nil {
		if raw, err = json.Marshal(typed); err != nil {
			return page, err
		}
	}
	if err := json.Unmarshal(raw, &page, wire.Lenient); err != nil {
		return page, fmt.Errorf("its list of tools cannot be read: %w", protocol.PlainError(err))
	}
	return page, nil
}
