package acp

import "github.com/hookd-dev/hookd/protocol"

// hookd's own methods. A client that knows nothing of them never meets them.
const (
	HooksList     = "_hookd/hooks/list"     // of the client: the hooks of a session
	HooksRegister = "_hookd/hooks/register" // of the client: hooks that hookd asks over the connection
	HooksCall     = "_hookd/hooks/call"     // of hookd: a registered hook is to answer an event
)

// HookCapabilities say in initialize's _meta which of these methods there are.
type HookCapabilities struct {
	Hooks    *HookMethods `json:"hooks,omitzero"`
	Protocol int          `json:"protocol"` // of events and replies
}

// HookMethods are the methods.
type HookMethods struct {
	List     string `json:"list"`
	Register string `json:"register"`
	Call     string `json:"call"`
}

// RegisterParams are those of _hookd/hooks/register.
type RegisterParams struct {
	Hooks []ClientHook        `json:"hooks"`
	Meta  protocol.RawMessage `json:"_meta,omitzero"`
}

// ClientHook is a hook that the client answers. Its members are those of a hook's description.
type ClientHook struct {
	Name        string               `json:"name"`
	Description string               `json:"description,omitzero"`
	Events      []protocol.EventName `json:"events"`
	Match       protocol.Match       `json:"match,omitzero"`
	Can         protocol.Class       `json:"can,omitzero"` // default observe
	TimeoutMs   int64                `json:"timeoutMs,omitzero"`
	OnFailure   protocol.Rule        `json:"onFailure,omitzero"`
	Meta        protocol.RawMessage  `json:"_meta,omitzero"`
}

// RegisterResult names the hooks that sessions opened from now on have.
type RegisterResult struct {
	Registered []string `json:"registered"`
}

// CallParams are those of _hookd/hooks/call. The result is a reply, as the protocol of hooks has
// it.
type CallParams struct {
	Hook  string              `json:"hook"`
	Event protocol.RawMessage `json:"event"`
}
