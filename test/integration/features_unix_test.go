//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/test/modelserver"
)

// TestServedFeatures has features of the loop at work over HTTP, in the words of
// both interfaces: what the model is sent because of them, and what a person reads.
func TestServedFeatures(t *testing.T) {
	says := func(text string) modelserver.Turn { return modelserver.Turn{Text: text, Input: 10, Output: 2} }
	call := func(name, args string, input int) modelserver.Turn {
		return modelserver.Turn{Calls: []modelserver.Call{{ID: "c1", Name: name, Args: args}}, Input: input, Output: 2}
	}
	big := strings.Repeat("Mind the gap. ", 2400) // 33,600 bytes
	for name, c := range map[string]struct {
		agent  string // settings
		files  map[string]string
		prompt string
		args   []string
		turns  []modelserver.Turn
		sent   map[int][]string // by request
		lacks  map[int][]string
		prints []string
	}{
		"structured": {
			files: map[string]string{"answer.json": `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`},
			args:  []string{"--schema", "answer.json"},
			turns: []modelserver.Turn{says("it is one"), says(`{"n":1}`)},
			sent:  map[int][]string{0: {"JSON Schema"}, 1: {"it is one"}}, prints: []string{`{\"n\":1}`},
		},
		"self-critique": {
			agent: `,"features":["self-critique"]`,
			turns: []modelserver.Turn{says("It is fast."), says(`{"approved":false,"feedback":"say how fast"}`), says("It takes 3 ms."), says(`{"approved":true}`)},
			sent:  map[int][]string{1: {"It is fast."}, 2: {"say how fast"}}, prints: []string{"It takes 3 ms.", "not approved (round 1): say how fast"},
		},
		"metadata": {
			agent: `,"features":["metadata"]`,
			turns: []modelserver.Turn{call("metadata_write", `{"key":"plan","value":{"steps":[7,8]}}`, 10), call("metadata_read", `{"key":"plan"}`, 10), says("noted")},
			sent:  map[int][]string{0: {"metadata_write", "metadata_list"}, 2: {`[7,8]`}}, prints: []string{"noted"},
		},
		"summarize": {
			agent: `,"features":["summarize"],"summarize":{"tokens":1000}`,
			turns: []modelserver.Turn{call("bash", `{"command":"echo long-output"}`, 5000), says("SUMMED UP"), says("done")},
			sent:  map[int][]string{1: {"long-output"}, 2: {"SUMMED UP"}}, lacks: map[int][]string{2: {"long-output"}}, prints: []string{"done"},
		},
		"skills": {
			files: map[string]string{
				".acai/skills/gap.md":  "---\nname: gap\ndescription: minds gaps\n---\nMind the gap.\n",
				".acai/skills/big.md":  "---\nname: big\ndescription: is too big\n---\n" + big,
				".acai/skills/tea.md":  "---\nname: tea\ndescription: makes tea\n---\nWarm the pot. " + strings.Repeat("x", 30<<10),
				".acai/skills/cake.md": "---\nname: cake\ndescription: makes cake\n---\nWarm the oven. " + strings.Repeat("y", 30<<10),
			},
			prompt: "use $tea and $cake",
			turns:  []modelserver.Turn{call("load_skill", `{"name":"gap"}`, 10), says("minded")},
			sent:   map[int][]string{0: {"minds gaps", "Warm the oven."}, 1: {"Mind the gap."}}, lacks: map[int][]string{0: {"is too big", "Warm the pot."}}, prints: []string{"minded", "a skill may have 32768", "a prompt takes 49152 bytes of skills: tea", "Warm the oven."},
		},
	} {
		for _, provider := range []struct {
			name, base, key string
			stream          func(modelserver.Turn) string
		}{
			{"openai:test-model", "/v1", "OPENAI_API_KEY", modelserver.OpenAI},
			{"anthropic:claude-test", "", "ANTHROPIC_API_KEY", modelserver.Anthropic},
		} {
			t.Run(name+"/"+provider.name, func(t *testing.T) {
				t.Parallel()
				var answers []modelserver.Answer
				for _, turn := range c.turns {
					answers = append(answers, modelserver.Answer{Body: provider.stream(turn), Piece: 50})
				}
				server := modelserver.New(t, answers...)
				b := newBox(t)
				b.settings(t, `{"agent":{"provider":"`+servedBy(provider.name)+`","baseUrl":"`+server.URL+provider.base+`"`+c.agent+`}}`)
				for file, text := range c.files {
					path := filepath.Join(b.project, file)
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if name == "skills" {
					if _, stderr, code := b.runs(t, nil, "trust", "--yes"); code != 0 {
						t.Fatalf("trust: %d %s", code, stderr)
					}
				}
				prompt := c.prompt
				if prompt == "" {
					prompt = "do it"
				}
				args := append([]string{"run", "--allow", "bash,write,mcp", "--json", "--model", provider.name}, append(c.args, prompt)...)
				stdout, stderr, code := b.runs(t, []string{provider.key + "=k"}, args...)
				if code != 0 {
					t.Fatalf("exit %d\n%s\n%s", code, stderr, stdout)
				}
				requests := server.Requests()
				if len(requests) != len(c.turns) {
					t.Fatalf("%d requests, want %d\n%s", len(requests), len(c.turns), stdout)
				}
				for i, texts := range c.sent {
					for _, want := range texts {
						if body := requests[i].Body; !strings.Contains(body, want) && !strings.Contains(body, strings.ReplaceAll(want, `"`, `\"`)) {
							t.Errorf("request %d lacks %q:\n%.3000s", i, want, body)
						}
					}
				}
				for i, texts := range c.lacks {
					for _, no := range texts {
						if strings.Contains(requests[i].Body, no) {
							t.Errorf("request %d has %q", i, no)
						}
					}
				}
				for _, want := range c.prints {
					if !strings.Contains(stdout, want) {
						t.Errorf("%q was not told:\n%.3000s", want, stdout)
					}
				}
			})
		}
	}
}
