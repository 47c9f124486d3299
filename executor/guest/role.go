package guest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/selfprotect"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/hosts"
	"github.com/hookd-dev/hookd/protocol/realpath"
	"github.com/hookd-dev/hookd/schema"
)

// Options say what a [Role] needs to know of this machine.
type Options struct {
	StateDir string   // where monitors are kept; "" for none
	Home     string   // of the user, "" if it is not known
	Own      []string // absolute paths of hookd's files and folders, which no agent may write

	// Broken says what keeps hookd from working in an agent, in one line, "" if nothing is
	// known to. It is asked at the start of sessions; nil never.
	Broken func(ctx context.Context, agent string, project string) string
}

// Role makes the sets of hooks for events of other agents. It is safe for concurrent use.
type Role struct {
	source  executor.Source
	options Options

	mu      sync.Mutex
	sources map[key]*agentSource
}

type key struct {
	agent   string
	event   protocol.EventName // where the agent can ask the person, "" where it cannot
	monitor bool               // the state folder is the person's own, so that a monitor in it counts
}

// MCP is the host of events that come from a proxy in front of an MCP server, and ACP of
// those that come from one in front of an agent. No agent can be watched only or be installed
// by these names.
const (
	MCP = "mcp"
	ACP = "acp"
)

// proxied are whatever programs are on the other side of a proxy. They have no events that a
// person could always be asked at.
var proxied = map[string]*dialect.Agent{
	MCP: {Name: MCP, Title: "an MCP client"},
	ACP: {Name: ACP, Title: "an ACP agent"},
}

// New returns the role of a source of hooks.
func New(source executor.Source, o Options) *Role {
	return &Role{source: source, options: o, sources: map[key]*agentSource{}}
}

// For returns the gate that decides an event: the one given, with other hooks if the event
// comes from another agent. Such an event also gets what hookd's own loop says about a file
// (realPath), which no other agent does: fire it after For has returned.
func (r *Role) For(gate *executor.Gate, ev *protocol.Event) *executor.Gate {
	agent := hosts.Find(ev.Agent.Host)
	if agent == nil {
		agent = proxied[ev.Agent.Host]
	}
	if agent == nil {
		return gate
	}
	realpath.OfCall(ev, ev.Cwd)
	r.boundForced(ev)
	return gate.WithSource(r.of(agent, canAsk(agent, ev), r.isPersons(ev.Cwd)))
}

func (r *Role) of(agent *dialect.Agent, ask, monitor bool) *agentSource {
	k := key{agent: agent.Name, monitor: monitor}
	if ask {
		k.event = protocol.ToolCallStart
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sources[k]
	if s == nil {
		s = &agentSource{role: r, agent: agent, ask: ask, watch: monitor}
		r.sources[k] = s
	}
	return s
}

// canAsk reports whether an agent can put a question to the person at an event: at the
// event of its own that its input names, else whichever of its own events that is.
func canAsk(agent *dialect.Agent, ev *protocol.Event) bool {
	host := jsonspan.Get(ev.Data, "host")
	for _, member := range []string{"hook_event_name", "hookEventName", "event", "event_type", "agent_action_name"} {
		name := jsonspan.Get(host, member)
		if jsonspan.Kind(name) != '"' {
			continue
		}
		if row := agent.Row(jsonspan.Text(name)); row != nil && row.Event == ev.Event {
			return row.Can.Ask.Possible()
		}
	}
	can := false
	for i := range agent.Rows {
		if row := &agent.Rows[i]; row.Event == ev.Event && row.Same == "" {
			if !row.Can.Ask.Possible() {
				return false
			}
			can = true
		}
	}
	return can
}

// agentSource is the source of hooks for one agent. It makes one set of each set of the
// role's source, and another one when a monitor begins or ends.
type agentSource struct {
	role  *Role
	agent *dialect.Agent
	ask   bool
	watch bool // a monitor counts

	mu       sync.Mutex
	from, to *executor.Set
	monitor  Monitor
}

// Current returns the set of hooks for the agent.
func (s *agentSource) Current() *executor.Set {
	from := s.role.source.Current()
	if from == nil {
		return nil
	}
	monitor := Monitor{}
	if s.watch {
		monitor = s.role.monitorOf(s.agent.Name, from.Project)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.from != from || s.monitor != monitor {
		set := *from
		set.Hooks = s.hooks(from, monitor)
		s.from, s.monitor = from, monitor
		s.to, _ = executor.NewSet(set) // the matchers were compiled before
	}
	return s.to
}

func (r *Role) monitorOf(agent, project string) Monitor {
	if r.options.StateDir == "" {
		return Monitor{}
	}
	monitor := MonitorOf(r.options.StateDir, agent, time.Now())
	if monitor.On() && isBelow(r.options.StateDir, project) {
		return Monitor{}
	}
	return monitor
}

// isPersons reports whether the state folder is the person's: an agent's settings in a clone
// can name another one to hooks (XDG_STATE_HOME), which came with the clone. So it may lie
// neither below the working directory, unless that has the person's home in it, nor in a
// checkout or a project.
func (r *Role) isPersons(cwd string) bool {
	dir, home := r.options.StateDir, r.options.Home
	if _, err := os.Lstat(monitorPath(dir)); err != nil {
		return true // as ever: no monitor is there to count
	}
	if isBelow(dir, cwd) && (home == "" || !isBelow(home, cwd)) {
		return false
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	for at := filepath.Dir(dir); at != home && filepath.Dir(at) != at; at = filepath.Dir(at) {
		for _, mark := range []string{".git", ".acai"} {
			if _, err := os.Lstat(filepath.Join(at, mark)); err == nil {
				return false
			}
		}
	}
	return true
}

// isBelow reports whether a folder lies in a project: what a project holds is no word of
// the person's.
func isBelow(dir, project string) bool {
	if project == "" {
		return false
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	relative, err := filepath.Rel(project, dir)
	return err == nil && filepath.IsLocal(relative)
}

// hooks returns the hooks of a set as events of the agent meet them.
func (s *agentSource) hooks(from *executor.Set, monitor Monitor) []*executor.Hook {
	hooks := make([]*executor.Hook, 0, len(from.Hooks)+3)
	for _, h := range from.Hooks {
		if monitor.On() && onlyWatches(h) {
			watching := *h
			watching.Mode, watching.Monitored = protocol.Audit, true
			h = &watching
		}
		hooks = append(hooks, h)
	}
	guard := executor.HookOf(s.guard())
	if from.Settings.Hooks.SelfProtection == schema.Off { // recorded as such
		guard.Asker, guard.Enabled, guard.Status, guard.SwitchedOff = nil, false, executor.Disabled, true
		guard.Why = "hooks.selfProtection is off"
	}
	hooks = append(hooks, guard)
	if monitor.On() {
		hooks = append(hooks, executor.HookOf(s.notice("monitor", func(context.Context, *protocol.Event) string { return monitor.text(s.agent.Title) })))
	}
	if broken := s.role.options.Broken; broken != nil {
		hooks = append(hooks, executor.HookOf(s.notice("install", func(ctx context.Context, ev *protocol.Event) string {
			return broken(ctx, s.agent.Name, ev.Project)
		})))
	}
	return hooks
}

// onlyWatches reports whether a monitor reaches a hook.
func onlyWatches(h *executor.Hook) bool {
	switch {
	case h.Layer != protocol.User && h.Layer != protocol.Project, h.Required:
		return false
	case h.Fault != nil && (h.Fault.Kind == protocol.FailUntrusted || h.Fault.Kind == protocol.FailSettings):
		return false
	}
	return true
}

func (s *agentSource) guard() protocol.GoHook {
	return selfprotect.Hook(selfprotect.Options{
		Home: s.role.options.Home, Own: s.role.options.Own, Ask: s.ask, Lookup: os.Getenv, Runs: runsHookd,
	})
}

// runsHookd reports whether a process is hookd, as far as the system shows it.
func runsHookd(pid int) bool {
	program, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	return err == nil && strings.HasPrefix(filepath.Base(program), "hookd")
}

// notice is a hook that tells the person something when a session starts.
func (s *agentSource) notice(name string, text func(context.Context, *protocol.Event) string) protocol.GoHook {
	return protocol.GoHook{
		Name:        name,
		Description: "tells at the start of a session how hookd is installed",
		Events:      []protocol.EventName{protocol.SessionStart},
		Watches:     true,
		Func: func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
			return protocol.Reply{Notice: text(ctx, ev)}, nil
		},
	}
}

func (m Monitor) text(agent string) string {
	return fmt.Sprintf("hooks only watch for %s until %s: they refuse nothing except what managed and required hooks and self-protection refuse; hookd log --would shows what they would have refused", agent, m.Until.Local().Format("2006-01-02 15:04"))
}
