package hookmatch

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// callOf is the event of an agent's call, as package dialect makes it.
func callOf(t *testing.T, agent, tool, args string) *protocol.Event {
	t.Helper()
	ours, err := toolname.ToOurs(agent, tool, []byte(args))
	if err != nil {
		t.Fatalf("%s %s %s: %v", agent, tool, args, err)
	}
	call := protocol.Call{ToolCallID: "c1", Name: ours.Name, Kind: ours.Kind, Server: ours.Server, Args: ours.Args, MayBe: ours.MayBe}
	if ours.Name != tool {
		call.HostTool = tool
	}
	data, err := protocol.Marshal(protocol.ToolCallStartData{Call: call, Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	return &protocol.Event{Event: protocol.ToolCallStart, Agent: protocol.Agent{Host: agent}, Data: data}
}

func fits(t *testing.T, ev *protocol.Event, tools ...string) bool {
	t.Helper()
	keys, _, err := Compile(&protocol.Match{Tool: tools})
	if err != nil {
		t.Fatalf("%q: %v", tools, err)
	}
	in := NewInput(ev)
	return keys.Fits(&in)
}

// agents are all that the table knows, and one that it does not.
func agents() (list []string) {
	for _, t := range toolname.Vocabulary {
		for _, agent := range strings.Fields(t.Of) {
			if agent != "hookd" && !slices.Contains(list, agent) {
				list = append(list, agent)
			}
		}
	}
	return list
}

// meant are the calls of a tool, each with hookd's tools that it may be.
func meant(agent string, tool toolname.Tool) map[string][]string {
	one := []string{}
	if tool.Ours != "" {
		one = append(one, tool.Ours)
	}
	for _, v := range toolname.VerbTools {
		if !slices.Contains(strings.Fields(v.Tools), tool.Name) || !slices.Contains(strings.Fields(v.Of), agent) {
			continue
		}
		calls, all := map[string][]string{}, one
		for _, m := range v.Means {
			calls[fmt.Sprintf(`{"path":"a",%q:%q}`, v.Member, m.Word)] = []string{m.Ours}
			all = append(all, m.Ours)
		}
		for _, odd := range []string{`"teleport"`, `"View"`, `""`} {
			calls[fmt.Sprintf(`{"path":"a",%q:%s}`, v.Member, odd)] = all
		}
		if len(one) > 0 {
			calls[`{"path":"a"}`] = one
		}
		return calls
	}
	if strings.Contains(strings.ToLower(tool.Name), "patch") {
		return map[string][]string{`{"patch":"*** Update File: a"}`: one, `{"patch":"*** Update File: a\n*** Delete File: b"}`: one}
	}
	return map[string][]string{`{}`: one}
}

func kindOfOurs(name string) protocol.ToolKind {
	for _, t := range toolname.Vocabulary {
		if t.Ours == name {
			return t.Kind
		}
	}
	return ""
}

// can reports whether calls of a tool may be calls of one of hookd's.
func can(tool toolname.Tool, ours []string) bool {
	return slices.ContainsFunc(ours, func(name string) bool {
		if tool.Ours == name {
			return true
		}
		return slices.ContainsFunc(toolname.VerbTools, func(v toolname.Verbs) bool {
			return slices.Contains(strings.Fields(v.Tools), tool.Name) && slices.ContainsFunc(v.Means, func(m toolname.Verb) bool { return m.Ours == name })
		})
	})
}

// Whatever agent makes a call, a guard for the tool is asked: by the agent's own name, by
// hookd's, by that of any other agent for the same, by kind, alone or in a list, as a
// pattern, and without any matcher.
func TestEveryGuardIsAskedAboutEveryToolOfEveryAgent(t *testing.T) {
	asked := 0
	for _, agent := range agents() {
		for _, tool := range toolname.Vocabulary {
			if !slices.Contains(strings.Fields(tool.Of), agent) {
				continue
			}
			for args, ours := range meant(agent, tool) {
				ev := callOf(t, agent, tool.Name, args)
				kinds, names := []protocol.ToolKind{}, append([]string{tool.Name}, ours...)
				for _, name := range ours {
					kinds = append(kinds, kindOfOurs(name))
				}
				if len(ours) == 0 {
					kinds = append(kinds, tool.Kind)
				}
				for _, other := range toolname.Vocabulary {
					isOurs := slices.Contains(strings.Fields(other.Of), "hookd")
					switch {
					case can(other, ours):
						names = append(names, other.Name)
					case len(ours) == 0 && isOurs && other.Kind == tool.Kind && tool.Kind != protocol.KindOther:
						names = append(names, other.Name) // nobody knows which of ours it is
					}
				}
				for _, name := range names {
					for _, written := range [][]string{
						{name}, {"nothing_like_it", name}, {"/" + regexp.QuoteMeta(name) + "/"}, {"/nothing|" + regexp.QuoteMeta(name) + "/"},
						{name[:len(name)-1] + "*"}, {"{nothing," + name + "}"}, {"?" + name[1:]},
					} {
						if asked++; !fits(t, ev, written...) {
							t.Errorf("%s calls %s %s (%s): a guard for %q is not asked", agent, tool.Name, args, ev.Data, written)
						}
					}
				}
				for word, kind := range toolname.Kinds {
					if asked++; fits(t, ev, word) != slices.Contains(kinds, kind) {
						t.Errorf("%s calls %s %s (%s), of kinds %v: a guard for %s is asked = %v", agent, tool.Name, args, ev.Data, kinds, word, fits(t, ev, word))
					}
				}
				if !fits(t, ev) {
					t.Errorf("%s calls %s: a guard without a matcher is not asked", agent, tool.Name)
				}
			}
		}
	}
	if asked < 10000 {
		t.Errorf("only %d guards were tried", asked)
	}
}

// provenMCP reports whether nothing but the tool of a server is called so by the agent.
func provenMCP(agent, name string) bool {
	if parts := strings.SplitN(name, "__", 3); len(parts) == 3 && parts[0] == "mcp" && parts[1] != "" && parts[2] != "" {
		return true
	}
	for _, form := range toolname.ServerNames {
		begins := form.Form[:strings.IndexAny(form.Form, "ST")]
		if begins != "" && strings.HasPrefix(name, begins) && slices.Contains(strings.Fields(form.Of), agent) {
			return true
		}
	}
	return false
}

// A name that the agent's own table does not have proves nothing: no guard that is asked
// about a tool of which nobody knows anything is left out, whatever the name looks like.
func TestUnknownNamesAreAskedAboutAsUnknownKindsAre(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 7))
	pieces := []string{"my", "shell", "git", "push", "run", "mcp", "x", "Bash", "write", "file", "view", "_", "__", "-", "/", ":", "@", "MCP:", "mcp_", "mcp__", ".", "developer", "1"}
	all := agents()
	var guards []string
	for word := range toolname.Kinds {
		guards = append(guards, word)
	}
	slices.Sort(guards)
	guards = append(guards, "Bash", "bash", "write_file", "/.*shell.*/", "*", "*_*", "/mcp__.*/", "/[a-z_]+/")
	patterns := map[string]toolname.Pattern{}
	compiled := func(guard string) (toolname.Pattern, bool) {
		p, known := patterns[guard]
		if !known {
			var err error
			if p, err = toolname.ParsePattern(guard); err != nil {
				return p, false // the name is no pattern
			}
		}
		return p, true
	}
	for _, guard := range guards {
		patterns[guard], _ = compiled(guard)
	}
	for range 2000 {
		agent := all[r.IntN(len(all))]
		name := ""
		if r.IntN(4) == 0 {
			name = toolname.Vocabulary[r.IntN(len(toolname.Vocabulary))].Name
		} else {
			for range 1 + r.IntN(5) {
				name += pieces[r.IntN(len(pieces))]
			}
		}
		own := slices.ContainsFunc(toolname.Vocabulary, func(t toolname.Tool) bool {
			return t.Name == name && slices.Contains(strings.Fields(t.Of), agent)
		})
		if own || provenMCP(agent, name) {
			continue
		}
		// The args could be for every kind that has an effect.
		ev := callOf(t, agent, name, `{"command":"ls","path":"a","url":"http://x"}`)
		for _, guard := range append(guards, name) {
			p, is := compiled(guard)
			effect := p.Kind != "" && p.Kind != protocol.KindMCP && p.Kind != protocol.KindAgent
			if must := effect || p.Kind == "" && p.Match(name, protocol.KindOther); is && must && !fits(t, ev, guard) {
				t.Fatalf("%s calls %s (%s): a guard for %s is not asked", agent, name, ev.Data, guard)
			}
		}
	}
}

// A plug-in's tool in a form that MCP tools have, too, is both.
func TestToolsThatLookLikeThoseOfServersAreBoth(t *testing.T) {
	for _, c := range []struct{ agent, tool string }{
		{"opencode", "my_shell"}, {"opencode", "my_own_shell"}, {"copilot", "my-shell"}, {"copilot", "my/shell"}, {"goose", "computercontroller__automation_script"},
	} {
		ev := callOf(t, c.agent, c.tool, `{"command":"rm -rf /"}`)
		for _, guard := range []string{"@shell", "@mcp", c.tool, "/mcp__.*/", "mcp__*"} {
			if !fits(t, ev, guard) {
				t.Errorf("%s calls %s (%s): a guard for %s is not asked", c.agent, c.tool, ev.Data, guard)
			}
		}
		if fits(t, ev, "bash") || fits(t, ev, "@net") || fits(t, ev, "mcp__other__tool") {
			t.Errorf("%s %s is taken for any tool", c.agent, c.tool)
		}
	}
	for _, c := range []struct{ agent, tool, guard string }{
		{"openhands", "create_issue", "mcp__github__create_issue"}, {"openhands", "github_create_issue", "mcp__github__create_issue"},
		{"opencode", "git_push", "mcp__git__push"}, {"opencode", "my_git_push", "mcp__my_git__push"}, {"copilot", "git-push", "mcp__git__*"},
	} {
		if ev := callOf(t, c.agent, c.tool, `{}`); !fits(t, ev, c.guard) || !fits(t, ev, "@mcp") {
			t.Errorf("%s calls %s (%s): a guard for %s or @mcp is not asked", c.agent, c.tool, ev.Data, c.guard)
		}
	}
	ev := callOf(t, "gemini", "mcp_git_push", `{}`)
	if fits(t, ev, "@shell") || jsonspan.Get(ev.Data, "mayBe") != nil {
		t.Errorf("a name with a fixed beginning proves nothing: %s", ev.Data)
	}
}

// What its args could be for decides which guards are asked about a tool whose name proves
// nothing; a guard of shells would refuse every tool of a server that has no command.
func TestArgsTellWhatAnUnprovenToolMayBe(t *testing.T) {
	for _, c := range []struct{ args, asked, not string }{
		{`{}`, "@mcp", "@shell @read @write @net @agent"},
		{`{"query":"x","limit":3}`, "@mcp", "@shell @read @write @net"},
		{`{"command":"ls"}`, "@mcp @shell", "@write @net"},
		{`{"cmd":"ls"}`, "@shell", "@write"}, {`{"Commands":["ls"]}`, "@shell", "@net"}, {`{"shell_command":"ls"}`, "@shell", "@net"},
		{`{"filePath":"a"}`, "@mcp @read @write", "@shell @net"}, {`{"target_file":"a"}`, "@write", "@shell"}, {`{"paths":["a"]}`, "@read", "@shell"},
		{`{"url":"http://x"}`, "@mcp @net", "@shell @write"},
		{`{"script":"x","path":"a","uri":"b"}`, "@mcp @shell @read @write @net", "@agent"},
	} {
		for _, call := range [][2]string{{"opencode", "my_tool"}, {"copilot", "my-tool"}, {"goose", "my__tool"}} {
			ev := callOf(t, call[0], call[1], c.args)
			for guard := range strings.FieldsSeq(c.asked) {
				if !fits(t, ev, guard) {
					t.Errorf("%s %s %s: a guard for %s is not asked", call[0], call[1], c.args, guard)
				}
			}
			for guard := range strings.FieldsSeq(c.not) {
				if fits(t, ev, guard) {
					t.Errorf("%s %s %s: a guard for %s is asked", call[0], call[1], c.args, guard)
				}
			}
		}
	}
}

// Kinds that cannot be read are all kinds.
func TestUnreadableKindsAreAll(t *testing.T) {
	ev := &protocol.Event{Event: protocol.ToolCallStart, Data: []byte(`{"toolCallId":"c","name":"my_tool","kind":"mcp","args":{},"mayBe":7}`)}
	if !fits(t, ev, "@shell") || !fits(t, ev, "@net") {
		t.Error("a guard is not asked about a tool whose kinds cannot be read")
	}
}
