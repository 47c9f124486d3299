package dialect

import (
	"errors"
	"fmt"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// toolCall reads a call: name and args as the agent has them.
func (a *Agent) toolCall(id, name string, args protocol.RawMessage) (protocol.Call, TheirCall, error) {
	ours, err := toolname.ToOurs(a.Name, name, args)
	if err != nil {
		return protocol.Call{}, TheirCall{}, err
	}
	call := protocol.Call{ToolCallID: id, Name: ours.Name, Kind: ours.Kind, Server: ours.Server, Args: ours.Args, MayBe: ours.MayBe}
	if ours.Name != name {
		call.HostTool = name
	}
	return call, TheirCall{tool: name, args: args}, nil
}

// changed writes what hooks changed of the data in the agent's form.
func (c *Call) changed(data protocol.RawMessage, members []string) (protocol.RawMessage, error) {
	switch c.Row.Event {
	case protocol.InferenceStart, protocol.InferenceEnd:
		if c.Agent.WriteChange != nil {
			return c.Agent.WriteChange(c, data, members)
		}
	}
	if len(members) > 1 {
		return nil, fmt.Errorf("%s takes no change of all that", c.Agent.Title)
	}
	after := jsonspan.Get(data, members[0])
	switch members[0] {
	case "args":
		return c.theirArgs(after)
	case "prompt", "response", "instructions":
		if jsonspan.Kind(after) != '"' {
			return nil, errors.New("it is no text")
		}
		return after, nil
	case "result":
		return jsonspan.Quote(object.ContentText(jsonspan.Get(after, "content"))), nil
	}
	return nil, fmt.Errorf("%s takes no change of it", c.Agent.Title)
}

// asItsOutput gives a changed result the form that the called tool's has, where the agent
// minds.
func (c *Call) asItsOutput(changed protocol.RawMessage) (protocol.RawMessage, error) {
	if c.Row.Event != protocol.ToolCallEnd || c.Agent.WriteOutput == nil {
		return changed, nil
	}
	if output := c.Agent.WriteOutput(c, changed); output != nil {
		return output, nil
	}
	return nil, errors.New("this tool's result has no text that hookd knows how to replace")
}

// theirArgs are changed args with the agent's own names and forms.
func (c *Call) theirArgs(args protocol.RawMessage) (protocol.RawMessage, error) {
	theirs, err := toolname.Back(c.Agent.Name, c.their.tool, c.their.args, args)
	switch was := jsonspan.Get(c.their.Wrapped, "arguments"); {
	case err != nil:
		return nil, err
	case c.their.Wrapped != nil && jsonspan.Kind(was) == '"':
		return object.Set(c.their.Wrapped, "arguments", jsonspan.Quote(string(theirs))), nil
	case c.their.Wrapped != nil:
		return object.Set(c.their.Wrapped, "arguments", theirs), nil
	case !c.Agent.MergesArgs:
		return theirs, nil
	}
	for _, m := range jsonspan.Members(c.their.args) {
		if jsonspan.Get(theirs, m.Name) == nil {
			return nil, fmt.Errorf("%s cannot take %s away from the args", c.Agent.Title, m.Name)
		}
	}
	return theirs, nil
}
