package mcpproxy

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

const toolsList = "tools/list"

// Bounds of what is kept of a server's list of tools.
const (
	mostSchemas     = 4096
	mostSchemaBytes = 8 << 20
	mostTold        = 64 // tools of which a person is told something
	mostName        = 1024
)

// tools is what is known of the server's tools: the schemas of their args, which args that
// hooks changed are checked against.
type tools struct {
	note       func(text string)
	readSchema func(written []byte) (ArgSchema, error) // nil: none is

	mu      sync.Mutex
	schemas map[string]*toolSchema // by the server's own name of the tool
	bytes   int
	told    map[string]bool
	listed  map[string]bool     // the server's own names
	spelled map[string][]string // the same, by what is the same in other spellings
}

// toolSchema is the schema of a tool's args, which is read when it is first needed.
type toolSchema struct {
	written protocol.RawMessage
	read    func() (ArgSchema, error)
}

func newTools(o *Options) *tools {
	return &tools{note: o.note, readSchema: o.ReadSchema, schemas: map[string]*toolSchema{}, told: map[string]bool{}, listed: map[string]bool{}, spelled: map[string][]string{}}
}

// list remembers the name of a tool that the server has listed.
func (t *tools) list(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.listed[name] && len(t.listed) < mostSchemas && len(name) <= mostName {
		key := folded(name)
		t.listed[name], t.spelled[key] = true, append(t.spelled[key], name)
	}
}

// meant returns the listed names that a server may take a name for which it has not listed: other
// spellings of it.
func (t *tools) meant(name string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.listed[name] {
		return nil
	}
	return slices.Clone(t.spelled[folded(name)])
}

// folded returns what is the same in all spellings of a name: its letters and digits, whether they
// are upper or lower case, or wide.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0xff01 && r <= 0xff5e { // wide ASCII
			r -= 0xff01 - '!'
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, name)
}

// learn keeps the schema of a tool that the server has listed.
func (t *tools) learn(name string, schema protocol.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.schemas[name]; old != nil {
		if string(old.written) == string(schema) {
			return
		}
		t.bytes -= len(old.written)
		delete(t.schemas, name)
	}
	if schema == nil || len(name) > mostName || len(t.schemas) >= mostSchemas || t.bytes+len(schema) > mostSchemaBytes {
		return
	}
	written := slices.Clone(schema)
	t.bytes += len(written)
	t.schemas[name] = &toolSchema{written, sync.OnceValues(func() (ArgSchema, error) {
		return t.readSchema(written)
	})}
}

// forget drops all schemas: the server says that its tools have changed.
func (t *tools) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.schemas, t.bytes = map[string]*toolSchema{}, 0
}

// check reports why args that hooks changed do not fit what the server says its tool takes.
// Where that cannot be found out, the server is left to say it.
func (t *tools) check(name string, args protocol.RawMessage) error {
	if t.readSchema == nil {
		t.tell("", "args that hooks change are not checked against the schemas of the tools: this program was built without what reads them")
		return nil
	}
	t.mu.Lock()
	known := t.schemas[name]
	t.mu.Unlock()
	if known == nil {
		return nil
	}
	schema, err := known.read()
	why := ""
	if err != nil {
		why = err.Error()
	} else {
		why = schema.Unchecked(args)
	}
	if why != "" {
		t.tell(name, fmt.Sprintf("args of %s that hooks change are not checked against its schema, which hookd cannot use: %s", text.Line(name), text.Shorten(text.Line(why), 200)))
		return nil
	}
	return schema.Check(args)
}

// tell tells a person something, once for each key.
func (t *tools) tell(key, line string) {
	t.mu.Lock()
	tell := !t.told[key] && len(t.told) < mostTold
	if tell {
		t.told[key] = true
	}
	t.mu.Unlock()
	if tell {
		t.note(line)
	}
}

// list takes a page of the server's list of tools. Tools of which rules refuse every call,
// whatever its args are, are left out: a model would only try them in vain.
func (g *guard) list(m *relay.Message) relay.Decision {
	result := m.Result
	if !m.Strict {
		if result = jsonspan.ReplaceLoneSurrogates(slices.Clone(result)); !jsonspan.Valid(result) {
			return relay.Pass(m.Line) // calls are judged whatever a client reads here
		}
	}
	listed := jsonspan.Get(result, "tools")
	if jsonspan.Kind(listed) != '[' {
		return relay.Pass(m.Line)
	}
	var kept []protocol.RawMessage
	all := jsonspan.Elements(listed)
	for _, tool := range all {
		name := jsonspan.Text(jsonspan.Get(tool, "name"))
		g.tools.list(name)
		if by := g.refusedAlways(name); by != "" {
			served := toolname.Served(g.prefix, name)
			g.tools.tell("\x00"+name, fmt.Sprintf("%s is left out of the list of tools: the rule %s refuses every call of it", text.Line(served), text.Line(by)))
			continue
		}
		g.tools.learn(name, jsonspan.Get(tool, "inputSchema"))
		kept = append(kept, tool)
	}
	if len(kept) == len(all) {
		return relay.Pass(m.Line)
	}
	return relay.Pass(m.With("result", relay.Replace(result, "tools", jsonspan.JoinList(kept))))
}

// refusedAlways returns the name of the rule that refuses every call of a tool, "" if none
// does.
func (g *guard) refusedAlways(name string) string {
	if strings.TrimSpace(name) == "" {
		return ""
	}
	return g.events.Refuses(protocol.ToolCallStart, protocol.ToolCallStartData{Call: g.callOf(name), Parallel: 1})
}

// callOf is a call of a tool without args.
func (g *guard) callOf(name string) protocol.Call {
	return protocol.Call{Name: toolname.Served(g.prefix, name), Kind: protocol.KindMCP, Args: protocol.RawMessage("{}"), Server: g.options.Server}
}

// checkName returns an error for a name that the server has not listed, and that is another spelling of
// one whose calls hooks may refuse or change. Not every server minds the spelling.
func (g *guard) checkName(name string) error {
	for _, meant := range g.tools.meant(name) {
		call := g.callOf(meant)
		if g.judges(&call) {
			return fmt.Errorf("the server lists no tool %q, and hooks judge the calls of %q, which it could take it for: write the name as it is listed", name, meant)
		}
	}
	return nil
}
