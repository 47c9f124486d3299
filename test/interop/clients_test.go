//go:build interop && unix

package interop

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hookd-dev/hookd/test/modelserver"
)

// served is what the mock server says and the vendors' clients are to read.
var served = modelserver.Turn{
	Text: "I look. 👀", Input: 50, Cached: 20, Output: 9,
	Calls: []modelserver.Call{
		{ID: "call_1", Name: "bash", Args: `{"command":"echo \"hé\"","n":[1,2.5]}`},
		{ID: "call_2", Name: "read", Args: `{"path":"a"}`},
	},
}

// read is what a client made of it.
type read struct {
	Deltas string         `json:"deltas"`
	Text   string         `json:"text"`
	Stop   string         `json:"stop"`
	Calls  []any          `json:"calls"`
	Usage  map[string]int `json:"usage"`
}

const anthropicClient = `import Anthropic from '@anthropic-ai/sdk';
const client = new Anthropic({apiKey: 'k', baseURL: process.argv[2], maxRetries: 0});
let deltas = '';
const stream = client.messages.stream({model: 'm', max_tokens: 99, messages: [{role: 'user', content: 'hi'}],
  tools: [{name: 'bash', input_schema: {type: 'object'}}, {name: 'read', input_schema: {type: 'object'}}]});
stream.on('text', t => deltas += t);
const m = await stream.finalMessage();
console.log(JSON.stringify({deltas, text: m.content.filter(c => c.type === 'text').map(c => c.text).join(''), stop: m.stop_reason,
  calls: m.content.filter(c => c.type === 'tool_use').map(c => ({id: c.id, name: c.name, args: c.input})),
  usage: {input: m.usage.input_tokens, cached: m.usage.cache_read_input_tokens, output: m.usage.output_tokens}}));
`

const openaiClient = `import OpenAI from 'openai';
const client = new OpenAI({apiKey: 'k', baseURL: process.argv[2] + '/v1', maxRetries: 0});
let deltas = '';
const stream = client.chat.completions.stream({model: 'm', messages: [{role: 'user', content: 'hi'}], stream_options: {include_usage: true},
  tools: [{type: 'function', function: {name: 'bash', parameters: {type: 'object'}}}, {type: 'function', function: {name: 'read', parameters: {type: 'object'}}}]});
stream.on('content', d => deltas += d);
const c = await stream.finalChatCompletion(), m = c.choices[0].message;
console.log(JSON.stringify({deltas, text: m.content, stop: c.choices[0].finish_reason,
  calls: m.tool_calls.map(c => ({id: c.id, name: c.function.name, args: JSON.parse(c.function.arguments)})),
  usage: {input: c.usage.prompt_tokens, cached: c.usage.prompt_tokens_details.cached_tokens, output: c.usage.completion_tokens}}));
`

// TestClients: what the mock server streams is what the vendors' own libraries
// read as text, calls, usage and the reason of the end.
func TestClients(t *testing.T) {
	for _, c := range []struct {
		name, script, stop string
		stream             func(modelserver.Turn) string
		input              int
	}{
		{"@anthropic-ai/sdk", anthropicClient, "tool_use", modelserver.Anthropic, 30},
		{"openai", openaiClient, "tool_calls", modelserver.OpenAI, 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := peer(t, c.name)
			server := modelserver.New(t, modelserver.Answer{Body: c.stream(served), Piece: 7})
			script := filepath.Join(t.TempDir(), "client.mjs")
			// Modules are looked for beside the script.
			modules := folder[:len(folder)-len(filepath.FromSlash(c.name))]
			if err := os.Symlink(modules, filepath.Join(filepath.Dir(script), "node_modules")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(script, []byte(c.script), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			node := exec.CommandContext(ctx, "node", script, server.URL)
			out, err := node.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var got read
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			want := read{Deltas: served.Text, Text: served.Text, Stop: c.stop, Usage: map[string]int{"input": c.input, "cached": 20, "output": 9}}
			for _, call := range served.Calls {
				var args any
				if err := json.Unmarshal([]byte(call.Args), &args); err != nil {
					t.Fatal(err)
				}
				want.Calls = append(want.Calls, map[string]any{"id": call.ID, "name": call.Name, "args": args})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
