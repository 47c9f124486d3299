package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/hookd-dev/hookd"

// arrowTable says which packages of the module a package may import, * any; the
// longest matching prefix rules. A package that no prefix names may not exist, so
// that a new one gets its arrows with its first commit.
const arrowTable = `
hookd.go: executor executor/exechook executor/hookenv executor/process loader protocol schema
internal/argschema: protocol/patterns
internal/fsutil:
internal/jsonspan:
internal/lines:
internal/program:
internal/program/hashed:
internal/table:
internal/text:
internal/selfprotect: protocol protocol/toolname
protocol: protocol/internal/eventname
protocol/internal/eventname:
protocol/readreply: protocol
protocol/patterns:
protocol/realpath: protocol
protocol/rule: protocol
protocol/acp: protocol protocol/rpc
protocol/rpc:
protocol/rpc/peer: protocol protocol/rpc
protocol/rpc/crew:
protocol/rpc/relay: protocol/rpc protocol/rpc/crew
protocol/rpc/socket: protocol/rpc/socket/meet
protocol/rpc/socket/meet:
protocol/tables: protocol
protocol/toolname: protocol protocol/patterns
protocol/forced: protocol
protocol/hookmatch: protocol protocol/toolname
protocol/dialect: protocol protocol/dialect/internal/object protocol/toolname
protocol/dialect/hosts: protocol protocol/dialect protocol/dialect/internal/object protocol/toolname
protocol/dialect/foreignhooks: protocol protocol/dialect/internal/object protocol/patterns protocol/readreply protocol/toolname
protocol/dialect/internal/golden: protocol protocol/dialect test/golden
protocol/dialect/internal/object: protocol
protocol/dialect/plugins: protocol
schema/internal: protocol schema schema/internal/jsonschemas schema/testfile schema/units
schema/testfile: protocol schema schema/document
schema: protocol protocol/dialect/foreignhooks protocol/patterns protocol/rule protocol/toolname schema/agentparts schema/document schema/units
schema/document:
schema/agentparts:
schema/units:
executor: executor/hookenv executor/internal/inflight executor/internal/match executor/internal/slots executor/internal/worker executor/record executor/state protocol protocol/dialect/foreignhooks protocol/hookmatch protocol/readreply schema
executor/internal/match: protocol protocol/hookmatch protocol/patterns protocol/realpath protocol/toolname schema
executor/exechook: executor executor/hookenv executor/internal/worker executor/process protocol protocol/dialect/foreignhooks protocol/readreply schema
executor/rule: executor protocol protocol/rule
executor/daemon: executor executor/bridge protocol/rpc/crew executor/daemon/internal/outbox executor/hookenv protocol protocol/dialect/hosts protocol/rpc protocol/rpc/socket protocol/rule schema
loader: executor executor/exechook executor/hookenv executor/process executor/rule loader/internal/bundle loader/internal/candidate loader/internal/discover loader/internal/environment loader/internal/files loader/internal/imports loader/internal/instructions loader/internal/interpreter loader/internal/notify loader/internal/ownership loader/internal/records loader/internal/report loader/internal/rulefile loader/internal/settings loader/internal/trust loader/internal/workspace protocol protocol/dialect/foreignhooks protocol/patterns protocol/rule protocol/toolname schema
loader/internal/bundle: executor/hookenv loader/internal/files loader/internal/interpreter loader/internal/report protocol protocol/patterns protocol/rule schema schema/document schema/testfile
cmd/hookd/internal/report: cmd/hookd/internal/show executor executor/daemon loader protocol protocol/rule schema schema/units
executor/internal/inflight:
executor/internal/slots: protocol
executor/internal/worker: executor/internal/inflight executor/process protocol protocol/readreply
executor/hookenv: executor/process
executor/guest: executor executor/hookenv executor/process executor/state protocol protocol/dialect protocol/dialect/hosts protocol/forced protocol/realpath schema
executor/process:
executor/record: executor/state protocol schema
executor/state:
internal/hookvalues: protocol
executor/daemon/internal/outbox: protocol protocol/rpc
executor/bridge: protocol protocol/dialect
executor/mcphttp: executor/proxied protocol protocol/rpc protocol/rpc/relay
executor/mcpproxy: executor/proxied protocol protocol/rpc/relay protocol/toolname
executor/proxied: protocol protocol/rpc/relay
executor/acpproxy/chain: executor/proxied protocol/acp protocol/rpc protocol/rpc/relay
executor/acpproxy: executor/proxied protocol protocol/acp protocol/rpc/relay protocol/toolname
loader/install: executor/hookenv executor/process loader/install/internal/configtext protocol protocol/dialect protocol/dialect/hosts protocol/dialect/plugins schema
loader/install/internal/configtext: schema/document
loader/install/verify: executor/guest executor/process loader/install loader/install/internal/configtext protocol/dialect protocol/rpc/socket/meet protocol/toolname schema
loader/internal/candidate: executor/hookenv loader/internal/bundle loader/internal/files loader/internal/interpreter loader/internal/records loader/internal/report loader/internal/settings loader/internal/workspace protocol schema
loader/internal/discover: executor/hookenv executor/process loader/internal/bundle loader/internal/candidate loader/internal/environment loader/internal/files loader/internal/imports loader/internal/instructions loader/internal/interpreter loader/internal/ownership loader/internal/records loader/internal/report loader/internal/rulefile loader/internal/settings loader/internal/trust loader/internal/workspace protocol protocol/dialect/foreignhooks schema schema/document
loader/internal/environment: executor/hookenv loader/internal/bundle loader/internal/candidate loader/internal/files loader/internal/interpreter loader/internal/ownership loader/internal/records loader/internal/report loader/internal/workspace protocol schema
loader/internal/files: executor/process
loader/internal/imports: loader/internal/interpreter loader/internal/report loader/internal/settings protocol protocol/dialect/foreignhooks protocol/toolname schema schema/document schema/units
loader/internal/interpreter: executor/hookenv executor/process loader/internal/files loader/internal/ownership loader/internal/report
loader/internal/notify: loader/internal/files
loader/internal/instructions: loader/internal/files loader/internal/report
loader/internal/ownership: loader/internal/files loader/internal/report schema
loader/internal/report: loader/internal/files protocol schema
loader/internal/rulefile: loader/internal/report schema schema/document
loader/internal/settings: protocol schema schema/agentparts schema/document schema/units
loader/internal/records: loader/internal/bundle loader/internal/files loader/internal/interpreter protocol
loader/internal/trust: executor executor/hookenv executor/process executor/record loader/internal/bundle loader/internal/candidate loader/internal/environment loader/internal/files loader/internal/imports loader/internal/interpreter loader/internal/ownership loader/internal/records loader/internal/report loader/internal/settings loader/internal/workspace protocol protocol/dialect/foreignhooks schema
loader/internal/workspace: executor/hookenv loader/internal/files loader/internal/ownership
agentloop: agentloop/builtin agentloop/internal/answer agentloop/internal/conversation agentloop/internal/gohooks agentloop/internal/limits agentloop/internal/toolset agentloop/model agentloop/provider agentloop/recipe agentloop/store agentloop/tool protocol protocol/forced
agentloop/internal/answer: agentloop/model protocol
agentloop/internal/conversation: agentloop/store protocol
agentloop/internal/gohooks: protocol protocol/hookmatch
agentloop/internal/limits: protocol
agentloop/internal/toolset: agentloop/tool protocol
agentloop/model: protocol protocol/patterns
agentloop/provider: agentloop/tool protocol
agentloop/builtin: agentloop/instruction agentloop/provider agentloop/skill agentloop/tool protocol protocol/patterns
internal/shellwords: protocol/patterns
agentloop/skill: agentloop/frontmatter protocol
agentloop/instruction: protocol
agentloop/recipe: agentloop/frontmatter protocol
agentloop/frontmatter:
agentloop/toolschema:
agentloop/mcp: agentloop/mcp/internal/wire agentloop/tool agentloop/toolschema protocol protocol/patterns protocol/toolname
agentloop/mcp/internal/wire: protocol
agentloop/model/internal: agentloop/model protocol
agentloop/model/anthropic: agentloop/model agentloop/model/internal/wire agentloop/toolschema protocol
agentloop/model/openai: agentloop/model agentloop/model/internal/wire agentloop/toolschema protocol
agentloop/model/cassette: agentloop/model protocol
agentloop/tool: agentloop/tool/internal/projectfile agentloop/tool/internal/textedit protocol protocol/patterns protocol/realpath
agentloop/tool/internal/projectfile: protocol protocol/realpath
internal/protect: protocol/realpath
agentloop/tool/internal/textedit:
agentloop/store: protocol
client: protocol protocol/rpc protocol/rpc/socket
cmd/hookd: *
cmd/hookd/internal/agentcmd: agentloop cmd/hookd/internal/chat cmd/hookd/internal/cli cmd/hookd/internal/conversation cmd/hookd/internal/engine cmd/hookd/internal/jsonsession cmd/hookd/internal/question cmd/hookd/internal/runview cmd/hookd/internal/sessionscmd cmd/hookd/internal/show cmd/hookd/internal/terminal loader protocol
cmd/hookd/internal/bridgecmd: cmd/hookd/internal/cli cmd/hookd/internal/engine cmd/hookd/internal/places cmd/hookd/internal/show executor executor/bridge executor/guest executor/hookenv protocol protocol/dialect protocol/dialect/hosts
cmd/hookd/internal/chat: agentloop agentloop/model cmd/hookd/internal/chat/internal/completion cmd/hookd/internal/cli cmd/hookd/internal/conversation cmd/hookd/internal/engine cmd/hookd/internal/places cmd/hookd/internal/question cmd/hookd/internal/report cmd/hookd/internal/runview cmd/hookd/internal/sessionscmd cmd/hookd/internal/show cmd/hookd/internal/terminal cmd/hookd/internal/trustcmd executor loader protocol
cmd/hookd/internal/chat/internal/completion:
cmd/hookd-bridge: protocol/rpc/socket/meet
cmd/hookd/internal/cli: cmd/hookd/internal/show cmd/hookd/internal/terminal protocol
cmd/hookd/internal/conversation: agentloop agentloop/builtin agentloop/instruction agentloop/mcp agentloop/model agentloop/provider agentloop/recipe agentloop/skill agentloop/store agentloop/tool cmd/hookd/internal/cli cmd/hookd/internal/engine cmd/hookd/internal/models cmd/hookd/internal/places cmd/hookd/internal/sessionscmd cmd/hookd/internal/show cmd/hookd/internal/trustcmd cmd/hookd/internal/trustquestion executor executor/hookenv executor/process loader protocol protocol/toolname schema schema/agentparts
cmd/hookd/internal/engine: cmd/hookd/internal/cli cmd/hookd/internal/places cmd/hookd/internal/report cmd/hookd/internal/show cmd/hookd/internal/signals executor executor/daemon executor/exechook executor/guest executor/hookenv executor/process loader loader/install loader/install/verify protocol protocol/dialect/hosts schema
cmd/hookd/internal/eventcmd: cmd/hookd/internal/cli cmd/hookd/internal/engine cmd/hookd/internal/faultyhook cmd/hookd/internal/places cmd/hookd/internal/report cmd/hookd/internal/show executor executor/daemon executor/exechook executor/hookenv executor/process executor/record loader protocol protocol/dialect/foreignhooks protocol/realpath protocol/toolname schema schema/testfile schema/units
cmd/hookd/internal/faultyhook: protocol/dialect/foreignhooks
cmd/hookd/internal/hookcmd: cmd/hookd/internal/cli cmd/hookd/internal/engine cmd/hookd/internal/places cmd/hookd/internal/report cmd/hookd/internal/shellhook cmd/hookd/internal/show cmd/hookd/internal/terminal examples executor executor/daemon executor/exechook executor/hookenv executor/process executor/record loader loader/install loader/install/verify protocol schema schema/testfile
cmd/hookd/internal/installcmd: cmd/hookd/internal/cli cmd/hookd/internal/engine cmd/hookd/internal/places cmd/hookd/internal/show executor/guest loader loader/install loader/install/verify
cmd/hookd/internal/jsonsession: agentloop agentloop/model cmd/hookd/internal/cli cmd/hookd/internal/conversation cmd/hookd/internal/engine cmd/hookd/internal/runview protocol
cmd/hookd/internal/logcmd: cmd/hookd/internal/cli cmd/hookd/internal/engine cmd/hookd/internal/places cmd/hookd/internal/report cmd/hookd/internal/show executor executor/process executor/record executor/state protocol protocol/toolname
cmd/hookd/internal/acpcmd: cmd/hookd/internal/cli cmd/hookd/internal/engine cmd/hookd/internal/guarded cmd/hookd/internal/places cmd/hookd/internal/signals executor/acpproxy executor/acpproxy/chain executor/hookenv executor/proxied protocol/rpc/relay
cmd/hookd/internal/acpagent: agentloop agentloop/mcp agentloop/model agentloop/store agentloop/tool cmd/hookd/internal/acpterminal cmd/hookd/internal/acpview cmd/hookd/internal/cli cmd/hookd/internal/conversation cmd/hookd/internal/engine cmd/hookd/internal/places cmd/hookd/internal/report cmd/hookd/internal/sessionscmd cmd/hookd/internal/show cmd/hookd/internal/signals cmd/hookd/internal/terminal executor executor/daemon protocol protocol/acp protocol/readreply protocol/rpc protocol/rpc/peer protocol/toolname schema/agentparts
cmd/hookd/internal/acpterminal: agentloop/tool cmd/hookd/internal/show protocol protocol/acp protocol/rpc protocol/rpc/peer protocol/rpc/socket
cmd/hookd/internal/acpview: agentloop cmd/hookd/internal/report cmd/hookd/internal/runview cmd/hookd/internal/show protocol protocol/acp
cmd/hookd/internal/guarded: cmd/hookd/internal/cli cmd/hookd/internal/engine cmd/hookd/internal/report cmd/hookd/internal/show executor/process executor/proxied protocol protocol/rpc/relay
cmd/hookd/internal/mcpcmd: cmd/hookd/internal/cli cmd/hookd/internal/engine cmd/hookd/internal/guarded cmd/hookd/internal/places cmd/hookd/internal/show cmd/hookd/internal/signals executor/hookenv executor/mcphttp executor/mcpproxy executor/proxied protocol protocol/toolname
cmd/hookd/internal/models: agentloop/model agentloop/model/anthropic agentloop/model/cassette agentloop/model/openai cmd/hookd/internal/cli protocol protocol/patterns schema schema/agentparts
cmd/hookd/internal/newcmd: cmd/hookd/internal/cli cmd/hookd/internal/places cmd/hookd/internal/show cmd/hookd/internal/takehook loader protocol schema/testfile
cmd/hookd/internal/places: cmd/hookd/internal/cli cmd/hookd/internal/show executor loader protocol schema/testfile
cmd/hookd/internal/question: agentloop cmd/hookd/internal/cli cmd/hookd/internal/report cmd/hookd/internal/show cmd/hookd/internal/terminal protocol
cmd/hookd/internal/runview: agentloop agentloop/builtin cmd/hookd/internal/cli cmd/hookd/internal/engine cmd/hookd/internal/report cmd/hookd/internal/show executor/process protocol
cmd/hookd/internal/servecmd: cmd/hookd/internal/cli cmd/hookd/internal/engine cmd/hookd/internal/places cmd/hookd/internal/show cmd/hookd/internal/signals executor executor/daemon executor/exechook executor/guest executor/hookenv executor/process loader protocol protocol/rpc protocol/rpc/socket protocol/rpc/socket/meet schema
cmd/hookd/internal/sessionscmd: agentloop/store cmd/hookd/internal/cli cmd/hookd/internal/places cmd/hookd/internal/report cmd/hookd/internal/show executor/state protocol
cmd/hookd/internal/shellhook: protocol
cmd/hookd/internal/show:
cmd/hookd/internal/signals:
cmd/hookd/internal/takehook: cmd/hookd/internal/cli cmd/hookd/internal/places cmd/hookd/internal/show examples loader
cmd/hookd/internal/terminal: cmd/hookd/internal/show
cmd/hookd/internal/trustcmd: cmd/hookd/internal/cli cmd/hookd/internal/places cmd/hookd/internal/show loader protocol schema
cmd/hookd/internal/trustquestion: cmd/hookd/internal/question cmd/hookd/internal/show cmd/hookd/internal/terminal cmd/hookd/internal/trustcmd loader
examples:
test/modelserver:
test/picture:
test/asuser:
test/bench: * cmd/hookd
test/evasions:
test/dialogue: executor executor/proxied protocol protocol/rpc/relay
test/golden:
test/hooktest: protocol schema
test/interop:
test/progress: executor/guest
test/prove:
test/prove/run: test/prove
test/prove/fuzz:
test/release: test/release/manual
test/release/manual:
test/systems:
test/integration: *
`

var arrows = func() map[string][]string {
	table := make(map[string][]string)
	for row := range strings.Lines(strings.TrimSpace(arrowTable)) {
		pkg, imports, _ := strings.Cut(row, ":")
		if table[pkg] != nil {
			panic("two rows of import arrows for " + pkg)
		}
		table[pkg] = append([]string{}, strings.Fields(imports)...)
	}
	return table
}()

func TestImportArrows(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := 0
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages++
		from := ourPackage(p.ImportPath)
		allowed, known := arrowsOf(from)
		if !known {
			t.Errorf("%s: a package without import arrows; add it to the table", from)
			continue
		}
		for _, imported := range p.Imports {
			to := ourPackage(imported)
			if to != "" && !mayImport(allowed, to) {
				t.Errorf("%s imports %s; the arrows allow %q", from, to, allowed)
			}
		}
	}
	if packages < 10 {
		t.Errorf("go list found only %d packages", packages)
	}
}

// ourPackage returns the path of a package of the module below its root, "hookd.go"
// for the root package, and "" for a package of others.
func ourPackage(path string) string {
	if path == module {
		return "hookd.go"
	}
	below, ours := strings.CutPrefix(path, module+"/")
	if !ours {
		return ""
	}
	return below
}

func arrowsOf(pkg string) (allowed []string, known bool) {
	longest := -1
	for prefix, to := range arrows {
		if isWithin(pkg, prefix) && len(prefix) > longest {
			longest, allowed, known = len(prefix), to, true
		}
	}
	return allowed, known
}

// mayImport reports whether an entry names the package, or for the wildcard *
// any package. The packages below one must be named themselves.
func mayImport(allowed []string, pkg string) bool {
	return slices.Contains(allowed, pkg) || slices.Contains(allowed, "*") || strings.HasPrefix(pkg, "internal/")
}

func isWithin(pkg, prefix string) bool {
	return prefix == "" || pkg == prefix || strings.HasPrefix(pkg, prefix+"/")
}
