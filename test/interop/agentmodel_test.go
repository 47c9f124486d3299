//go:build interop && unix

package interop

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/hookd-dev/hookd/test/modelserver"
)

// agentModel is a model for agents that others wrote. They ask for more than the next
// turn (titles, counts of tokens, whether the server is there), and in an order of their
// own, so that an answer depends on what the request holds: how many results of tools.
type agentModel struct {
	url string

	mu       sync.Mutex
	results  []string // of the request with the most of them, each as JSON
	requests []string // method, path and number of results, for a test that fails
}

// newAgentModel serves the steps of a run as a wire writes them.
func newAgentModel(t *testing.T, stream func(modelserver.Turn) string, steps ...modelserver.Turn) *agentModel {
	m := &agentModel{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body) // half a request has no tools, and is answered as one of those
		var body map[string]any
		_ = json.Unmarshal(text, &body)
		results := toolResults(body)
		m.mu.Lock()
		m.requests = append(m.requests, fmt.Sprintf("%s %s, %d results", r.Method, r.URL, len(results)))
		m.mu.Unlock()
		tools, _ := body["tools"].([]any)
		switch {
		case r.Method != http.MethodPost:
		case strings.HasSuffix(r.URL.Path, "/count_tokens"):
			_, _ = io.WriteString(w, `{"input_tokens":10}`)
		case len(tools) == 0: // a title, or another text on the side
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, stream(modelserver.Turn{Text: "A title", Input: 1, Output: 1}))
		default:
			m.mu.Lock()
			if len(results) >= len(m.results) {
				m.results = results
			}
			m.mu.Unlock()
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, stream(steps[min(len(results), len(steps)-1)]))
		}
	}))
	m.url = server.URL
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the model was asked:\n%s\nand read as results:\n%s", strings.Join(m.requests, "\n"), strings.Join(m.results, "\n"))
		}
		server.CloseClientConnections()
		server.Close()
	})
	return m
}

// told are the results of tools that the model has read.
func (m *agentModel) told() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.results
}

// toolResults are the results of tools in a request, in the words of any provider.
func toolResults(value any) (list []string) {
	switch value := value.(type) {
	case []any:
		for _, each := range value {
			list = append(list, toolResults(each)...)
		}
	case map[string]any:
		_, gemini := value["functionResponse"]
		if gemini || value["type"] == "tool_result" || value["type"] == "function_call_output" || value["role"] == "tool" {
			text, _ := json.Marshal(value) // it was JSON before
			return []string{string(text)}
		}
		for _, name := range []string{"messages", "input", "contents", "content", "parts"} {
			list = append(list, toolResults(value[name])...)
		}
	}
	return list
}

// responses is a turn as OpenAI's responses stream it.
func responses(t modelserver.Turn) string {
	var b strings.Builder
	event := func(name, fields string) {
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%q,%s}\n\n", name, name, fields)
	}
	event("response.created", `"response":{"id":"resp_1"}`)
	if t.Text != "" {
		event("response.output_item.done", fmt.Sprintf(`"item":{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":%s}]}`, asJSON(t.Text)))
	}
	for _, c := range t.Calls {
		event("response.output_item.done", fmt.Sprintf(`"item":{"type":"function_call","id":"fc_%s","call_id":%q,"name":%q,"arguments":%s}`, c.ID, c.ID, c.Name, asJSON(c.Args)))
	}
	event("response.completed", fmt.Sprintf(`"response":{"id":"resp_1","usage":{"input_tokens":%d,"input_tokens_details":null,"output_tokens":%d,"output_tokens_details":null,"total_tokens":%d}}`, t.Input, t.Output, t.Input+t.Output))
	return b.String()
}

// gemini is a turn as Google's API streams it.
func gemini(t modelserver.Turn) string {
	var parts []string
	if t.Text != "" {
		parts = append(parts, `{"text":`+asJSON(t.Text)+`}`)
	}
	for _, c := range t.Calls {
		parts = append(parts, fmt.Sprintf(`{"functionCall":{"id":%q,"name":%q,"args":%s}}`, c.ID, c.Name, c.Args))
	}
	return fmt.Sprintf("data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[%s]},\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":%d,\"candidatesTokenCount\":%d,\"totalTokenCount\":%d}}\n\n",
		strings.Join(parts, ","), t.Input, t.Output, t.Input+t.Output)
}

func asJSON(text string) string {
	quoted, _ := json.Marshal(text) // a string always has a JSON form
	return string(quoted)
}
