package acp

// InitializeParams are what a client says first.
type InitializeParams struct {
	ProtocolVersion    int                `json:"protocolVersion"`
	ClientCapabilities ClientCapabilities `json:"clientCapabilities,omitzero"`
	ClientInfo         *Implementation    `json:"clientInfo,omitzero"`
}

// ClientCapabilities are what an agent may ask of a client, and which updates it takes.
type ClientCapabilities struct {
	FS struct {
		ReadTextFile  bool `json:"readTextFile,omitzero"`
		WriteTextFile bool `json:"writeTextFile,omitzero"`
	} `json:"fs,omitzero"`
	Terminal bool `json:"terminal,omitzero"`
	Session  *struct {
		Notices    *struct{} `json:"notices,omitzero"`
		Compaction *struct{} `json:"compaction,omitzero"`
	} `json:"session,omitzero"`
}

// TakesNotices reports whether the client shows the update notice.
func (c *ClientCapabilities) TakesNotices() bool { return c.Session != nil && c.Session.Notices != nil }

// TakesCompactions reports whether the client shows the update compaction_update.
func (c *ClientCapabilities) TakesCompactions() bool {
	return c.Session != nil && c.Session.Compaction != nil
}

// Implementation names a program.
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitzero"`
	Version string `json:"version"`
}

// InitializeResult is an agent's answer.
type InitializeResult struct {
	ProtocolVersion   int               `json:"protocolVersion"`
	AgentCapabilities AgentCapabilities `json:"agentCapabilities"`
	AuthMethods       []AuthMethod      `json:"authMethods"`
	AgentInfo         *Implementation   `json:"agentInfo,omitzero"`
}

// AgentCapabilities are what a client may ask of an agent.
type AgentCapabilities struct {
	LoadSession         bool                `json:"loadSession"`
	PromptCapabilities  PromptCapabilities  `json:"promptCapabilities"`
	MCPCapabilities     MCPCapabilities     `json:"mcpCapabilities"`
	SessionCapabilities SessionCapabilities `json:"sessionCapabilities"`
	Meta                *AgentMeta          `json:"_meta,omitzero"`
}

// PromptCapabilities are the kinds of content that a prompt may have besides text and links.
type PromptCapabilities struct {
	Image           bool `json:"image"`
	Audio           bool `json:"audio"`
	EmbeddedContext bool `json:"embeddedContext"`
}

// MCPCapabilities are the transports of MCP servers that an agent can reach, besides stdio.
type MCPCapabilities struct {
	HTTP bool `json:"http"`
	SSE  bool `json:"sse"`
}

// Empty is a capability that has no members, or a result without any.
type Empty struct{}

// SessionCapabilities are the methods of sessions that an agent has.
type SessionCapabilities struct {
	List   *Empty `json:"list,omitzero"`
	Delete *Empty `json:"delete,omitzero"`
	Resume *Empty `json:"resume,omitzero"`
	Close  *Empty `json:"close,omitzero"`

	AdditionalDirectories *Empty `json:"additionalDirectories,omitzero"` // no method: sessions work in several folders
}

// AgentMeta announces hookd's own methods.
type AgentMeta struct {
	Hookd HookCapabilities `json:"hookd"`
}

// AuthMethod is a way to get in. Those of hookd say which environment variable is not set.
type AuthMethod struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
}

// AuthenticateParams choose a way to get in.
type AuthenticateParams struct {
	MethodID string `json:"methodId"`
}
