package acpview

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/jsonspan"
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

// whole is all that will run: a command or a diff, and the args that it does not show.
func (c *call) whole() []acp.ToolContent {
	content, shown := c.content(""), []string(nil)
	switch a := argsOf(&c.Call); {
	case c.Kind == protocol.KindShell && a.Command != "":
		content, shown = append(content, acp.ToolText(fenced(a.Command))), []string{"command"}
	case len(c.diff) > 0 && a.OldText != nil:
		shown = []string{"path", "oldText", "newText"}
	case len(c.diff) > 0:
		shown = []string{"path", "content"}
	}
	rest := c.Args
	if shown != nil {
		rest = without(c.Args, shown)
	}
	if rest == nil {
		return content
	}
	return append(content, acp.ToolText(fenced(show.Pretty(rest))))
}

// without returns an object without members of some names, nil if nothing is left.
func without(object protocol.RawMessage, names []string) protocol.RawMessage {
	var rest []byte
	for _, m := range jsonspan.Members(object) {
		if !slices.Contains(names, m.Name) {
			rest = append(append(append(append(rest, ','), m.Key...), ':'), m.Value...)
		}
	}
	if rest == nil {
		return nil
	}
	rest[0] = '{'
	return append(rest, '}')
}

// whoAsks names who asks, with the layer of a hook.
func whoAsks(q *agentloop.Question) string {
	name, isHook := strings.CutPrefix(q.AskedBy, "hook:")
	if !isHook {
		return "hookd asks"
	}
	return agentloop.WhoseHook(q.Layer, show.Line(name)) + " asks"
}
