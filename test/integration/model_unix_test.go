//go:build unix

package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/test/modelserver"
)

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(text []byte) (int, error) { return f(text) }

// runs a command and returns its output and exit code.
func (b *box) runs(t *testing.T, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	c := b.command(args...)
	c.Env = append(c.Env, env...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// settings writes the user's settings.
func (b *box) settings(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.home, ".acai", "acai.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func shellHook(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

var servedTurns = []modelserver.Turn{
	{
		Thinking: "let me see", Signature: "c2ln", Text: "I look. 👀", Input: 50, Output: 9,
		Calls: []modelserver.Call{{ID: "c1", Name: "bash", Args: `{"command":"echo from-the-model"}`}, {ID: "c2", Name: "bash", Args: `{"command":"rm -rf build"}`}},
	},
	{Text: "Done, with what hooks let through.", Input: 90, Cached: 50, Output: 6},
}

// TestServedModel is a whole run over HTTP, with hooks of a project that change a
// call and refuse another, then the same run offline from its recording.
func TestServedModel(t *testing.T) {
	for _, provider := range []struct {
		name, base, key string
		stream          func(modelserver.Turn) string
	}{
		{"openai:test-model", "/v1", "OPENAI_API_KEY", modelserver.OpenAI},
		{"anthropic:claude-test", "", "ANTHROPIC_API_KEY", modelserver.Anthropic},
	} {
		t.Run(provider.name, func(t *testing.T) {
			t.Parallel()
			busy := modelserver.Answer{Status: 429, Header: map[string]string{"Retry-After-Ms": "10"}, Body: `{"error":{"message":"slow down"}}`}
			server := modelserver.New(t, busy, modelserver.Answer{Body: provider.stream(servedTurns[0]), Piece: 5}, modelserver.Answer{Body: provider.stream(servedTurns[1]), Piece: 7})
			b := newBox(t)
			b.settings(t, `{"agent":{"provider":"`+servedBy(provider.name)+`","baseUrl":"`+server.URL+provider.base+`","headers":["X-Team: team-blue"],"limits":{"toolCalls":1}}}`)
			shellHook(t, filepath.Join(b.project, ".acai", "hooks", "10-change.sh"), "#!/bin/sh\n# hook: events=tool-call-start can=modify match.tool=bash\n"+
				`if grep -q from-the-model; then echo '{"action":"modify","changes":{"args":{"command":"echo from-the-hook"}}}'; fi`+"\n")
			shellHook(t, filepath.Join(b.project, ".acai", "hooks", "20-guard.sh"), "#!/bin/sh\n# hook: events=tool-call-start can=block match.tool=bash\n"+
				`if grep -q 'rm -rf'; then echo '{"action":"block","reason":"not with rm"}'; fi`+"\n")
			if _, stderr, code := b.runs(t, nil, "trust", "--yes"); code != 0 {
				t.Fatalf("trust: %d %s", code, stderr)
			}
			tape := filepath.Join(b.folder, "tape.jsonl")
			env := []string{provider.key + "=sk-secret-key-1"}
			live, stderr, code := b.runs(t, env, "run", "--allow", "bash,write,mcp", "--json", "--model", provider.name, "--record", tape, "do it")
			if code != 0 || !strings.Contains(live, "Done, with what hooks let through.") {
				t.Fatalf("exit %d\n%s\n%s", code, stderr, live)
			}
			requests := server.Requests()
			if len(requests) != 3 {
				t.Fatalf("%d requests", len(requests))
			}
			for _, r := range requests {
				if r.Header.Get("Authorization") != "Bearer sk-secret-key-1" || r.Header.Get("X-Team") != "team-blue" {
					t.Errorf("headers %v", r.Header)
				}
			}
			for _, want := range []string{"from-the-hook", "not with rm"} { // what the model read of its calls
				if !strings.Contains(requests[2].Body, want) {
					t.Errorf("%q is not in %s", want, requests[2].Body)
				}
			}
			recorded, err := os.ReadFile(tape)
			if err != nil || strings.Contains(string(recorded), "secret") || strings.Contains(string(recorded), "team-blue") {
				t.Errorf("%v: the recording holds a key or a header:\n%s", err, recorded)
			}
			b.settings(t, `{"agent":{"limits":{"toolCalls":1}}}`) // side by side, calls end in any order
			offline, stderr, code := b.runs(t, nil, "run", "--allow", "bash,write,mcp", "--json", "--model", "replay:"+tape, "do it")
			if code != 0 {
				t.Fatalf("replay: exit %d\n%s\n%s", code, stderr, offline)
			}
			if diff := cmp.Diff(sameRun(t, live), sameRun(t, offline)); diff != "" {
				t.Errorf("(-live +replay):\n%s", diff)
			}
			if len(server.Requests()) != 3 {
				t.Error("the replay asked the server")
			}
			_, stderr, code = b.runs(t, nil, "run", "--allow", "bash,write,mcp", "--model", "replay:"+tape, "do something else")
			if code != 1 {
				t.Errorf("another prompt: exit %d %s", code, stderr)
			}
		})
	}
}

// changing is what differs between two runs that are the same.
var changing = regexp.MustCompile(`"(id|session|transcript|time|durationMs|waitedMs|tookMs|messageId)":("(?:[^"\\]|\\.)*"|[0-9.e+-]+|\{[^{}]*\})|\d{4}-\d\d-\d\dT[0-9:.]+Z?|[0-9a-f]{64}|0[0-9A-Z]{25}|follows in [0-9.]+m?s`)

func sameRun(t *testing.T, lines string) []string {
	t.Helper()
	var list []string
	for line := range strings.Lines(lines) {
		if !json.Valid([]byte(line)) {
			t.Fatalf("no JSON: %s", line)
		}
		list = append(list, changing.ReplaceAllString(line, "~"))
	}
	return list
}

// TestAServerThatIsNotThereYet: a refused connection, and one that is reset before
// the answer, are tried again like a busy server, and a person sees it.
func TestAServerThatIsNotThereYet(t *testing.T) {
	t.Parallel()
	reserved, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := reserved.Addr().String()
	reserved.Close()
	served := make(chan error, 1)
	serve := sync.OnceFunc(func() {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			served <- err
			return
		}
		if first, err := listener.Accept(); err == nil {
			first.(*net.TCPConn).SetLinger(0) // a reset
			first.Close()
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, modelserver.OpenAI(modelserver.Turn{Text: "here now"}))
		})}
		t.Cleanup(func() { server.Close() })
		served <- nil
		server.Serve(listener)
	})
	b := newBox(t)
	b.settings(t, `{"agent":{"baseUrl":"http://`+address+`/v1"}}`)
	c := b.command("run", "hi", "--model", "openai:x")
	c.Env = append(c.Env, "OPENAI_API_KEY=sk-secret-key-1")
	var out bytes.Buffer
	both := writerFunc(func(text []byte) (int, error) {
		out.Write(text)
		if bytes.Contains(out.Bytes(), []byte("no server")) {
			go serve()
		}
		return len(text), nil
	})
	c.Stdout, c.Stderr = both, both // one writer, so that only one goroutine writes
	c.Run()
	code := c.ProcessState.ExitCode()
	go serve() // where nothing was said
	if err := <-served; err != nil {
		t.Skipf("another process has taken the port: %v", err)
	}
	said := strings.Join(strings.Fields(out.String()), " ")
	if code != 0 || !strings.Contains(said, "here now") {
		t.Errorf("exit %d:\n%s", code, said)
	}
	for _, want := range []string{"no server answers at http://" + address, "try 2 follows in", "was lost"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing:\n%s", want, said)
		}
	}
}

// TestServersThatRefuse asserts what a person is told, within which time, and
// that no key is shown.
func TestServersThatRefuse(t *testing.T) {
	t.Parallel()
	unauthorised := modelserver.Answer{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: sk-secret-key-1","type":"invalid_request_error"}}`}
	server := modelserver.New(t, unauthorised, modelserver.Answer{Status: 404, Body: `{"error":{"message":"model 'x' not found"}}`},
		modelserver.Answer{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 10 tokens","code":"context_length_exceeded"}}`})
	b := newBox(t)
	own := `{"agent":{"baseUrl":"` + server.URL + `/v1"}}`
	for _, c := range []struct {
		name, settings, model string
		code                  int
		want                  string
	}{
		{"wrong key", own, "openai:x", 1, "status 401: openai: Incorrect API key provided: (hidden) (invalid_request_error); is OPENAI_API_KEY right?"},
		{"no such model", own, "openai:x", 1, "model 'x' not found; is the name of the model right, and agent.baseUrl?"},
		{"too long", own, "openai:x", 1, "the conversation is longer than the model's context window"},
		{"nobody there", `{"agent":{"baseUrl":"http://127.0.0.1:1/v1"}}`, "openai:x", 1, "no server answers at http://127.0.0.1:1: "},
		{"unknown provider", "{}", "opnai:x", 3, "hint: do you mean openai:x?"},
		{"no provider", "{}", "claude-x", 3, "hint: --model anthropic:claude-x"},
		{"a name with a colon", "{}", "qwen3:8b", 3, "hint: known providers: anthropic, openai, "},
		{"no name", "{}", "openai:", 3, "has no name after the colon"},
		{"no model", "{}", "", 3, "no model is given"},
		{"no cassette", "{}", "replay:nothing.jsonl", 3, "nothing.jsonl: no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.settings(t, c.settings)
			args := []string{"run", "hi"}
			if c.model != "" {
				args = append(args, "--model", c.model)
			}
			began := time.Now()
			stdout, stderr, code := b.runs(t, []string{"OPENAI_API_KEY=sk-secret-key-1"}, args...)
			if said := stdout + stderr; code != c.code || !strings.Contains(strings.Join(strings.Fields(said), " "), c.want) || strings.Contains(said, "secret") {
				t.Errorf("exit %d, want %d and %q:\n%s", code, c.code, c.want, said)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
	for _, variable := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY"} {
		b.settings(t, "{}")
		provider := strings.ToLower(strings.TrimSuffix(variable, "_API_KEY"))
		_, stderr, code := b.runs(t, nil, "run", "--allow", "bash,write,mcp", "--model", provider+":x", "hi")
		if code != 3 || !strings.Contains(stderr, variable+" is not set") {
			t.Errorf("no key: exit %d %s", code, stderr)
		}
	}
	// What a project says of the server counts for nothing.
	if err := os.WriteFile(filepath.Join(b.project, ".acai", "acai.json"), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := b.runs(t, nil, "run", "--allow", "bash,write,mcp", "--model", "openai:x", "hi"); code != 3 || !strings.Contains(stderr, "OPENAI_API_KEY is not set") {
		t.Errorf("a project's baseUrl: exit %d %s", code, stderr)
	}
}

// servedBy is the provider of a model that is named PROVIDER:NAME.
func servedBy(model string) string {
	provider, _, _ := strings.Cut(model, ":")
	return provider
}
