//go:build interop && unix

package interop

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/test/modelserver"
)

// step is one answer of the model, and what the test does before it is given.
type step struct {
	turn   modelserver.Turn
	before func()
}

// agentModel is a model for agents that others wrote. They ask for more than the next
// turn (titles, counts of tokens, whether the server is there), and in an order of their
// own, so that an answer depends on what the request holds: how many results of tools.
type agentModel struct {
	url string

	mu       sync.Mutex
	results  []string // of the request with the most of them, each as JSON
	asked    []string // requests for a turn, each as JSON
	requests []string // method, path and number of results, for a test that fails
	reached  int      // steps whose before has run
}

// newAgentModel serves the steps of a run as a wire writes them.
func newAgentModel(t *testing.T, wire func(modelserver.Turn) string, steps []step) *agentModel {
	m := &agentModel{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body) // half a request has no tools, and is answered as one of those
		var body map[string]any
		_ = json.Unmarshal(text, &body)
		results := toolResults(body)
		tools, _ := body["tools"].([]any)
		m.mu.Lock()
		m.requests = append(m.requests, fmt.Sprintf("%s %s, %d tools, %d results", r.Method, r.URL, len(tools), len(results)))
		m.mu.Unlock()
		switch {
		case r.Method != http.MethodPost:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"mock-model","object":"model"}]}`)
		case strings.HasSuffix(r.URL.Path, "/count_tokens"):
			_, _ = io.WriteString(w, `{"input_tokens":10}`)
		case len(tools) == 0: // a title, or another text on the side
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, wire(modelserver.Turn{Text: "A title", Input: 1, Output: 1}))
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, wire(m.next(string(text), results, steps)))
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

// next notes a request and returns the turn that answers it.
func (m *agentModel) next(text string, results []string, steps []step) modelserver.Turn {
	m.mu.Lock()
	if folder := os.Getenv("HOOKD_INTEROP_REQUESTS"); folder != "" {
		_ = os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.json", time.Now().UnixNano())), []byte(text), 0o600) // for a person who looks for more
	}
	m.asked = append(m.asked, text)
	if len(results) >= len(m.results) {
		m.results = results
	}
	n := min(len(results), len(steps)-1)
	first := n >= m.reached
	m.reached = max(m.reached, n+1)
	m.mu.Unlock()
	if before := steps[n].before; before != nil && first {
		before()
	}
	turn := steps[n].turn
	turn.Calls = slices.Clone(turn.Calls)
	for i := range turn.Calls {
		turn.Calls[i].ID = fmt.Sprintf("call_%d", n+1)
	}
	return turn
}

// told are the results of tools that the model has read.
func (m *agentModel) told() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.results
}

// turns is how often the model was asked for a turn.
func (m *agentModel) turns() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

// read reports whether a request for a turn has a word in it.
func (m *agentModel) read(word string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.asked, func(text string) bool { return strings.Contains(text, word) })
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
		name := asJSON(c.Name)
		if space, own, has := strings.Cut(c.Name, "/"); has { // a tool of an MCP server
			name = asJSON(own) + `,"namespace":` + asJSON(space)
		}
		event("response.output_item.done", fmt.Sprintf(`"item":{"type":"function_call","id":"fc_%s","call_id":%q,"name":%s,"arguments":%s}`, c.ID, c.ID, name, asJSON(c.Args)))
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
