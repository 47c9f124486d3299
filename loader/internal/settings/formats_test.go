package settings

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// one is the same settings in each format, with a byte order mark and CRLF in
// one of them (H18).
var one = map[string]string{
	"acai.json": "\xef\xbb\xbf" + `{"other": {"Key": 1},` + "\r\n" + ` "hooks": {"timeout": 5, "budget": "1m30s", "parallel": 2, "required": ["guard.sh"],
  "limits": {"reply": "2MiB", "depth": 100}, "onFailure": "block", "env": ["MY_VAR"],
  "use": [{"name": "guard.sh", "events": ["PreToolUse", "agent-stop"], "match": {"tool": "bash", "when": "a < b"}, "can": "block", "timeout": "2s", "priority": -5},
          {"name": "all", "command": ["./x", "a,b"], "events": "*", "required": true}]},
 "agent": {"model": "m", "limits": {"steps": 7}, "compaction": {"threshold": 0.5, "auto": false},
  "mcpServers": {"My.Server": {"command": "srv", "args": ["-x"], "env": {"A_b": "c"}}}}}`,
	"acai.yaml": `other: {Key: 1}
hooks:
  timeout: 5
  budget: 1m30s
  parallel: 2
  required: [guard.sh]
  limits: {reply: 2MiB, depth: 100}
  onFailure: block
  env: [MY_VAR]
  use:
    - name: guard.sh
      events: [PreToolUse, agent-stop]
      match: {tool: bash, when: a < b}
      can: block
      timeout: 2s
      priority: -5
    - name: all
      command: [./x, "a,b"]
      events: "*"
      required: true
agent:
  model: m
  limits: {steps: 7}
  compaction: {threshold: 0.5, auto: false}
  mcpServers:
    My.Server: {command: srv, args: [-x], env: {A_b: c}}
`,
	"acai.toml": `other.Key = 1
[hooks]
timeout = 5
budget = "1m30s"
parallel = 2
required = ["guard.sh"]
limits = {reply = "2MiB", depth = 100}
onFailure = "block"
env = ["MY_VAR"]
[[hooks.use]]
name = "guard.sh"
events = ["PreToolUse", "agent-stop"]
match.tool = "bash"
match.when = "a < b"
can = "block"
timeout = "2s"
priority = -5
[[hooks.use]]
name = "all"
command = ["./x", "a,b"]
events = "*"
required = true
[agent]
model = "m"
limits.steps = 7
[agent.compaction]
threshold = 0.5
auto = false
[agent.mcpServers."My.Server"]
command = "srv"
args = ["-x"]
env = {A_b = "c"}
`,
}

func TestThreeFormatsOneResult(t *testing.T) {
	var want schema.LayerSettings
	for i, name := range Names {
		got, findings, err := Decode(name, []byte(one[name]), protocol.User)
		if err != nil || len(findings) > 0 {
			t.Fatalf("%s: %v %v", name, err, findings)
		}
		if i == 0 {
			want = got
			continue
		}
		ignore := cmp.Options{
			cmpopts.IgnoreFields(schema.LayerSettings{}, "File", "Hash"),
			cmpopts.IgnoreFields(schema.MCPServer{}, "Line"), cmpopts.IgnoreTypes(schema.Pos{}), cmpopts.IgnoreUnexported(schema.Described{}),
		}
		if diff := cmp.Diff(want, got, ignore); diff != "" {
			t.Errorf("%s differs (-json +this):\n%s", name, diff)
		}
	}
}

// Commands that live for one event read the settings each time.
func BenchmarkReadAndMerge(b *testing.B) {
	for b.Loop() {
		var layers []schema.LayerSettings
		for _, layer := range falling {
			settings, _, err := Decode("acai.json", []byte(one["acai.json"]), layer)
			if err != nil {
				b.Fatal(err)
			}
			layers = append(layers, settings)
		}
		Merge(layers...)
	}
}

// falling are the layers from the highest to the lowest.
var falling = []protocol.Layer{protocol.Managed, protocol.User, protocol.Project}
