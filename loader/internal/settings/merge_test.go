package settings

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/units"
	"github.com/hookd-dev/hookd/test/prove"
)

// layerOf reads a layer's settings that must be without fault.
func layerOf(t *testing.T, layer protocol.Layer, text string) schema.LayerSettings {
	t.Helper()
	settings, findings, err := Decode(string(layer)+".json", []byte(text), layer)
	if err != nil || len(findings) > 0 {
		t.Fatalf("%s %s: %v %v", layer, text, err, lines(findings))
	}
	return settings
}

// nested writes a dotted key and its value as an object.
func nested(key, value string) string {
	parts := strings.Split(key, ".")
	return `{"` + strings.Join(parts, `": {"`) + `": ` + value + strings.Repeat("}", len(parts))
}

func TestMerge(t *testing.T) {
	const none = "{}"
	tests := []struct {
		name                   string
		key                    string
		project, user, managed string // the values, "" for none
		get                    func(*schema.Settings) any
		want                   any
		findings               []string
	}{
		{"default", "hooks.timeout", "", "", "",
			func(s *schema.Settings) any { return s.Hooks.Timeout }, 30 * time.Second, nil},
		{"looser than the default", "hooks.timeout", `"2m"`, "", "",
			func(s *schema.Settings) any { return s.Hooks.Timeout }, 2 * time.Minute, nil},
		{"the project tightens the user", "hooks.timeout", `5`, `"10s"`, "",
			func(s *schema.Settings) any { return s.Hooks.Timeout }, 5 * time.Second, nil},
		{"the project cannot loosen the user", "hooks.timeout", `"20s"`, `"10s"`, "",
			func(s *schema.Settings) any { return s.Hooks.Timeout }, 10 * time.Second,
			[]string{"warning loosens-higher-layer project.json:1 hooks.timeout: hooks.timeout 20s of the project settings has no effect: the user settings' 10s stands -> write a tighter value, or none"}},
		{"each layer tightens", "hooks.timeout", `"1s"`, `"2s"`, `"3s"`,
			func(s *schema.Settings) any { return s.Hooks.Timeout }, time.Second, nil},
		{"both loosen", "hooks.budget", `"30m"`, `"20m"`, `"10s"`,
			func(s *schema.Settings) any { return s.Hooks.Budget }, 10 * time.Second,
			[]string{
				"warning loosens-higher-layer user.json:1 hooks.budget: hooks.budget 20m of the user settings has no effect: the managed settings' 10s stands -> write a tighter value, or none",
				"warning loosens-higher-layer project.json:1 hooks.budget: hooks.budget 30m of the project settings has no effect: the managed settings' 10s stands -> write a tighter value, or none",
			}},
		{"project before user where nothing is tighter", "agent.model", `"p"`, `"u"`, "",
			func(s *schema.Settings) any { return s.Agent.Model }, "p", nil},
		{"managed stands where nothing is tighter", "agent.model", `"p"`, `"m"`, `"m"`,
			func(s *schema.Settings) any { return s.Agent.Model }, "m",
			[]string{`warning loosens-higher-layer project.json:1 agent.model: agent.model p of the project settings has no effect: the managed settings' m stands -> leave it to the managed settings`}},
		{"no limit is looser than any", "agent.limits.tokens", `0`, `5000`, "",
			func(s *schema.Settings) any { return s.Agent.Limits.Tokens }, int64(5000),
			[]string{"warning loosens-higher-layer project.json:1 agent.limits.tokens: agent.limits.tokens 0 of the project settings has no effect: the user settings' 5000 stands -> write a tighter value, or none"}},
		{"a limit is tighter than none", "agent.limits.tokens", `5000`, `0`, "",
			func(s *schema.Settings) any { return s.Agent.Limits.Tokens }, int64(5000), nil},
		{"waiting for ever is looser", "agent.approval.timeout", "", `"none"`, `"1m"`,
			func(s *schema.Settings) any { return s.Agent.Approval.Timeout }, time.Minute,
			[]string{"warning loosens-higher-layer user.json:1 agent.approval.timeout: agent.approval.timeout none of the user settings has no effect: the managed settings' 1m stands -> write a tighter value, or none"}},
		{"approval never looser", "agent.approval.mode", "", `"allow"`, `"ask"`,
			func(s *schema.Settings) any { return s.Agent.Approval.Mode }, "ask",
			[]string{"warning loosens-higher-layer user.json:1 agent.approval.mode: agent.approval.mode allow of the user settings has no effect: the managed settings' ask stands -> write a tighter value, or none"}},
		{"stop is stricter than continue", "hooks.onToolBlock", `"stop"`, `"continue"`, "",
			func(s *schema.Settings) any { return s.Hooks.OnToolBlock }, protocol.RuleStop, nil},
		{"the project records less", "hooks.records.values", `"none"`, "", "",
			func(s *schema.Settings) any { return s.Hooks.Records.Values }, schema.ValuesNone, nil},
		{"managed fixes the records", "hooks.records.values", `"none"`, "", `"full"`,
			func(s *schema.Settings) any { return s.Hooks.Records.Values }, schema.ValuesFull,
			[]string{"warning loosens-higher-layer project.json:1 hooks.records.values: hooks.records.values none of the project settings has no effect: the managed settings' full stands -> leave it to the managed settings"}},
		{"own layer's hooks only", "hooks.enabled", `false`, "", `true`,
			func(s *schema.Settings) any { return s.Hooks.Enabled },
			map[protocol.Layer]bool{protocol.Project: false, protocol.User: true, protocol.Managed: true}, nil},
		{"own rule, not looser than above", "hooks.onFailure", `"continue"`, `"stop"`, `"block"`,
			func(s *schema.Settings) any { return s.Hooks.OnFailure },
			map[protocol.Layer]protocol.Rule{protocol.User: protocol.RuleStop, protocol.Managed: protocol.RuleBlock},
			[]string{"warning loosens-higher-layer project.json:1 hooks.onFailure: hooks.onFailure continue of the project settings has no effect: the managed settings' block stands -> write a stricter rule, or none"}},
		{"own variables", "hooks.env", `["P"]`, `["U"]`, "",
			func(s *schema.Settings) any { return s.Hooks.Env },
			map[protocol.Layer][]string{protocol.Project: {"P"}, protocol.User: {"U"}, protocol.Managed: {}}, nil},
		{"required names are united", "hooks.required", `["p", "m"]`, `["u"]`, `["m"]`,
			func(s *schema.Settings) any { return s.Hooks.Required }, []string{"m", "u", "p"}, nil},
		{"denied commands are united", "agent.tools.bash.deny", `["p"]`, "", `["m"]`,
			func(s *schema.Settings) any { return s.Agent.Tools.Bash.Deny }, []string{"m", "p"}, nil},
		{"allowed commands only get fewer", "agent.tools.bash.allow", "", `["ls", "rm"]`, `["ls", "cat"]`,
			func(s *schema.Settings) any { return s.Agent.Tools.Bash.Allow }, []string{"ls"},
			[]string{`warning loosens-higher-layer user.json:1 agent.tools.bash.allow[1]: agent.tools.bash.allow "rm" of the user settings has no effect: the managed settings do not allow it -> remove it`}},
		{"a list where nothing is tighter", "agent.tools.env", `["P"]`, `["U"]`, "",
			func(s *schema.Settings) any { return s.Agent.Tools.Env }, []string{"P"}, nil},
		{"a managed list stands", "agent.headers", "", `["A: u"]`, `["A: m"]`,
			func(s *schema.Settings) any { return s.Agent.Headers }, []string{"A: m"},
			[]string{"warning loosens-higher-layer user.json:1 agent.headers: agent.headers [A: …] of the user settings has no effect: the managed settings' [A: …] stands -> leave it to the managed settings"}},
		{"prices by model", "agent.prices", "", `[{"model":"a","inputPerMTok":1},{"model":"b","inputPerMTok":1}]`, `[{"model":"a","inputPerMTok":2}]`,
			func(s *schema.Settings) any { return s.Agent.Prices },
			[]schema.Price{{Model: "a", InputPerMTok: 2}, {Model: "b", InputPerMTok: 1}}, nil},
		{"servers by name", "agent.mcpServers", `{"Git.Hub":{"command":"p"},"m":{"command":"p"}}`, `{"Git.Hub":{"command":"u"}}`, `{"m":{"url":"https://m"}}`,
			func(s *schema.Settings) any { return s.Agent.MCPServers },
			map[string]schema.MCPServer{"Git.Hub": {Layer: protocol.Project, Line: 1, Command: "p"}, "m": {Layer: protocol.Managed, Line: 1, URL: "https://m"}},
			[]string{`warning loosens-higher-layer project.json:1 agent.mcpServers: the server "m" of the project settings has no effect: the managed settings have one of that name -> give it another name`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var layers []schema.LayerSettings
			for layer, value := range map[protocol.Layer]string{protocol.Project: tt.project, protocol.User: tt.user, protocol.Managed: tt.managed} {
				text := none
				if value != "" {
					text = nested(tt.key, value)
				}
				layers = append(layers, layerOf(t, layer, text))
			}
			got, findings := Merge(layers...)
			if diff := cmp.Diff(tt.want, tt.get(&got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.key, diff)
			}
			if diff := cmp.Diff(tt.findings, lines(findings)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMergeOfNothingIsTheDefaults(t *testing.T) {
	got, findings := Merge()
	if len(findings) > 0 {
		t.Errorf("findings: %v", lines(findings))
	}
	yes := map[protocol.Layer]bool{protocol.Project: true, protocol.User: true, protocol.Managed: true}
	no := map[protocol.Layer][]string{protocol.Project: {}, protocol.User: {}, protocol.Managed: {}}
	want := schema.Settings{
		Hooks: schema.HookSettings{
			Enabled: yes, Discover: yes, Env: no, Path: no, Import: no, Required: []string{},
			Timeout: 30 * time.Second, Budget: time.Minute, Grace: 500 * time.Millisecond, Drain: 5 * time.Second,
			MaxHooks: 100, OnToolBlock: protocol.RuleContinue, SelfProtection: "on", Parallel: 1, Processes: 16, ObserverQueue: 256,
			MaxForced: 5, MaxForcedTotal: 20, MaxDepth: 2,
			Limits:  schema.Limits{Event: 32 << 20, Reply: 1 << 20, Stderr: 64 << 10, Context: 64 << 10, State: 64 << 10, Metadata: 16 << 10, Depth: 512},
			Standby: schema.StandbySettings{Pool: 1, Idle: 5 * time.Minute},
			Records: schema.RecordSettings{Values: schema.ValuesHash, Keep: 30 * 24 * time.Hour, MaxSize: 256 << 20},
			Trust:   schema.TrustSettings{Always: []string{}, Folders: []schema.TrustedFolder{}, Hashes: []string{}}, Allow: []string{"managed", "user", "project"},
		},
		Agent: schema.AgentSettings{
			Headers:    []string{},
			Limits:     schema.AgentLimits{Steps: 20, Tokens: 32_768, Time: 5 * time.Minute, Retries: 3, ToolCalls: 4},
			Compaction: schema.CompactionSettings{Auto: true, Threshold: 0.8, Recipe: "compact", KeepFirst: 1},
			Approval:   schema.ApprovalSettings{Mode: "ask", Tools: []string{}, WhenAlone: "deny"},
			Tools: schema.ToolSettings{
				Bash: schema.BashSettings{Timeout: 2 * time.Minute, Output: 32 << 10, Deny: []string{}, Allow: []string{}}, Env: []string{},
			},
			Subagents: schema.SubagentSettings{Depth: 3}, Instructions: schema.InstructionSettings{Limit: 64 << 10}, Summarize: schema.SummarizeSettings{Tokens: 60_000}, SelfCritique: schema.SelfCritiqueSettings{Rounds: 2}, ProvidersOff: []string{}, Features: []string{}, Prices: []schema.Price{}, MCPServers: map[string]schema.MCPServer{},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

// A hash or a layer's hooks come in only as far as the managed layer lets them.
func TestManagedAllow(t *testing.T) {
	mine, theirs := strings.Repeat("a", 64), strings.Repeat("b", 64)
	tests := []struct {
		name    string
		managed string
		hashes  []string
		allow   []string
	}{
		{"nothing said", `{}`, []string{theirs}, []string{"managed", "user", "project"}},
		{"projects allowed", `{"hooks": {"allow": ["managed", "project"], "trust": {"hashes": ["` + mine + `"]}}}`, []string{mine, theirs}, []string{"managed", "project"}},
		{"only its own hashes", `{"hooks": {"allow": ["managed", "hashes"], "trust": {"hashes": ["` + mine + `"]}}}`, []string{mine}, []string{"managed", "hashes"}},
		{"only its own hooks", `{"hooks": {"allow": ["managed"]}}`, []string{}, []string{"managed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			user := layerOf(t, protocol.User, `{"hooks": {"trust": {"hashes": ["`+theirs+`"]}}}`)
			got, findings := Merge(user, layerOf(t, protocol.Managed, tt.managed))
			if diff := cmp.Diff([][]string{tt.hashes, tt.allow}, [][]string{got.Hooks.Trust.Hashes, got.Hooks.Allow}); diff != "" {
				t.Errorf("hashes and allow (-want +got):\n%s", diff)
			}
			if reported := len(findings) == 1; reported == slices.Contains(tt.hashes, theirs) {
				t.Errorf("findings: %v", lines(findings))
			}
		})
	}
}

// A managed allow that cannot be read lets nobody in but the managed hooks.
func TestUnreadableAllowIsTheStrictest(t *testing.T) {
	for _, value := range []string{`"managed"`, `{}`, `["usr"]`, `[1]`, `["managed"], "allow": ["project"]`} {
		layer, findings, err := Decode("m.json", []byte(`{"hooks": {"allow": `+value+`}}`), protocol.Managed)
		if err != nil || len(findings) != 1 {
			t.Fatalf("%s: %v %v", value, err, lines(findings))
		}
		got, _ := Merge(layer)
		if diff := cmp.Diff([]string{"managed"}, got.Hooks.Allow); diff != "" {
			t.Errorf("allow: %s (-want +got):\n%s", value, diff)
		}
	}
}

// A mode of approval that cannot be read may have been a no: no other layer says yes.
func TestUnreadableApprovalModeIsANo(t *testing.T) {
	user := layerOf(t, protocol.User, `{"agent": {"approval": {"mode": "allow"}}}`)
	for _, text := range []string{`{"mode": "Deny"}`, `{"mode": ["deny"]}`, `{"mode": null}`, `{"mode": "deny", "mode": "ask"}`, `"deny"`} {
		managed, findings, err := Decode("m.json", []byte(`{"agent": {"approval": `+text+`}}`), protocol.Managed)
		if err != nil || len(findings) != 1 {
			t.Fatalf("%s: %v %v", text, err, lines(findings))
		}
		if got, _ := Merge(user, managed); got.Agent.Approval.Mode != "deny" {
			t.Errorf("%s: the mode is %s", text, got.Agent.Approval.Mode)
		}
	}
}

// What YAML would merge at the top is not read, and that is said.
func TestMergeKeyIsNotSilent(t *testing.T) {
	_, findings, err := Decode("acai.yaml", []byte("x: &x {agent: {tools: {bash: {deny: [rm]}}}}\n<<: *x\n"), protocol.User)
	if err != nil || len(findings) != 1 || !strings.Contains(findings[0].Message, "<<") {
		t.Errorf("%v %v", err, lines(findings))
	}
	_, findings, err = Decode("acai.yaml", []byte("hooks: {enabled: !!bool yes}\n"), protocol.User)
	if err != nil || len(findings) != 1 || !strings.Contains(findings[0].Message, "not true or false") {
		t.Errorf("%v %v", err, lines(findings))
	}
}

// A layer can switch off a feature only while no layer above it set what the
// feature keeps.
func TestFeaturesStayOnWhereAHigherLayerSetThem(t *testing.T) {
	for _, c := range []struct {
		project, user, managed string
		off                    []string
		findings               int
	}{
		{`{"providers": ["steps", "bash", "skills"]}`, `{}`, `{}`, []string{"steps", "bash", "skills"}, 0},
		{`{"providers": ["steps", "skills"]}`, `{}`, `{"limits": {"steps": 5}}`, []string{"skills"}, 1},
		{`{"providers": ["time", "skills"]}`, `{}`, `{"limits": {"steps": 5}}`, []string{"time", "skills"}, 0},
		{`{"providers": ["bash", "budget"]}`, `{"tools": {"bash": {"deny": ["rm"]}}, "limits": {"cost": 1}}`, `{}`, []string{}, 2},
		{`{"providers": ["approval"]}`, `{"approval": {"mode": "deny"}}`, `{}`, []string{}, 1},
		{`{}`, `{"tools": {"bash": {"deny": ["rm"]}}, "providers": ["bash"]}`, `{}`, []string{"bash"}, 0},
		{`{}`, `{"providers": ["bash"]}`, `{"tools": {"bash": {"allow": ["ls"]}}}`, []string{}, 1},
	} {
		layer := func(l protocol.Layer, agent string) schema.LayerSettings {
			return layerOf(t, l, `{"agent": `+agent+`}`)
		}
		got, findings := Merge(layer(protocol.Project, c.project), layer(protocol.User, c.user), layer(protocol.Managed, c.managed))
		off := append([]string{}, got.Agent.ProvidersOff...)
		if diff := cmp.Diff(c.off, off); diff != "" || len(findings) != c.findings {
			t.Errorf("%s, %s, %s: %s%q", c.project, c.user, c.managed, diff, lines(findings))
		}
	}
}

// What cannot be read of the commands that are denied or allowed never lets more
// run than what was written, and no narrowing makes an empty list, which would
// allow all.
func TestCommandListsNeverLoosen(t *testing.T) {
	const nothing = schema.MatchesNothing
	for _, c := range []struct {
		user, managed string
		deny, allow   []string
	}{
		{`{"deny": ["rm", "/(/"]}`, `{}`, []string{"rm", "*"}, []string{}},
		{`{"deny": "rm"}`, `{}`, []string{"*"}, []string{}},
		{`{"allow": ["/(/"]}`, `{}`, []string{}, []string{nothing}},
		{`{"allow": ["ls", 1]}`, `{}`, []string{}, []string{"ls", nothing}},
		{`{"allow": ["rm"]}`, `{"allow": ["ls"]}`, []string{}, []string{nothing}},
		{`{"allow": []}`, `{"allow": ["ls"]}`, []string{}, []string{nothing}},
		{`{"allow": ["ls"]}`, `{"allow": []}`, []string{}, []string{"ls"}},
		{`{}`, `{"allow": ["ls"]}`, []string{}, []string{"ls"}},
	} {
		layer := func(l protocol.Layer, bash string) schema.LayerSettings {
			settings, _, err := Decode("x.json", []byte(`{"agent": {"tools": {"bash": `+bash+`}}}`), l)
			if err != nil {
				t.Fatal(err)
			}
			return settings
		}
		got, _ := Merge(layer(protocol.User, c.user), layer(protocol.Managed, c.managed))
		bash := got.Agent.Tools.Bash
		if diff := cmp.Diff([][]string{c.deny, c.allow}, [][]string{bash.Deny, bash.Allow}); diff != "" {
			t.Errorf("user %s, managed %s (-want +got):\n%s", c.user, c.managed, diff)
		}
	}
}

// The layer that set the mode of approval is known: an answer of the mode counts
// as far as that layer's word does.
func TestApprovalModeKnowsItsLayer(t *testing.T) {
	for _, c := range []struct {
		user, managed string
		mode          string
		by            protocol.Layer
	}{
		{"", "", "ask", ""},
		{"allow", "", "allow", protocol.User},
		{"allow", "allow", "allow", protocol.Managed},
		{"allow", "ask", "ask", protocol.Managed},
		{"deny", "allow", "deny", protocol.User},
	} {
		var layers []schema.LayerSettings
		for layer, mode := range map[protocol.Layer]string{protocol.User: c.user, protocol.Managed: c.managed} {
			if mode != "" {
				layers = append(layers, layerOf(t, layer, `{"agent": {"approval": {"mode": "`+mode+`"}}}`))
			}
		}
		got, _ := Merge(layers...)
		if a := got.Agent.Approval; a.Mode != c.mode || a.ModeLayer != c.by {
			t.Errorf("user %q, managed %q: %s of %q", c.user, c.managed, a.Mode, a.ModeLayer)
		}
	}
}

// What a list of commands asks is asked for the highest layer that wrote one.
func TestWhoListsCommands(t *testing.T) {
	for _, c := range []struct {
		project, user, managed string
		want                   protocol.Layer
	}{
		{"{}", "{}", "{}", ""},
		{`{"deny": ["rm"]}`, "{}", "{}", protocol.Project},
		{`{"deny": ["rm"]}`, `{"allow": ["ls"]}`, `{"allow": []}`, protocol.User},
		{`{"deny": ["rm"]}`, `{"allow": ["ls"]}`, `{"deny": ["git push"]}`, protocol.Managed},
	} {
		var layers []schema.LayerSettings
		for layer, bash := range map[protocol.Layer]string{protocol.Project: c.project, protocol.User: c.user, protocol.Managed: c.managed} {
			layers = append(layers, layerOf(t, layer, `{"agent": {"tools": {"bash": `+bash+`}}}`))
		}
		if got, _ := Merge(layers...); got.Agent.Tools.Bash.Layer != c.want {
			t.Errorf("%+v: layer %q", c, got.Agent.Tools.Bash.Layer)
		}
	}
}

// Every setting of a managed file that has a direction is attacked from each
// lower layer in each format; the effective settings must not move (G20).
func TestManagedSettingsCannotBeLoosened(t *testing.T) {
	attempts := 0
	for i := range schema.Keys {
		key := &schema.Keys[i]
		tight, loose := attack(key)
		if tight == "" {
			continue
		}
		managed, findings, err := Decode("managed.json", []byte(nested(key.Name, tight)), protocol.Managed)
		if err != nil || len(findings) > 0 {
			t.Fatalf("%s: %v %v", key.Name, err, lines(findings))
		}
		want, _ := Merge(managed)
		for _, layer := range []protocol.Layer{protocol.User, protocol.Project} {
			lower, findings, err := Decode("lower.json", []byte(nested(key.Name, loose)), layer)
			if err != nil {
				t.Fatalf("%s: %v", key.Name, err)
			}
			for _, order := range [][]schema.LayerSettings{{managed, lower}, {lower, managed}} {
				attempts++
				got, more := Merge(order...)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s from %s moved the managed %s:\n%s", key.Name, loose, layer, tight, diff)
				}
				if len(findings)+len(more) == 0 {
					t.Errorf("%s: %s from %s was not reported", key.Name, loose, layer)
				}
			}
		}
	}
	if attempts < 100 {
		t.Errorf("only %d attempts", attempts)
	}
	prove.Figure(t, "G20", "%d attempts of lower layers on a managed setting: none moved it", attempts)
}

// attack returns a managed value and a looser one, as JSON, or nothing for keys
// that are only for a layer's own hooks or that grow tighter by being added to.
func attack(key *schema.Key) (tight, loose string) {
	quoted := func(word string) string { return fmt.Sprintf("%q", word) }
	switch {
	case !key.Layers.Has(protocol.Managed) || key.Tighter == schema.OwnLayer || key.Tighter == schema.Union:
		return "", ""
	case key.Form == "allowedtool":
		return `["write"]`, `["write", "bash"]`
	case key.Tighter == schema.Fewer:
		return `["managed"]`, `["managed", "project"]`
	case key.Type == schema.TypeList:
		return map[string]string{"header": `["A: m"]`, "envname": `["M"]`}[key.Form], map[string]string{"header": `["A: x"]`, "envname": `["X"]`}[key.Form]
	case key.Type == schema.TypeServers:
		return `{"s": {"command": "m"}}`, `{"s": {"command": "evil"}}`
	case len(key.Words) == 1:
		return "", ""
	case len(key.Order) > 0:
		return quoted(key.Order[len(key.Order)-1]), quoted(key.Order[0])
	case key.Form == "weburl":
		return `"https://m"`, `"https://evil"`
	case key.Type == schema.TypeText:
		return `"m"`, `"evil"`
	case key.Type == schema.TypeBool:
		return `true`, `false`
	case key.Type == schema.TypeDuration:
		low := key.Min.(time.Duration)
		if low == 0 {
			low = time.Millisecond
		}
		return quoted(units.FormatDuration(low)), quoted(units.FormatDuration(key.Max.(time.Duration)))
	case key.Type == schema.TypeShare, key.Type == schema.TypeMoney:
		return "0.5", "0.9"
	}
	low := key.Min.(int64)
	if key.ZeroIsOff {
		low++
	}
	return fmt.Sprint(low), fmt.Sprint(key.Max)
}

// No environment variable changes a setting, however it is spelt.
func TestEnvironmentChangesNothing(t *testing.T) {
	want, _ := Merge()
	for _, name := range []string{"HOOKS.TIMEOUT", "HOOKS_TIMEOUT", "hooks.timeout", "HOOKD_HOOKS_TIMEOUT", "HOOKS.PARALLEL", "AGENT.MODEL", "AGENT_BASEURL"} {
		t.Setenv(name, "1")
	}
	got, findings := Merge()
	if diff := cmp.Diff(want, got); diff != "" || len(findings) > 0 {
		t.Errorf("the environment moved a setting: %s %v", diff, lines(findings))
	}
}

// A value that does not fit gives way to that of the next layer.
func TestUnfitValueGivesWay(t *testing.T) {
	user := layerOf(t, protocol.User, `{"hooks": {"parallel": 4}}`)
	project, findings, err := Decode("p.json", []byte(`{"hooks": {"parallel": 17}}`), protocol.Project)
	if err != nil || len(findings) != 1 {
		t.Fatal(err, lines(findings))
	}
	if got, _ := Merge(user, project); got.Hooks.Parallel != 4 {
		t.Errorf("parallel = %d, want the user's 4", got.Hooks.Parallel)
	}
	if got, _ := Merge(project); got.Hooks.Parallel != 1 {
		t.Errorf("parallel = %d, want the default", got.Hooks.Parallel)
	}
}

// What a project above says of its own hooks is not for those of a project below.
func TestAnInnerProjectDoesNotInheritWhatIsOwn(t *testing.T) {
	outer := layerOf(t, protocol.Project, `{"hooks": {"enabled": false, "env": ["A"], "onFailure": "continue"}}`)
	got, findings := Merge(layerOf(t, protocol.Project, `{}`), outer)
	if len(findings) > 0 {
		t.Errorf("findings: %v", lines(findings))
	}
	h := got.Hooks
	if !h.Enabled[protocol.Project] || len(h.Env[protocol.Project]) > 0 || h.OnFailure[protocol.Project] != "" {
		t.Errorf("enabled %v, env %v, onFailure %v", h.Enabled, h.Env, h.OnFailure)
	}
}

func BenchmarkMerge(b *testing.B) {
	var layers []schema.LayerSettings
	for _, layer := range falling {
		settings, _, err := Decode("acai.json", []byte(one["acai.json"]), layer)
		if err != nil {
			b.Fatal(err)
		}
		layers = append(layers, settings)
	}
	for b.Loop() {
		Merge(layers...)
	}
}
