//go:build interop && unix

package interop

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// guarded connects the Go SDK's client with a server of npm through hookd mcp.
func guarded(t *testing.T, b *box, o *sdk.ClientOptions, server string, args ...string) *sdk.ClientSession {
	t.Helper()
	return connected(t, b, o, append([]string{"--", "node", program(t, server)}, args...)...)
}

// connected connects the Go SDK's client with the server that hookd mcp guards.
func connected(t *testing.T, b *box, o *sdk.ClientOptions, server ...string) *sdk.ClientSession {
	t.Helper()
	command := exec.Command(binary, append([]string{"mcp", "--name", "all"}, server...)...)
	command.Dir = b.project
	command.Env = append(os.Environ(), "HOME="+filepath.Join(b.folder, "home"), "XDG_STATE_HOME="+filepath.Join(b.folder, "state"))
	command.Stderr = os.Stderr
	client := sdk.NewClient(&sdk.Implementation{Name: "interop", Version: "1"}, o)
	session, err := client.Connect(t.Context(), &sdk.CommandTransport{Command: command}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func called(t *testing.T, s *sdk.ClientSession, tool string, args map[string]any) string {
	t.Helper()
	result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "error: " + err.Error()
	}
	text := fmt.Sprint(result.IsError)
	for _, c := range result.Content {
		if c, is := c.(*sdk.TextContent); is {
			text += " " + c.Text
		}
	}
	return text
}

// TestGuardedEverything: the SDK's client works with a real server through hookd mcp. Hooks
// change one call and refuse one; progress, sampling and cancellation pass.
func TestGuardedEverything(t *testing.T) {
	b := newBox(t)
	b.hooksOfEverything(t)
	var progress atomic.Int64
	s := guarded(t, b, &sdk.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { progress.Add(1) },
		CreateMessageHandler: func(context.Context, *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
			return &sdk.CreateMessageResult{Model: "m", Role: "assistant", Content: &sdk.TextContent{Text: "sampled here"}}, nil
		},
	}, everything, "stdio")
	list, err := s.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) < 5 {
		t.Fatalf("%v %v", list, err)
	}
	for tool, test := range map[string]struct {
		args map[string]any
		want string
	}{
		"echo":                     {map[string]any{"message": "grüße 👋"}, "false Echo: grüße 👋"},
		"get-sum":                  {map[string]any{"a": 1, "b": 2}, "42"},
		"get-tiny-image":           {nil, "true no images today"},
		"get-structured-content":   {map[string]any{"location": "Chicago"}, "temperature"},
		"trigger-sampling-request": {map[string]any{"prompt": "hi", "maxTokens": 10}, "sampled here"},
		"no-such-tool":             {map[string]any{}, "no-such-tool"},
	} {
		if got := called(t, s, tool, test.args); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s", tool, got)
		}
	}
	long := &sdk.CallToolParams{Name: "trigger-long-running-operation", Arguments: map[string]any{"duration": 1, "steps": 4}}
	long.SetProgressToken("p")
	if _, err := s.CallTool(t.Context(), long); err != nil || progress.Load() == 0 {
		t.Errorf("%v, %d reports of progress", err, progress.Load())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = s.CallTool(ctx, &sdk.CallToolParams{Name: "trigger-long-running-operation", Arguments: map[string]any{"duration": 60, "steps": 300}})
	if got := called(t, s, "echo", map[string]any{"message": "still here"}); err == nil || !strings.Contains(got, "still here") {
		t.Errorf("after a cancelled call (%v): %s", err, got)
	}
}

// TestGuardedInspector: the inspector's CLI works with a real server through hookd mcp.
func TestGuardedInspector(t *testing.T) {
	inspector := peer(t, "@modelcontextprotocol/inspector@2.12.0")
	launcher := filepath.Join(inspector, "..", "..", ".bin", "mcp-inspector")
	b := newBox(t)
	b.hooksOfEverything(t)
	b.write(t, "home/.acai/hooks/all.rules.yaml", `rules:
  - name: no-echo
    events: [tool-call-start]
    match: { tool: mcp__all__echo }
    reply: { action: block, reason: no echoes }
`, 0o600)
	for _, test := range []struct{ args, want, not string }{
		{"--method tools/list", `"get-sum"`, `"echo"`},
		{"--method tools/call --tool-name get-sum --tool-arg a=1 --tool-arg b=2", "42", ""},
		{"--method tools/call --tool-name echo --tool-arg message=hello", "not found on server", "Echo: hello"},
		{"--method tools/call --tool-name get-tiny-image", "no images today", "image/png"},
		{"--method prompts/list", `"prompts"`, ""},
		{"--method resources/list", `"resources"`, ""},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		command := exec.CommandContext(ctx, launcher, append([]string{"--cli", binary, "mcp", "--name", "all", "--", "node", program(t, everything), "stdio"}, strings.Fields(test.args)...)...)
		command.Dir = b.project
		command.Env = append(os.Environ(), "HOME="+b.home, "XDG_STATE_HOME="+filepath.Join(b.folder, "state"))
		out, err := command.CombinedOutput()
		cancel()
		if !strings.Contains(string(out), test.want) || test.not != "" && strings.Contains(string(out), test.not) {
			t.Errorf("%s: %v\n%s", test.args, err, out)
		}
	}
}

// TestGuardedUnderTheLoop: the loop of this project is a host as any other. Its own hooks judge
// a call too, by the name that it gives the server.
func TestGuardedUnderTheLoop(t *testing.T) {
	server := program(t, everything)
	b := newBox(t)
	b.hooksOfEverything(t)
	b.servers(t, map[string]any{"inner": map[string]any{"command": binary, "args": []string{"mcp", "--name", "all", "--", "node", server, "stdio"}}})
	k := b.talk(t, `turns:
- expect: [{in: tools, contains: mcp__inner__get-sum}]
  toolCalls:
  - {id: echo, name: mcp__inner__echo, args: {message: "grüße 👋"}}
  - {id: sum, name: mcp__inner__get-sum, args: {a: 1, b: 2}}
  - {id: image, name: mcp__inner__get-tiny-image, args: {}}
- expect:
  - {in: "toolResult:echo", contains: "Echo: grüße 👋"}
  - {in: "toolResult:sum", contains: The sum of 40 and 2 is 42}
  - {in: "toolResult:image", contains: no images today}
  text: good
`)
	b.ready(t, "index.js")
	k.say(`{"prompt":"use them"}`)
	k.result("done")
	k.end()
}

// TestGuardedOverHTTP: a real server that is reached by an address, over the one transport and the
// older one: calls, progress and what the server asks the client pass, and hooks judge.
func TestGuardedOverHTTP(t *testing.T) {
	for transport, path := range map[string]string{"streamableHttp": "/mcp", "sse": "/sse"} {
		t.Run(transport, func(t *testing.T) { guardedOverHTTP(t, transport, path) })
	}
}

func guardedOverHTTP(t *testing.T, transport, path string) {
	b := newBox(t)
	b.hooksOfEverything(t)
	port := freePort(t)
	b.inBackground(t, "127.0.0.1:"+port, exec.Command("node", program(t, everything), transport), "PORT="+port)
	var progress atomic.Int64
	s := connected(t, b, &sdk.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { progress.Add(1) },
		CreateMessageHandler: func(context.Context, *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
			return &sdk.CreateMessageResult{Model: "m", Role: "assistant", Content: &sdk.TextContent{Text: "sampled here"}}, nil
		},
	}, "--url", "http://127.0.0.1:"+port+path)
	for tool, test := range map[string]struct {
		args map[string]any
		want string
	}{
		"echo":                     {map[string]any{"message": "grüße 👋"}, "false Echo: grüße 👋"},
		"get-sum":                  {map[string]any{"a": 1, "b": 2}, "42"},
		"get-tiny-image":           {nil, "true no images today"},
		"trigger-sampling-request": {map[string]any{"prompt": "hi", "maxTokens": 10}, "sampled here"},
	} {
		if got := called(t, s, tool, test.args); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s", tool, got)
		}
	}
	long := &sdk.CallToolParams{Name: "trigger-long-running-operation", Arguments: map[string]any{"duration": 1, "steps": 4}}
	long.SetProgressToken("p")
	if _, err := s.CallTool(t.Context(), long); err != nil || progress.Load() == 0 {
		t.Errorf("%v, %d reports of progress", err, progress.Load())
	}
}

// inBackground starts a program that listens at an address, and ends it with the test.
func (b *box) inBackground(t *testing.T, at string, c *exec.Cmd, env ...string) {
	t.Helper()
	c.Dir, c.Env = b.project, append(append(os.Environ(), "HOME="+b.home, "XDG_STATE_HOME="+filepath.Join(b.folder, "state")), env...)
	c.Stdout, c.Stderr = io.Discard, io.Discard
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait()
	})
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if connection, err := net.Dial("tcp", at); err == nil {
			connection.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not listen at %s", strings.Join(c.Args, " "), at)
		}
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// TestGuardedQuestion: a client of the SDK asks its person what a hook asks, about a call of a
// real server.
func TestGuardedQuestion(t *testing.T) {
	b := newBox(t)
	b.write(t, "home/.acai/hooks/ask.sh", `#!/bin/sh
# hook: events=tool-call-start match.tool=mcp__all__echo can=block onFailure=block
echo '{"action":"ask","reason":"echoes are loud"}'
`, 0o755)
	var asked atomic.Int64
	s := guarded(t, b, &sdk.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			asked.Add(1)
			answer := "refuse"
			if strings.Contains(r.Params.Message, "softly") && strings.Contains(r.Params.Message, "echoes are loud") {
				answer = "allow"
			}
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": answer}}, nil
		},
	}, everything, "stdio")
	for message, want := range map[string]string{"softly": "false Echo: softly", "loudly": "true denied by the person (echoes are loud)"} {
		if got := called(t, s, "echo", map[string]any{"message": message}); got != want {
			t.Errorf("%s: %s", message, got)
		}
	}
	if asked.Load() != 2 {
		t.Errorf("the person was asked %d times", asked.Load())
	}
}

// TestGuardedReads: hooks judge the resources and prompts of a real server, by the names that
// agents have for such reads.
func TestGuardedReads(t *testing.T) {
	b := newBox(t)
	b.write(t, "home/.acai/hooks/no-blobs.sh", `#!/bin/sh
# hook: events=tool-call-start match.tool=ReadMcpResourceTool match.when="data.args.server == 'all' && data.args.uri contains 'blob'" can=block onFailure=block
echo '{"action":"block","reason":"no blobs today"}'
`, 0o755)
	b.write(t, "home/.acai/hooks/elsewhere.sh", `#!/bin/sh
# hook: events=tool-call-start match.tool=get_mcp_prompt match.when="data.args.name == 'args-prompt'" can=modify onFailure=block
echo '{"action":"modify","changes":{"args":{"arguments":{"city":"Bern"}}}}'
`, 0o755)
	b.write(t, "home/.acai/hooks/hide.sh", `#!/bin/sh
# hook: events=tool-call-end match.tool=@mcp can=modify onFailure=block
case $(cat) in *plaintext*) echo '{"action":"modify","changes":{"result":{"content":"hidden","isError":false}}}' ;; esac
`, 0o755)
	s := guarded(t, b, nil, everything, "stdio")
	read := func(uri string) string {
		result, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			return "error: " + err.Error()
		}
		return result.Contents[0].URI + " " + result.Contents[0].Text
	}
	const dynamic = "demo://resource/dynamic/"
	if got := read(dynamic + "blob/1"); !strings.Contains(got, "no blobs today") {
		t.Error(got)
	}
	if got := read(dynamic + "text/1"); got != dynamic+"text/1 hidden" {
		t.Error(got)
	}
	list, err := s.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) == 0 {
		t.Fatal(list, err)
	}
	if got := read(list.Resources[0].URI); strings.HasPrefix(got, "error") || strings.HasSuffix(got, "hidden") || len(got) < 100 {
		t.Error(got)
	}
	for name, want := range map[string]string{"args-prompt": "Bern", "simple-prompt": "simple prompt"} {
		result, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: map[string]string{"city": "Chicago"}})
		if err != nil || len(result.Messages) != 1 {
			t.Fatalf("%s: %+v %v", name, result, err)
		}
		if got := result.Messages[0].Content.(*sdk.TextContent).Text; !strings.Contains(got, want) || strings.Contains(got, "Chicago") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if _, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "no-such-prompt"}); err == nil || !strings.Contains(err.Error(), "no-such-prompt") {
		t.Error(err)
	}
}

// TestGuardedFilesystem: a file that hooks keep from being read stays unread.
func TestGuardedFilesystem(t *testing.T) {
	b := newBox(t)
	b.write(t, "home/.acai/hooks/hide.sh", `#!/bin/sh
# hook: events=tool-call-end match.tool=mcp__all__read_* can=modify onFailure=block
case $(cat) in *password*) echo '{"action":"block","reason":"it holds a password"}' ;; esac
`, 0o755)
	s := guarded(t, b, nil, filesystem, b.project)
	for name, text := range map[string]string{"secret.txt": "password: x", "open.txt": "hello"} {
		if err := os.WriteFile(filepath.Join(b.project, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := called(t, s, "read_text_file", map[string]any{"path": filepath.Join(b.project, "secret.txt")}); got != "true it holds a password" {
		t.Error(got)
	}
	if got := called(t, s, "read_text_file", map[string]any{"path": filepath.Join(b.project, "open.txt")}); got != "false hello" {
		t.Error(got)
	}
	if got := called(t, s, "write_file", map[string]any{"path": filepath.Join(b.project, ".acai", "hooks", "x.sh"), "content": "x"}); !strings.HasPrefix(got, "true ") {
		t.Errorf("self-protection: %s", got)
	}
}
