package agentloop

import (
	"slices"

	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/protocol"
)

// keep writes an entry to the session's file, if there is one.
func (l *Loop) keep(entry store.Entry) error {
	if l.options.Session == nil {
		return nil
	}
	return l.options.Session.Append(entry)
}

// add appends a message to the conversation and to the file.
func (l *Loop) add(message protocol.Message) error { return l.addPrompt(message, 0) }

// addPrompt is add for the user's prompt number turn.
func (l *Loop) addPrompt(message protocol.Message, turn int) error {
	if message.ID == "" {
		message.ID = protocol.NewID()
	}
	l.messages = append(l.messages, message)
	l.turn = max(l.turn, turn)
	if err := l.keep(store.Entry{Kind: store.Message, Message: &message, Turn: turn}); err != nil {
		return internal(err) // the run ends, so no model reads what was not kept
	}
	return nil
}

// replace puts the conversation that a hook gave in the place of ours.
func (l *Loop) replace(messages []protocol.Message) error {
	messages = slices.Clone(messages)
	for i := range messages {
		if messages[i].ID == "" {
			messages[i].ID = protocol.NewID()
		}
	}
	if err := l.keep(store.Entry{Kind: store.Conversation, Messages: messages}); err != nil {
		return internal(err)
	}
	l.messages = messages
	return nil
}

func (l *Loop) setSystem(text string) error {
	if text == l.system {
		return nil
	}
	if err := l.keep(store.Entry{Kind: store.System, Text: text}); err != nil {
		return internal(err)
	}
	l.system = text
	return nil
}

// setTools keeps the list that hooks made of the tools they were shown.
func (l *Loop) setTools(shown, tools []protocol.Tool) error {
	if l.tools.only == nil { // the list of a recipe's run is no one else's
		if err := l.keep(store.Entry{Kind: store.Tools, Tools: tools}); err != nil {
			return internal(err)
		}
	}
	l.tools.change(shown, tools)
	return nil
}

// addContext appends hooks' context as a user message.
func (l *Loop) addContext(context protocol.Content) error {
	if len(context) == 0 {
		return nil
	}
	return l.add(protocol.Message{Role: protocol.RoleUser, Content: context})
}

// contextParts frames each text of an event's context with its hook's name. A
// part keeps whose it is, so that no hook of a lower layer takes it away later.
func (v *verdict) contextParts() protocol.Content {
	parts := make(protocol.Content, len(v.Context))
	for i, c := range v.Context {
		parts[i] = protocol.Part{
			Type: protocol.PartText, Text: "[context from hook " + c.Hook + "]\n" + c.Text,
			Hook: c.Hook, Layer: v.layerOf(c.Hook),
		}
	}
	return parts
}

// layerOf is the layer of a hook that was asked; of equal names the highest.
func (v *verdict) layerOf(hook string) protocol.Layer {
	layer := protocol.Layer("")
	for _, run := range v.Runs {
		if run.Hook == hook && (layer == "" || run.Source.Rank() > layer.Rank()) {
			layer = run.Source
		}
	}
	return layer
}

func textMessage(role protocol.Role, text string) protocol.Message {
	return protocol.Message{Role: role, Content: protocol.TextContent(text)}
}

// calls are the tool calls of a message.
func calls(message protocol.Message) []protocol.Part {
	var list []protocol.Part
	for _, part := range message.Content {
		if part.Type == protocol.PartToolCall {
			list = append(list, part)
		}
	}
	return list
}

// repair gives a result to each tool call of the last message that has none,
// because of a crash or a file that could not be written: no model accepts such a
// conversation.
func (l *Loop) repair() error {
	if len(l.messages) == 0 {
		return nil
	}
	var results protocol.Content
	for _, call := range calls(l.messages[len(l.messages)-1]) {
		results = append(results, resultPart(call.ToolCallID,
			errorResult("no result was kept: the run ended while the call was open"), nil))
	}
	if len(results) == 0 {
		return nil
	}
	return l.add(protocol.Message{Role: protocol.RoleTool, Content: results})
}

// resultPart is what the model reads of a call: its result, with hooks' context
// behind it.
func resultPart(id string, result protocol.Result, context protocol.Content) protocol.Part {
	content := slices.Concat(result.Content, context)
	return protocol.Part{Type: protocol.PartToolResult, ToolCallID: id, Content: content, IsError: result.IsError}
}

func errorResult(text string) protocol.Result {
	return protocol.Result{Content: protocol.TextContent(text), IsError: true}
}
