package acpagent

import (
	"os"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/peer"
	"github.com/hookd-dev/hookd/schema/agentparts"
)

// initialize answers with version 1, whatever the client asks for: a client that cannot speak it
// disconnects.
func (a *Agent) initialize(r *peer.Request, client *acp.InitializeParams) {
	if !a.client.CompareAndSwap(nil, client) {
		r.Fail(rpc.Errorf(rpc.InvalidRequest, "the connection is initialized already"))
		return
	}
	has := &acp.Empty{}
	r.Answer(&acp.InitializeResult{
		ProtocolVersion: acp.Version,
		AgentCapabilities: acp.AgentCapabilities{
			LoadSession:         true,
			PromptCapabilities:  acp.PromptCapabilities{Image: true, EmbeddedContext: true},
			MCPCapabilities:     acp.MCPCapabilities{HTTP: true, SSE: true},
			SessionCapabilities: acp.SessionCapabilities{List: has, Delete: has, Resume: has, Close: has, AdditionalDirectories: has},
			Meta: &acp.AgentMeta{Hookd: acp.HookCapabilities{
				Hooks:    &acp.HookMethods{List: acp.HooksList, Register: acp.HooksRegister, Call: acp.HooksCall},
				Protocol: protocol.Version,
			}},
		},
		AuthMethods: a.authMethods(),
		AgentInfo:   &acp.Implementation{Name: "hookd", Title: "hookd", Version: a.options.Version},
	})
}

// authMethods are the keys of models that are not set, unless --model names one that needs none.
// Which model a session has its project's settings say, so that is found out when it begins.
func (a *Agent) authMethods() []acp.AuthMethod {
	list := []acp.AuthMethod{}
	wanted, _, _ := strings.Cut(a.options.Flags.Model.Name, ":")
	for _, p := range agentparts.ModelProviders {
		if p.KeyName == "" || isSet(p.KeyName) || wanted != "" && wanted != p.Name {
			continue
		}
		list = append(list, acp.AuthMethod{
			ID: p.KeyName, Name: "Set " + p.KeyName,
			Description: "Models of " + p.Name + " need a key in " + p.KeyName + ", in the environment in which your editor starts hookd (in its settings for hookd: env). Then start hookd again.",
		})
	}
	return list
}

func isSet(variable string) bool { return strings.TrimSpace(os.Getenv(variable)) != "" }

// authenticate can only look: the environment of a process does not change.
func (a *Agent) authenticate(r *peer.Request, params *acp.AuthenticateParams) {
	switch {
	case !agentparts.IsKeyName(params.MethodID):
		r.Fail(rpc.Errorf(rpc.InvalidParams, "hookd has no way to authenticate named %.100q", params.MethodID))
	case !isSet(params.MethodID):
		r.Fail(rpc.Errorf(acp.AuthRequired, "%s is not set in the environment of hookd (set it where your editor starts hookd, in its settings for hookd: env; then start hookd again)", params.MethodID))
	default:
		r.Answer(acp.Empty{})
	}
}
