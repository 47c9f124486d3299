package acpview

import (
	"bytes"
	"strings"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
)

// Question returns what a client is asked for a question of the loop, without the session: the
// call as it will run, nothing left out, with who asks and why. A question that is about no call
// gets one of its own, named by id.
func (v *View) Question(q *agentloop.Question, id string) *acp.PermissionParams {
	asked := &acp.PermissionParams{Options: []acp.PermissionOption{}}
	for _, o := range q.Options {
		asked.Options = append(asked.Options, acp.PermissionOption{OptionID: o.OptionID, Name: o.Name, Kind: strings.ReplaceAll(o.Kind, "-", "_")})
	}
	why := whoAsks(q)
	if q.Call != nil {
		why += " before " + show.Line(q.Call.Name) + " runs"
	} else {
		why += " before " + string(q.Event)
	}
	if q.Text != "" {
		why += ": " + show.Line(q.Text)
	}
	if q.Call == nil {
		asked.ToolCall = acp.ToolCall{
			ToolCallID: id, Title: string(q.Event), Kind: acp.KindOther, Status: acp.ToolPending,
			Content: []acp.ToolContent{acp.ToolText(why)},
		}
		return asked
	}
	c := v.callAsked(q.Call)
	asked.ToolCall = *c.describe()
	asked.ToolCall.Status = acp.ToolPending
	asked.ToolCall.Content = append([]acp.ToolContent{acp.ToolText(why)}, c.whole()...)
	return asked
}

// callAsked returns the call at work that a question is about. Agents may use the same ids: what
// a person reads must be of the very call that will run.
func (v *View) callAsked(asked *protocol.Call) *call {
	for _, c := range v.calls {
		if c.ToolCallID == asked.ToolCallID && c.Name == asked.Name && bytes.Equal(c.Args, asked.Args) {
			return c
		}
	}
	return &call{Call: *asked, id: asked.ToolCallID, diff: v.diffOf(asked)}
}

// whole is all that will run.
func (c *call) whole() []acp.ToolContent {
	content := c.content("")
	if a := argsOf(&c.Call); c.Kind == protocol.KindShell && a.Command != "" {
		return append(content, acp.ToolText(fenced(a.Command)))
	}
	if len(c.diff) > 0 {
		return content
	}
	return append(content, acp.ToolText(fenced(show.Pretty(c.Args))))
}

// whoAsks names who asks, with the layer of a hook.
func whoAsks(q *agentloop.Question) string {
	name, isHook := strings.CutPrefix(q.AskedBy, "hook:")
	if !isHook {
		return "hookd asks"
	}
	return agentloop.WhoseHook(q.Layer, show.Line(name)) + " asks"
}
