package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/client"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/daemon"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/socket"
)

var _ agentloop.Gate = protocol.GateFunc((*client.Session)(nil).Fire)

// TestMain is also the daemon of the tests: the test binary with the argument
// serve.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		os.Exit(serve())
	}
	goleak.VerifyTestMain(m)
}

func daemonOfExample() []string {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return []string{self, "serve"}
}

// serve is a daemon with one Go hook that does what the command says.
func serve() int {
	stdio, err := daemon.Stdio(0)
	if err != nil {
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := daemon.New(options()).Serve(ctx, stdio, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func options() daemon.Options {
	return daemon.Options{Open: func(_ context.Context, project, _ string) (daemon.Engine, error) {
		set, err := executor.StaticSet(executor.GoHook{
			Name: "no-rm", Events: []protocol.EventName{protocol.ToolCallStart, protocol.AgentStop, protocol.Notification},
			Func: answer,
		})
		if err != nil {
			return nil, err
		}
		set.Project = project
		return &engine{executor.New(set, executor.Options{}), set}, nil
	}}
}

func answer(ctx context.Context, event *protocol.Event) (protocol.Reply, error) {
	switch command := commandOf(event.Data); {
	case command == "rm -rf /":
		return protocol.Reply{Action: protocol.Block, Reason: "not in this house"}, nil
	case command == "hang":
		<-ctx.Done()
	case command == "die":
		os.Exit(3)
	case strings.HasPrefix(command, "change "):
		return protocol.Reply{Action: protocol.Modify, Changes: protocol.RawMessage(`{"args":{"command":7}}`)}, nil
	}
	return protocol.Reply{}, nil
}

func commandOf(data protocol.RawMessage) string {
	var d struct {
		Args struct {
			Command string `json:"command"`
		} `json:"args"`
	}
	_ = json.Unmarshal(data, &d)
	return d.Args.Command
}

type engine struct {
	*executor.Executor
	set *executor.Set
}

func (e *engine) Fire(ctx context.Context, event protocol.Event, p daemon.Progress) (protocol.Outcome, error) {
	return e.Executor.WithProgress(executor.Progress{
		Started:  func(_ *protocol.Event, h *executor.Hook) { p.Started(h.Name, h.Layer) },
		Finished: func(_ *protocol.Event, _ *executor.Hook, run protocol.Run) { p.Finished(run) },
	}).Fire(ctx, event)
}
func (e *engine) List() daemon.Listing         { return daemon.Describe(e.set, nil) }
func (e *engine) Reload(context.Context) error { return nil }
func (e *engine) Changed() <-chan struct{}     { return nil }

func call(command string) protocol.Event {
	data, _ := json.Marshal(map[string]any{"toolCallId": "c1", "name": "bash", "kind": "shell", "args": map[string]any{"command": command}, "parallel": 1})
	return protocol.Event{Event: protocol.ToolCallStart, Data: data}
}

func start(t *testing.T, opt client.Options, args ...string) (*client.Client, *client.Session) {
	t.Helper()
	c, err := client.Start(t.Context(), opt, append(daemonOfExample(), args...)...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Open(t.Context(), client.SessionOptions{ID: "s", Project: "/proj", Cwd: "/proj/sub"})
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

func TestFire(t *testing.T) {
	var mu sync.Mutex
	var notes []string
	c, s := start(t, client.Options{
		Name: "my-agent", Capabilities: client.Capabilities{Notifications: []string{"hook/started", "hook/finished"}},
		OnNotify: func(method string, _ protocol.RawMessage) {
			mu.Lock()
			defer mu.Unlock()
			notes = append(notes, method)
		},
	})
	event := call("ls")
	event.Unknown = jsontext.Value(`{"more":[1.10]}`)
	event.Data = protocol.RawMessage(`{"toolCallId":"c1","name":"bash","kind":"shell","args":{"n":9007199254740993,"s":"<é>\u00e9"},"parallel":1}`)
	out, err := s.Fire(t.Context(), event)
	if err != nil || out.Refused() {
		t.Fatalf("%+v %v", out, err)
	}
	got := out.Event
	if string(got.Data) != string(event.Data) || string(got.Unknown) != string(event.Unknown) {
		t.Errorf("bytes changed on the way: %s %s", got.Data, got.Unknown)
	}
	if got.Session.ID != "s" || got.Session.Key != "" || got.Seq == nil || *got.Seq != 1 || got.Project != "/proj" || got.Cwd != "/proj/sub" || got.Agent.Host != "my-agent" {
		t.Errorf("envelope: %+v", got)
	}
	if out, err := s.Fire(t.Context(), call("rm -rf /")); err != nil || out.Action != protocol.Block || out.Reason != "not in this house" {
		t.Errorf("%+v %v", out, err)
	}
	if listing, err := c.List(t.Context(), "/proj"); err != nil || !strings.Contains(string(listing), `"no-rm"`) {
		t.Errorf("%s %v", listing, err)
	}
	if _, err := c.Reload(t.Context(), "/proj"); err != nil {
		t.Error(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	var failure *rpc.Error
	if _, err := c.Fire(t.Context(), event); !errors.As(err, &failure) || failure.Code != rpc.InvalidParams || failure.Path() != "/session/id" {
		t.Errorf("an event without a session: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(notes, " "); got != "hook/started hook/finished hook/started hook/finished" {
		t.Errorf("notifications: %s", got)
	}
}

// The end of a context ends Fire at once and the event in the daemon: the next
// one of the session, which waits for it, goes through.
func TestCancel(t *testing.T) {
	c, s := start(t, client.Options{})
	defer c.Close()
	cause := errors.New("the user pressed escape")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(cause) })
	began := time.Now()
	if _, err := s.Fire(ctx, call("hang")); err != cause {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > 350*time.Millisecond {
		t.Logf("returned after %v (busy machine?)", took)
	}
	if out, err := s.Fire(t.Context(), call("ls")); err != nil || out.Refused() {
		t.Errorf("the next: %+v %v", out, err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the next was answered after %v", took)
	}
	for range 50 { // a free slot and an ended context are ready at once
		if _, err := s.Fire(ctx, call("ls")); err != cause {
			t.Fatalf("with a context that has ended: %v", err)
		}
	}
}

// A daemon that dies never makes a gate pass.
func TestDaemonDies(t *testing.T) {
	c, s := start(t, client.Options{})
	stop := protocol.Event{Event: protocol.AgentStop, Data: protocol.RawMessage(`{"reason":"done","response":"r","messages":[],"continued":0,"continuedTotal":0}`)}
	note := protocol.Event{Event: protocol.Notification, Data: protocol.RawMessage(`{"kind":"info","text":"t"}`)}
	for i, tt := range []struct {
		event protocol.Event
		want  protocol.Action
	}{{call("die"), protocol.Block}, {call("ls"), protocol.Block}, {stop, protocol.Stop}, {note, protocol.Observe}} {
		out, err := s.Fire(t.Context(), tt.event)
		if err != nil || out.Action != tt.want || out.Failure != protocol.FailLost || len(out.Notices) != 1 {
			t.Errorf("%d: %+v %v", i, out, err)
		}
	}
	if _, err := c.Fire(t.Context(), call("ls")); !errors.Is(err, client.ErrLost) {
		t.Errorf("got %v", err)
	}
	<-c.Done()
	if err := c.Close(); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("Close: %v", err)
	}
}

// Args that a hook changed to what the tool does not take are refused.
func TestCheckArgs(t *testing.T) {
	c, s := start(t, client.Options{})
	defer c.Close()
	event := call("change it")
	event.CheckArgs = func(args protocol.RawMessage) error {
		if !bytes.Contains(args, []byte(`"command":"`)) {
			return errors.New("command must be a string")
		}
		return nil
	}
	out, err := s.Fire(t.Context(), event)
	if err != nil || out.Action != protocol.Block || out.Failure != protocol.FailReply || len(out.Runs) != 1 {
		t.Errorf("%+v %v", out, err)
	}
	event.Data = call("ls").Data
	if out, err := s.Fire(t.Context(), event); err != nil || out.Refused() {
		t.Errorf("%+v %v", out, err)
	}
}

func TestStartFails(t *testing.T) {
	if _, err := client.Start(t.Context(), client.Options{}, "/no/such/program"); err == nil {
		t.Error("no error")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	var stderr bytes.Buffer
	if _, err := client.Start(ctx, client.Options{Stderr: &stderr}, "cat"); err == nil {
		t.Error("cat is taken for a daemon")
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("given up after %v", took)
	}
}

// A daemon of others: found by its socket, used by two clients, left running.
func TestDial(t *testing.T) {
	dir, err := os.MkdirTemp("", "hc")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	listener, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- daemon.New(options()).Serve(ctx, nil, listener) }()

	self := daemonOfExample()[0]
	if _, err := client.Dial(t.Context(), path, client.Options{Executable: "/bin/sh"}); err == nil {
		t.Error("a daemon of another program is trusted")
	}
	one, err := client.Dial(t.Context(), path, client.Options{Executable: self})
	if err != nil {
		t.Fatal(err)
	}
	two, err := client.Dial(t.Context(), path, client.Options{Executable: client.AnyExecutable})
	if err != nil {
		t.Fatal(err)
	}
	session, err := one.Open(t.Context(), client.SessionOptions{Project: "/proj"})
	if err != nil {
		t.Fatal(err)
	}
	// The other one may use the session with its key, and only so.
	if out, err := two.Attach(session.ID, session.Key).Fire(t.Context(), call("ls")); err != nil || out.Refused() {
		t.Errorf("with the key: %+v %v", out, err)
	}
	if out, err := two.Attach(session.ID, "").Fire(t.Context(), call("ls")); err != nil || out.Failure != protocol.FailLost {
		t.Errorf("without: %+v %v", out, err)
	}
	var wg sync.WaitGroup
	for i := range 500 { // more than may be in flight
		wg.Go(func() {
			event := call("ls")
			event.Data = bytes.Replace(event.Data, []byte("c1"), fmt.Append(nil, "c", i), 1)
			if out, err := session.Fire(t.Context(), event); err != nil || out.Refused() {
				t.Errorf("%d: %+v %v", i, out, err)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(one.Ping(t.Context()), one.Close(), two.Ping(t.Context()), two.Close(), two.Close()); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
