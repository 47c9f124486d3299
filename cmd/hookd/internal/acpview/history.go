package acpview

import (
	"maps"
	"slices"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
)

// Replay returns the updates for a conversation that was kept. describe says what a call of its
// tool is; context that hooks gave the model is left out.
func (v *View) Replay(messages []protocol.Message, kind func(tool string) protocol.ToolKind) (updates []any) {
	open := map[string]*call{}
	var plan *acp.Plan
	for i := range messages {
		m := &messages[i]
		for j := range m.Content {
			part := &m.Content[j]
			switch {
			case part.Hook != "":
			case part.Type == protocol.PartToolCall:
				c := &call{id: part.ToolCallID, Call: protocol.Call{ToolCallID: part.ToolCallID, Name: part.Name, Kind: kind(part.Name), Args: part.Args}}
				open[c.id] = c
				begun := c.describe()
				begun.UpdateKind, begun.Status = acp.ToolCallBegun, acp.ToolPending
				updates = append(updates, begun)
			case part.Type == protocol.PartToolResult:
				c := open[part.ToolCallID]
				if c == nil {
					continue
				}
				delete(open, c.id)
				updates = append(updates, replayedResult(c, part))
				if c.Name == planTool && !part.IsError {
					plan = planIn(c.Args)
				}
			case m.Role == protocol.RoleTool:
			default:
				updates = append(updates, replayedPart(m, part)...)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(open)) { // the run was interrupted
		updates = append(updates, &acp.ToolCall{UpdateKind: acp.ToolCallChanged, ToolCallID: id, Status: acp.ToolFailed})
	}
	if plan != nil {
		updates = append(updates, plan)
	}
	return updates
}

func replayedResult(c *call, part *protocol.Part) *acp.ToolCall {
	result := &protocol.Result{Content: part.Content, IsError: part.IsError}
	ended := &acp.ToolCall{UpdateKind: acp.ToolCallChanged, ToolCallID: c.id, Status: acp.ToolCompleted}
	if part.IsError {
		ended.Status = acp.ToolFailed
	}
	if text := resultText(c.Kind, result); text != "" {
		ended.Content = []acp.ToolContent{acp.ToolText(text)}
	}
	ended.RawOutput, _ = protocol.Marshal(result)
	return ended
}

func replayedPart(m *protocol.Message, part *protocol.Part) []any {
	kind := acp.AgentMessageChunk
	if m.Role == protocol.RoleUser {
		kind = acp.UserMessageChunk
	}
	switch part.Type {
	case protocol.PartThinking:
		kind = acp.AgentThoughtChunk
	case protocol.PartText:
	case protocol.PartImage:
		block, is := imageBlock(part)
		if !is {
			return nil
		}
		return []any{&acp.Chunk{Kind: kind, Content: block, MessageID: m.ID}}
	default:
		return nil
	}
	if part.Text == "" || agentloop.IsPersonCall(m) && part.ToolCallID == "" {
		return nil
	}
	return []any{&acp.Chunk{Kind: kind, Content: acp.Text(show.Visible(part.Text)), MessageID: m.ID}}
}

func imageBlock(part *protocol.Part) (block acp.ContentBlock, is bool) {
	data := jsonspan.Text(part.Data)
	return acp.ContentBlock{Type: acp.BlockImage, Data: data, MimeType: part.MediaType}, data != "" && part.MediaType != ""
}
