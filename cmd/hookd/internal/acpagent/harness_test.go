package acpagent

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/conversation"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/signals"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// client is a client's side of an agent that runs in this process.
type client struct {
	t       *testing.T
	folder  string // of all that the test writes
	project string
	in      *io.PipeWriter
	frames  chan rpc.Message
	lastID  int
	log     []string // all frames, "-> " from the client, "<- " from the agent
	mu      sync.Mutex
	served  chan error
	stderr  *safeBuffer
	model   string // "": the script
	starts  string // what sessions tell first
	plain   bool   // hookd is told to show no commands in terminals

	// answer answers requests of the agent; nil: they wait.
	answer func(m *rpc.Message) (result any, failure *rpc.Error)
}

type safeBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// newClient starts an agent whose model plays a script.
func newClient(t *testing.T, script string) *client {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, folder: folder, project: filepath.Join(folder, "project"), frames: make(chan rpc.Message, 1<<14), served: make(chan error, 1), stderr: &safeBuffer{}}
	for _, dir := range []string{"project/.acai", "home/.acai/hooks"} {
		if err := os.MkdirAll(filepath.Join(folder, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", filepath.Join(folder, "home"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(folder, "state"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(folder, "config"))
	c.write("model.yaml", script, 0o644)
	return c
}

func (c *client) write(path, text string, mode os.FileMode) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.folder, path), []byte(text), mode); err != nil {
		c.t.Fatal(err)
	}
}

// hook writes a hook of the user, a shell script.
func (c *client) hook(name, events, body string) {
	c.t.Helper()
	c.write("home/.acai/hooks/"+name, "#!/bin/sh\n# hook: "+events+"\n"+body+"\n", 0o755)
}

// start starts the agent.
func (c *client) start() {
	fromClient, in := io.Pipe()
	fromAgent, out := io.Pipe()
	c.in = in
	console := &cli.Console{In: os.Stdin, Out: show.New(io.Discard), Err: show.New(c.stderr)}
	closers := &cli.Closers{}
	ctx, cancel := context.WithCancelCause(context.Background())
	opener := &engine.Opener{
		Console: console, Project: &places.Project{}, Processes: &engine.Processes{Closers: closers},
		Signals: signals.NewHandler(cancel, cli.ExitInterrupted), Closers: closers,
	}
	flags := conversation.Flags{System: "be brief"}
	flags.Model.Name = cmp.Or(c.model, "scripted:"+filepath.Join(c.folder, "model.yaml"))
	go func() {
		err := Serve(ctx, Options{Opener: opener, Flags: flags, Terminals: !c.plain, Version: "test", Note: c.starts, In: fromClient, Out: out})
		out.Close()
		err = errors.Join(err, closers.Close(console))
		cancel(nil)
		c.served <- err
	}()
	go c.read(fromAgent)
	c.t.Cleanup(func() { c.end() })
}

// end closes the client's side and waits for the agent's end.
func (c *client) end() {
	c.in.Close()
	select {
	case err := <-c.served:
		c.served <- err
		if err != nil {
			c.t.Errorf("the agent has ended: %v; stderr: %s", err, c.stderr)
		}
	case <-time.After(20 * time.Second):
		c.t.Fatal("the agent does not end")
	}
}

// read reads what the agent says; each frame must be one of the protocol.
func (c *client) read(out io.Reader) {
	defer close(c.frames)
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		c.note("<- ", string(text))
		m, failure := rpc.Parse(text[:len(text)-1])
		if failure != nil || m.Invalid != nil {
			c.t.Errorf("the agent says %s: %v %v", text, failure, m.Invalid)
			return
		}
		if err := checkFrame(&m); err != nil {
			c.t.Errorf("the agent says %s: %v", text, err)
		}
		c.frames <- m
	}
}

func (c *client) note(mark, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, mark+strings.TrimSpace(text))
}

func (c *client) raw(text string) {
	c.t.Helper()
	c.note("-> ", text)
	if _, err := io.WriteString(c.in, text+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func encode(value any) string {
	text, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// send sends a request and returns its id.
func (c *client) send(method string, params any) int {
	c.t.Helper()
	c.lastID++
	c.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.lastID, method, encode(params)))
	return c.lastID
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	c.raw(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, encode(params)))
}

// next returns the next frame.
func (c *client) next() rpc.Message {
	c.t.Helper()
	select {
	case m, open := <-c.frames:
		if !open {
			c.t.Fatalf("the agent has ended; stderr: %s", c.stderr)
		}
		return m
	case <-time.After(20 * time.Second):
		c.t.Fatalf("the agent says nothing; stderr: %s\n%s", c.stderr, strings.Join(c.log, "\n"))
	}
	panic("unreachable")
}

// until reads frames until one is wanted. Requests of the agent are answered meanwhile.
func (c *client) until(wanted func(m *rpc.Message) bool) rpc.Message {
	c.t.Helper()
	for {
		m := c.next()
		if wanted(&m) {
			return m
		}
		if m.Method != "" && m.ID != nil && c.answer != nil {
			result, failure := c.answer(&m)
			if failure != nil {
				c.raw(string(rpc.AppendError(nil, m.ID, failure)))
			} else if result != nil {
				c.raw(string(rpc.AppendResult(nil, m.ID, []byte(encode(result)))))
			}
		}
	}
}

// wait returns the response to a request.
func (c *client) wait(id int) rpc.Message {
	c.t.Helper()
	return c.until(func(m *rpc.Message) bool { return m.Method == "" && string(m.ID) == fmt.Sprint(id) })
}

// waitAll returns the responses to several requests, which may come in any order.
func (c *client) waitAll(ids ...int) map[string]rpc.Message {
	c.t.Helper()
	answers := map[string]rpc.Message{}
	c.until(func(m *rpc.Message) bool {
		if m.Method == "" {
			answers[string(m.ID)] = *m
		}
		return len(answers) == len(ids)
	})
	return answers
}

// call sends a request and decodes its result.
func (c *client) call(method string, params, result any) {
	c.t.Helper()
	m := c.wait(c.send(method, params))
	if m.Error != nil {
		c.t.Fatalf("%s: %v", method, m.Error)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			c.t.Fatal(err)
		}
	}
}

// fails sends a request that is answered with an error.
func (c *client) fails(method string, params any) *rpc.Error {
	c.t.Helper()
	m := c.wait(c.send(method, params))
	if m.Error == nil {
		c.t.Fatalf("%s: no error: %s", method, m.Result)
	}
	return m.Error
}

type object = map[string]any

func (c *client) initialize(capabilities object) {
	c.t.Helper()
	c.call(acp.Initialize, object{"protocolVersion": 1, "clientCapabilities": capabilities}, nil)
}

// session opens a session and waits until all is told of it.
func (c *client) session(servers ...any) string {
	c.t.Helper()
	var result acp.NewResult
	c.call(acp.SessionNew, object{"cwd": c.project, "mcpServers": append([]any{}, servers...)}, &result)
	c.update(acp.CommandsChanged)
	return result.SessionID
}

// update waits for an update of a kind.
func (c *client) update(kind acp.UpdateKind) rpc.Message {
	c.t.Helper()
	return c.until(func(m *rpc.Message) bool { return kindOf(m) == kind })
}

func kindOf(m *rpc.Message) acp.UpdateKind {
	var params struct {
		Update struct {
			Kind acp.UpdateKind `json:"sessionUpdate"`
		} `json:"update"`
	}
	if m.Method != acp.SessionUpdate || json.Unmarshal(m.Params, &params) != nil {
		return ""
	}
	return params.Update.Kind
}

func text(texts ...string) []any {
	var blocks []any
	for _, t := range texts {
		blocks = append(blocks, object{"type": "text", "text": t})
	}
	return blocks
}

// prompt works on a prompt to its end.
func (c *client) prompt(session string, blocks ...any) acp.PromptResult {
	c.t.Helper()
	var result acp.PromptResult
	c.call(acp.SessionPrompt, object{"sessionId": session, "prompt": blocks}, &result)
	return result
}

// chooses answers questions with an option, all other requests with no such method.
func chooses(option string) func(*rpc.Message) (any, *rpc.Error) {
	return func(m *rpc.Message) (any, *rpc.Error) {
		if m.Method != acp.SessionRequestPermission {
			return nil, rpc.Errorf(rpc.MethodNotFound, "no %s here", m.Method)
		}
		return acp.PermissionResult{Outcome: acp.PermissionOutcome{Outcome: "selected", OptionID: option}}, nil
	}
}

// checkFrame decodes what the agent says strictly.
func checkFrame(m *rpc.Message) error {
	strict := func(text []byte, into any) error {
		return json.Unmarshal(text, into, json.RejectUnknownMembers(true))
	}
	switch m.Method {
	case "":
		return nil // the test that asked decodes it
	case acp.CancelRequest:
		return strict(m.Params, &acp.CancelRequestParams{})
	case acp.SessionRequestPermission:
		return strict(m.Params, &acp.PermissionParams{})
	case acp.ReadTextFile:
		return strict(m.Params, &acp.ReadFileParams{})
	case acp.WriteTextFile:
		return strict(m.Params, &acp.WriteFileParams{})
	case acp.TerminalCreate:
		return strict(m.Params, &acp.CreateTerminalParams{})
	case acp.TerminalWaitForExit, acp.TerminalRelease:
		return strict(m.Params, &acp.TerminalParams{})
	case acp.HooksCall:
		return strict(m.Params, &acp.CallParams{})
	case acp.SessionUpdate:
		into := map[acp.UpdateKind]any{
			acp.UserMessageChunk: &acp.Chunk{}, acp.AgentMessageChunk: &acp.Chunk{}, acp.AgentThoughtChunk: &acp.Chunk{},
			acp.ToolCallBegun: &acp.ToolCall{}, acp.ToolCallChanged: &acp.ToolCall{}, acp.PlanChanged: &acp.Plan{},
			acp.CommandsChanged: &acp.Commands{}, acp.SessionChanged: &acp.SessionNews{},
			acp.ModeChanged: &acp.ModeNews{}, acp.OptionsChanged: &acp.OptionNews{}, acp.CompactionChanged: &acp.Compaction{}, acp.CompactionChunk: &acp.CompactionText{},
			acp.UsageChanged: &acp.Usage{}, acp.NoticeGiven: &acp.Notice{},
		}[kindOf(m)]
		if into == nil {
			return errors.New("an update that nobody knows")
		}
		return strict(m.Params, &acp.UpdateParams{Update: into})
	}
	return fmt.Errorf("a client has no method %s", m.Method)
}
