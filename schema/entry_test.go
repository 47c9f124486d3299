package schema

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/document"
)

// brief writes a finding on one line.
func brief(findings []Finding) []string {
	var all []string
	for _, f := range findings {
		line, path, hook := 0, "", ""
		if f.Line != nil {
			line = *f.Line
		}
		if f.Path != nil {
			path = " " + *f.Path
		}
		if f.Hook != nil {
			hook = *f.Hook
		}
		all = append(all, fmt.Sprintf("%s:%d%s (%s): %s -> %s", f.File, line, path, hook, f.Message, f.Remedy))
	}
	return all
}

// header makes the pairs of a header, each word on a line of its own.
func header(words ...string) []Pair {
	var pairs []Pair
	for i, word := range words {
		key, value, _ := strings.Cut(word, "=")
		pairs = append(pairs, Pair{key, value, i + 2})
	}
	return pairs
}

func TestHeader(t *testing.T) {
	tests := []struct {
		name     string
		pairs    []Pair
		want     Hook
		findings []string
	}{
		{
			name:  "everything",
			pairs: header("events=PreToolUse,agent-stop", "match.tool=bash,/a{1,2},b/,mcp_{x,y}", "match.agent=main", "match.when=args.n > 1, 2", "can=block", "onFailure=stop", "timeout=5s", "priority=-3", "required=true", "env=A,B", "files=lib/x.sh,lib/*.py", "run=standby", "inPlace=true", "dir=project", "sensitive=false", "protocol=1", "description=guards, always"),
			want: Hook{
				Name: "x.sh", Layer: protocol.User, Path: "/h/x.sh", Description: "guards, always", Protocol: 1,
				Events: []protocol.EventName{protocol.ToolCallStart, protocol.AgentStop},
				Match:  Match{Tool: []string{"bash", "/a{1,2},b/", "mcp_{x,y}"}, Agent: "main", When: "args.n > 1, 2"},
				Can:    protocol.CanBlock, Mode: protocol.Enforce, Priority: -3, Timeout: 5 * time.Second,
				OnFailure: protocol.RuleStop, Required: true, Run: Standby, Env: []string{"A", "B"},
				Files: []string{"lib/x.sh", "lib/*.py"}, InPlace: true, InProject: true, Dialect: "hookd", Enabled: true,
			},
			findings: []string{"x.sh:3 match (x.sh): match.tool does not restrict at agent-stop: the hook runs there whatever it says -> remove match.tool, or describe the hook for other events",
				`x.sh:3 match (x.sh): match.tool "/a{1,2},b/" matches no tool that hookd knows -> check the name: the whole name must match and case counts; leave it if the tool is one of your own; for all tools of a kind, whoever has them, write @shell @read @write @net @mcp or @agent`},
		},
		{
			name:  "bare number is seconds (H32)",
			pairs: header("events=agent-start", "timeout=2"),
			want: Hook{
				Name: "x.sh", Layer: protocol.User, Path: "/h/x.sh", Protocol: 1, Events: []protocol.EventName{protocol.AgentStart},
				Can: protocol.CanModify, Mode: protocol.Enforce, Timeout: 2 * time.Second, OnFailure: protocol.RuleContinue, Run: Once, Dialect: "hookd", Enabled: true,
			},
		},
		{name: "repeated key", pairs: header("events=agent-start", "can=block", "can=observe"),
			findings: []string{"x.sh:4 can (x.sh): the key can is here twice -> keep one of them"}},
		{name: "repeated nested key", pairs: header("events=tool-call-start", "match.tool=bash", "match.tool=grep"),
			findings: []string{"x.sh:4 match.tool (x.sh): the key tool is here twice -> keep one of them"}},
		{name: "unknown key", pairs: header("events=agent-start", "time_out=5s"),
			findings: []string{`x.sh:3 time_out (x.sh): there is no key "time_out" here -> did you mean "timeout"?`}},
		{name: "unknown nested key", pairs: header("events=tool-call-start", "match.tools=bash"),
			findings: []string{`x.sh:3 match.tools (x.sh): there is no key "tools" here -> did you mean "tool"?`}},
		{name: "nested key of a plain field", pairs: header("events=agent-start", "can.block=true"),
			findings: []string{`x.sh:3 can (x.sh): can is an object, not a string -> write a string in quotes`}},
		{name: "plain value for an object", pairs: header("events=tool-call-start", "match=bash"),
			findings: []string{`x.sh:3 match (x.sh): match is "bash", not an object -> write an object with keys: tool, source, agent, step, command, path, when`}},
		{name: "value that does not fit", pairs: header("events=agent-start", "required=yes"),
			findings: []string{`x.sh:3 required (x.sh): required is "yes", not true or false -> write true or false, without quotes`}},
		{name: "event that is none", pairs: header("events=agent-start,agent-strt"),
			findings: []string{"x.sh:2 events[1] (x.sh): there is no event \"agent-strt\" -> did you mean \"agent-start\"? Names are taken exactly as written, `hookd schema event` lists them"}},
		{name: "field of settings only", pairs: header("events=agent-start", "enabled=false"),
			findings: []string{"x.sh:3 enabled (x.sh): enabled is not taken from a header -> write it in a settings entry"}},
		{name: "arguments", pairs: header("events=agent-start", "args=-x"),
			findings: []string{"x.sh:3 args (x.sh): args is not taken from a header -> write it in a settings entry or a side file or an answer to describe"}},
		{name: "newer protocol", pairs: header("events=agent-start", "protocol=2"),
			findings: []string{"x.sh:3 protocol (x.sh): the hook was written for protocol 2, this version speaks 1 -> update hookd, or write the hook for protocol 1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, findings := EntryFromPairs("x.sh", "x.sh", tt.pairs)
			resolved, more := Resolve(Defaults{Layer: protocol.User, Name: "x.sh", Path: "/h/x.sh", Timeout: 30 * time.Second}, d)
			if diff := cmp.Diff(tt.findings, brief(append(findings, more...))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if rejected := tt.want.Name == ""; rejected != resolved.Rejected {
				t.Fatalf("rejected = %v", resolved.Rejected)
			} else if rejected {
				return
			}
			if diff := cmp.Diff(tt.want, resolved.Hook); diff != "" {
				t.Errorf("hook (-want +got):\n%s", diff)
			}
		})
	}
}

// The sources of a field, as the protocol lists them: a source it is not taken
// from rejects it.
func TestSourcesOfFields(t *testing.T) {
	values := map[string]string{
		"name": `"x"`, "command": `["x"]`, "args": `["x"]`, "description": `"x"`, "protocol": `1`, "events": `["agent-start"]`,
		"match": `{"agent": "main"}`, "can": `"block"`, "mode": `"audit"`, "priority": `1`, "timeout": `"1s"`, "onFailure": `"block"`,
		"required": `true`, "run": `"once"`, "env": `["X"]`, "files": `["x"]`, "inPlace": `true`, "dir": `"project"`, "sensitive": `true`, "dialect": `"hookd"`, "enabled": `true`,
	}
	allowed := map[string]string{
		"name": "S", "command": "S", "args": "SFD", "description": "SHFD", "protocol": "HFD", "events": "SHFD", "match": "SHFD",
		"can": "SHFD", "mode": "SHFD", "priority": "SHFD", "timeout": "SHFD", "onFailure": "SHFD", "required": "SHFD", "run": "SHFD",
		"env": "SHFD", "files": "SHFD", "inPlace": "SHF", "dir": "SHF", "sensitive": "SHFD", "dialect": "SHFD", "enabled": "S",
	}
	for field, value := range values {
		for _, s := range sources {
			n, err := document.Parse(document.JSON, []byte(fmt.Sprintf(`{%q: %s}`, field, value)))
			if err != nil {
				t.Fatal(err)
			}
			_, findings := DecodeEntry(n, s.source, Pos{File: "f"}, "x")
			refused := false
			for _, f := range findings {
				refused = refused || f.Code == string(CodeWrongSource)
			}
			if taken := strings.Contains(allowed[field], s.letter); refused == taken {
				t.Errorf("%s from %s: refused = %v; %v", field, s.source, refused, brief(findings))
			}
		}
	}
}

func FuzzEntryFromPairs(f *testing.F) {
	f.Add("events", "PreToolUse,*", "match.tool", "/a,b/,c")
	f.Add("can", "block", "match", "x")
	f.Add("match.tool.x", "{,}", "a..b", "")
	f.Add("timeout", "1e9", "timeout", "5s")
	f.Fuzz(func(t *testing.T, key1, value1, key2, value2 string) {
		d, findings := EntryFromPairs("f", "x", []Pair{{key1, value1, 1}, {key2, value2, 2}})
		if len(d.Faults) > 0 && len(findings) == 0 {
			t.Fatalf("faults without a finding: %v", d.Faults)
		}
		resolved, more := Resolve(Defaults{Name: "x", Timeout: time.Second}, d)
		if resolved.Rejected && len(findings)+len(more) == 0 {
			t.Fatal("rejected without a finding")
		}
	})
}
