package protocol

import "github.com/go-json-experiment/json/jsontext"

// Action is what a hook answers.
type Action string

const (
	Observe  Action = "observe"
	Block    Action = "block"
	Modify   Action = "modify"
	Ask      Action = "ask"
	Allow    Action = "allow"
	Stop     Action = "stop"
	Continue Action = "continue"
	Callback Action = "callback"
)

// Deny is accepted in replies and read as [Block].
const Deny Action = "deny"

// Reply is the one JSON object that a hook writes on stdout.
type Reply struct {
	Action   Action         `json:"action,omitzero"`
	Reason   string         `json:"reason,omitzero"`   // what the model and the person read
	Changes  jsontext.Value `json:"changes,omitzero"`  // JSON Merge Patch (RFC 7396) rooted at data
	Patch    jsontext.Value `json:"patch,omitzero"`    // JSON Patch (RFC 6902) rooted at data
	Result   jsontext.Value `json:"result,omitzero"`   // tool-call-start: replaces the tool
	Response jsontext.Value `json:"response,omitzero"` // inference-start: replaces the model call
	Context  string         `json:"context,omitzero"`  // text for the model
	Notice   string         `json:"notice,omitzero"`   // text for the person
	Messages jsontext.Value `json:"messages,omitzero"` // with continue: list of Message
	Callback *CallbackCall  `json:"callback,omitzero"`
	State    jsontext.Value `json:"state,omitzero"`    // replaces the hook's state; null removes it
	Metadata jsontext.Value `json:"metadata,omitzero"` // replaces the hook's own metadata value
	ID       string         `json:"id,omitzero"`       // the event's id: standby and resident hooks
}

// CallbackCall asks for a recipe to be run.
type CallbackCall struct {
	Name string            `json:"name"`
	Args map[string]string `json:"args,omitzero"`
	As   CallbackAs        `json:"as,omitzero"`
	By   string            `json:"by,omitzero"` // in an outcome: the hook that asked
}

// CallbackAs is what becomes of a recipe's outcome.
type CallbackAs string

const (
	AsMessages CallbackAs = "messages" // its messages replace the conversation (default)
	AsState    CallbackAs = "state"    // its text is handed to the same hook in state.callback
)
