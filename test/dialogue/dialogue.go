package dialogue

import (
	"bufio"
	"context"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// patience is how long a line may take.
const patience = 5 * time.Second

// Gate is hooks without a project.
type Gate struct{ *executor.Executor }

func (Gate) Project() string { return "" }

// HookOn returns a guard for one event.
func HookOn(event protocol.EventName, do func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error)) protocol.GoHook {
	return protocol.GoHook{Name: "h", Events: []protocol.EventName{event}, OnFailure: protocol.RuleBlock, Func: do}
}

// Lines are said and heard.
type Lines struct{ T testing.TB }

// Say writes a line.
func (l Lines) Say(to io.Writer, line string) {
	l.T.Helper()
	written := make(chan error, 1)
	go func() {
		_, err := io.WriteString(to, line+"\n")
		written <- err
	}()
	select {
	case err := <-written:
		if err != nil {
			l.T.Fatalf("%s: %v", line, err)
		}
	case <-time.After(patience):
		l.T.Fatalf("nobody reads %s", line)
	}
}

// Next returns the next line, or the error in its place.
func (l Lines) Next(from *bufio.Reader) string {
	l.T.Helper()
	line := make(chan string, 1)
	go func() {
		text, err := from.ReadString('\n')
		if err != nil {
			text = err.Error()
		}
		line <- strings.TrimSuffix(text, "\n")
	}()
	select {
	case text := <-line:
		return text
	case <-time.After(patience):
		l.T.Fatal("no line came")
		return ""
	}
}

// Read reads one line, which is to be the wanted one.
func (l Lines) Read(from *bufio.Reader, want string) {
	l.T.Helper()
	if got := l.Next(from); got != want {
		l.T.Fatalf("got  %s\nwant %s", got, want)
	}
}

// Has reads one line, which is to have all of some texts in it.
func (l Lines) Has(from *bufio.Reader, want ...string) string {
	l.T.Helper()
	got := l.Next(from)
	for _, w := range want {
		if !strings.Contains(got, w) {
			l.T.Fatalf("got %s\nwithout %s", got, w)
		}
	}
	return got
}

// Sides are the client and the server of a proxy at work.
type Sides struct {
	ToServer, ToClient *bufio.Reader
	Client, Server     io.WriteCloser
	End                context.CancelCauseFunc
	Done               chan error    // what the proxy returns
	Exited             chan struct{} // closed when the server has exited
	exit               sync.Once
}

// Exit has the server exit.
func (s *Sides) Exit() { s.exit.Do(func() { close(s.Exited) }) }

// Between starts a proxy, which ends with the test, as do its hooks.
func Between(t testing.TB, hooks *executor.Executor, run func(context.Context, relay.Stream, *proxied.Process) error) *Sides {
	clientIn, client := io.Pipe()
	toClient, clientOut := io.Pipe()
	toServer, serverIn := io.Pipe()
	serverOut, server := io.Pipe()
	ctx, end := context.WithCancelCause(t.Context())
	s := &Sides{
		ToServer: bufio.NewReader(toServer), ToClient: bufio.NewReader(toClient), Client: client, Server: server,
		End: end, Done: make(chan error, 1), Exited: make(chan struct{}),
	}
	process := &proxied.Process{In: serverIn, Out: serverOut, Done: s.Exited, Ended: func() string { return "exit code 3" }, End: func(time.Duration) {
		toServer.Close()
		server.Close()
		s.Exit()
	}}
	go func() {
		s.Done <- run(ctx, relay.Stream{In: clientIn, Out: clientOut}, process)
		clientIn.Close()
		toClient.Close()
	}()
	t.Cleanup(func() {
		end(proxied.ErrClosed)
		client.Close()
		toClient.Close()
		<-s.Done
		_ = hooks.Close(context.Background())
	})
	return s
}

// Notes are what a person is told. The zero value is empty.
type Notes struct {
	mu   sync.Mutex
	list []string
}

// Add adds a note.
func (n *Notes) Add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, text)
}

// All returns the notes.
func (n *Notes) All() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.list...)
}

// Await waits until a note has a text in it.
func (n *Notes) Await(t testing.TB, want string) {
	t.Helper()
	for began := time.Now(); time.Since(began) < patience; time.Sleep(time.Millisecond) {
		if strings.Contains(strings.Join(n.All(), "\n"), want) {
			return
		}
	}
	t.Errorf("no note %q: %q", want, n.All())
}

// Heap is the memory in use, in bytes.
func Heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
