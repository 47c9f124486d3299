package conversation

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/protocol"
)

// History is the conversation of one agent. Only the goroutine of the agent's run uses
// it.
type History struct {
	messages  []protocol.Message
	encodings encodings // of messages
	system    string
	turn      int            // user prompts so far
	file      *store.Session // nil: kept in memory only
}

// New returns an empty conversation that is kept in memory only. turn is the number of
// user prompts that the session has had.
func New(system string, turn int) *History { return &History{system: system, turn: turn} }

// Open returns the conversation that a session's file holds. What is added to it is
// added to the file. The system text counts if the file has none. The error is a
// [store.DamageError] if no model could read the conversation or no run can have left it.
func Open(file *store.Session, system string) (*History, error) {
	state := file.State()
	if fault := checkResumed(state.Messages); fault != nil {
		return nil, file.Damage(fault.Message, fault)
	}
	h := &History{messages: state.Messages, turn: state.Turn, system: system, file: file}
	if state.System != nil {
		h.system = *state.System
	}
	return h, h.AddMissingResults()
}

// Copy returns the same conversation, kept in memory only.
func (h *History) Copy() *History {
	return &History{messages: slices.Clone(h.messages), turn: h.turn, system: h.system}
}

// Messages returns the messages. The caller must not change them.
func (h *History) Messages() []protocol.Message { return h.messages }

// System returns the system text.
func (h *History) System() string { return h.system }

// Turn returns the number of user prompts so far.
func (h *History) Turn() int { return h.turn }

// Encode returns the JSON of an event's data.
func (h *History) Encode(data any) (protocol.RawMessage, error) { return h.encodings.data(data) }

// Record writes an entry to the session's file, if there is one.
func (h *History) Record(entry store.Entry) error {
	if h.file == nil {
		return nil
	}
	return h.file.Append(entry)
}

// Add appends messages.
func (h *History) Add(messages ...protocol.Message) error {
	for _, message := range messages {
		if err := h.AddPrompt(message, 0); err != nil {
			return err
		}
	}
	return nil
}

// AddPrompt appends the message of the user's prompt with the number turn; 0 is no
// prompt of the user.
func (h *History) AddPrompt(message protocol.Message, turn int) error {
	if message.ID == "" {
		message.ID = protocol.NewID()
	}
	h.messages = append(h.messages, message)
	h.turn = max(h.turn, turn)
	// The run ends on an error, so no model reads what was not recorded.
	return h.Record(store.Entry{Kind: store.Message, Message: &message, Turn: turn})
}

// AddContext appends the context from hooks as a user message, if there is any.
func (h *History) AddContext(context protocol.Content) error {
	if len(context) == 0 {
		return nil
	}
	return h.Add(protocol.Message{Role: protocol.RoleUser, Content: context})
}

// AddMissingResults gives a result to each tool call of the last message that has none,
// because of a crash or a file that could not be written: no model accepts such a
// conversation.
func (h *History) AddMissingResults() error {
	if len(h.messages) == 0 {
		return nil
	}
	var results protocol.Content
	for _, call := range Calls(h.messages[len(h.messages)-1]) {
		results = append(results, ResultPart(call.ToolCallID,
			ErrorResult("no result was kept: the run ended while the call was open"), nil))
	}
	if len(results) == 0 {
		return nil
	}
	return h.Add(protocol.Message{Role: protocol.RoleTool, Content: results})
}

// Replace puts other messages in the place of all.
func (h *History) Replace(messages []protocol.Message) error {
	messages = slices.Clone(messages)
	for i := range messages {
		if messages[i].ID == "" {
			messages[i].ID = protocol.NewID()
		}
	}
	if err := h.Record(store.Entry{Kind: store.Conversation, Messages: messages}); err != nil {
		return err
	}
	h.messages = messages
	return nil
}

// ReplaceArgs puts other args into the last call of an id. [History.Record] must have
// recorded them.
func (h *History) ReplaceArgs(id string, args protocol.RawMessage) {
	store.ReplaceArgs(h.messages, id, args)
}

// SetSystem changes the system text.
func (h *History) SetSystem(text string) error {
	if text == h.system {
		return nil
	}
	if err := h.Record(store.Entry{Kind: store.System, Text: text}); err != nil {
		return err
	}
	h.system = text
	return nil
}

// Text returns a message with one part of text.
func Text(role protocol.Role, text string) protocol.Message {
	return protocol.Message{Role: role, Content: protocol.TextContent(text)}
}

// Calls returns the tool calls of a message.
func Calls(message protocol.Message) []protocol.Part {
	var list []protocol.Part
	for _, part := range message.Content {
		if part.Type == protocol.PartToolCall {
			list = append(list, part)
		}
	}
	return list
}

// ResultPart returns what the model reads of a call: its result, followed by the context
// from hooks.
func ResultPart(id string, result protocol.Result, context protocol.Content) protocol.Part {
	content := slices.Concat(result.Content, context)
	return protocol.Part{Type: protocol.PartToolResult, ToolCallID: id, Content: content, IsError: result.IsError}
}

// PersonCall returns what the model reads of a tool call that the person made. Its first part
// says which call that was, also in its members; see [IsPersonCall].
func PersonCall(c *protocol.Call, result protocol.Result, context protocol.Content) protocol.Message {
	var args struct {
		Command string `json:"command"`
	}
	ran := string(c.Args)
	if json.Unmarshal(c.Args, &args) == nil && args.Command != "" {
		ran = "$ " + args.Command
	}
	head := fmt.Sprintf("[The user ran this with %s; it is no call of yours.]\n%s\n", c.Name, ran)
	if result.ExitCode != nil && *result.ExitCode != 0 {
		head += fmt.Sprintf("[exit code %d]\n", *result.ExitCode)
	} else if result.IsError {
		head += "[failed]\n"
	}
	part := protocol.Part{Type: protocol.PartText, Text: head, ToolCallID: c.ToolCallID, Name: c.Name, Args: c.Args, IsError: result.IsError}
	return protocol.Message{Role: protocol.RoleUser, Content: slices.Concat(protocol.Content{part}, result.Content, context)}
}

// IsPersonCall reports whether a message tells of a tool call that the person made, so that
// it is no prompt.
func IsPersonCall(m *protocol.Message) bool {
	return m.Role == protocol.RoleUser && len(m.Content) > 0 && m.Content[0].Type == protocol.PartText && m.Content[0].ToolCallID != ""
}

// ErrorResult returns the result of a call that failed.
func ErrorResult(text string) protocol.Result {
	return protocol.Result{Content: protocol.TextContent(text), IsError: true}
}
