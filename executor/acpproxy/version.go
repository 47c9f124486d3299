package acpproxy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// initialize decides the first request of a client. A version that is newer than the one
// hookd can guard is offered to the agent as that one: agents speak older versions, too.
func (g *guard) initialize(m *relay.Message) (line []byte, err error) {
	p, err := readParams(m, "protocolVersion", "clientCapabilities")
	if err != nil {
		return nil, err
	}
	if notices := jsonspan.Find(p.raw, "/clientCapabilities/session/notices"); !isNothing(notices) && string(notices) != "false" {
		g.notices.Store(true)
	}
	offered := p.get("protocolVersion")
	if version, err := strconv.ParseFloat(string(offered), 64); err == nil && version > acp.Version {
		g.options.note(fmt.Sprintf("the editor offers version %s of ACP: hookd offers version %d to the agent, which it can guard", offered, acp.Version))
		return m.With("params", relay.Replace(p.raw, "protocolVersion", []byte(strconv.Itoa(acp.Version)))), nil
	}
	return p.line(m), nil
}

// initialized takes the agent's answer. What it says in a version that hookd does not know
// is not guarded, and so it is not passed on.
func (g *guard) initialized(m *relay.Message, r *request) relay.Decision {
	if m.Error != nil {
		return relay.Pass(m.Line)
	}
	if version := jsonspan.Get(m.Result, "protocolVersion"); !jsonspan.SameValue(version, []byte(strconv.Itoa(acp.Version))) || !m.Strict {
		problem := fmt.Sprintf("the agent answers with version %.20s of ACP, and hookd can guard version %d only: nothing is passed on", version, acp.Version)
		g.unguarded.Store(&problem)
		g.options.note(problem)
		return relay.Pass(relay.ErrorLine(r.ID, codeInternal, "hookd: "+problem))
	}
	name := strings.ToLower(jsonspan.Text(jsonspan.Find(m.Result, "/agentInfo/name")))
	for _, agent := range agents {
		if strings.Contains(name, agent) {
			g.vocabulary.Store(&agent)
			break
		}
	}
	return relay.Pass(m.Line)
}

// agents are those whose names of tools hookd knows, by what their agentInfo.name contains.
var agents = []string{"claude", "codex", "gemini", "qwen", "copilot", "opencode", "openhands", "cursor", "goose", "crush", "kiro", "cline", "hermes", "kodelet", "hookd", "factory"}
