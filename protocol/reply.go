package protocol

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
	Action   Action        `json:"action,omitzero" jsonschema:"what the hook answers"`
	Reason   string        `json:"reason,omitzero" jsonschema:"what the model and the person read"`
	Changes  RawMessage    `json:"changes,omitzero" jsonschema:"JSON Merge Patch (RFC 7396) rooted at data"`
	Patch    RawMessage    `json:"patch,omitzero" jsonschema:"JSON Patch (RFC 6902) rooted at data"`
	Result   RawMessage    `json:"result,omitzero" jsonschema:"tool-call-start: replaces the tool"`
	Response RawMessage    `json:"response,omitzero" jsonschema:"inference-start: replaces the model call"`
	Context  string        `json:"context,omitzero" jsonschema:"text for the model"`
	Notice   string        `json:"notice,omitzero" jsonschema:"text for the person"`
	Messages RawMessage    `json:"messages,omitzero" jsonschema:"with continue: list of Message"`
	Callback *CallbackCall `json:"callback,omitzero"`
	State    RawMessage    `json:"state,omitzero" jsonschema:"replaces the hook's state; null removes it"`
	Metadata RawMessage    `json:"metadata,omitzero" jsonschema:"replaces the hook's own metadata value"`
	ID       string        `json:"id,omitzero" jsonschema:"the event's id: standby and resident hooks"`

	// Answered is for Go hooks that speak for somebody else at permission-request.
	Answered *Answered `json:"-"`
}

// CallbackCall asks for a recipe to be run.
type CallbackCall struct {
	Name string            `json:"name" jsonschema:"name of the recipe"`
	Args map[string]string `json:"args,omitzero" jsonschema:"what the recipe is given"`
	As   CallbackAs        `json:"as,omitzero" jsonschema:"messages (default): its messages replace the conversation; state: its text comes back in state.callback"`
	By   string            `json:"by,omitzero" jsonschema:"in an outcome: the hook that asked"`
}

// CallbackAs is what becomes of a recipe's outcome.
type CallbackAs string

const (
	AsMessages CallbackAs = "messages" // its messages replace the conversation (default)
	AsState    CallbackAs = "state"    // its text is handed to the same hook in state.callback
)
