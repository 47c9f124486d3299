package daemon

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// logText is a log that several goroutines write.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// A client that does not read its responses and goes: the log says which client, which
// requests, and why. The event was decided as any other.
func TestLostResponsesAreLogged(t *testing.T) {
	log, ended := &logText{}, make(chan struct{})
	s := serve(t, Options{Log: slog.NewTextHandler(log, nil)}, &opener{begin: func(protocol.Event) func() { return func() { close(ended) } }})
	client, there := net.Pipe()
	s.listener.conns <- there
	for _, line := range []string{`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"version":1,"client":{"name":"forgetful\u001b[2J"}}}`, openLine(1, "a"), fireLine(2, "a", "c1", "ls")} {
		if _, err := client.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Fatal("the event was not decided")
	}
	client.Close()
	waitUntil(t, 5*time.Second, func() bool { return strings.Contains(log.String(), "responses were lost") })
	for _, want := range []string{"level=ERROR", "forgetful", "initialize 0; session/open 1 of session a; event/fire 2: tool-call-start of session a, seq 1", "closed pipe"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	s.cancel(errSignal)
	s.end(5 * time.Second)
	if n := strings.Count(log.String(), "\n"); n != 1 || strings.Contains(log.String(), "\x1b") {
		t.Errorf("%d lines:\n%q", n, log)
	}
}

// The responses to events that were aborted because the client is gone are lost as well.
func TestAbortedEventsOfALostClientAreLogged(t *testing.T) {
	log := &logText{}
	s := serve(t, Options{Log: slog.NewTextHandler(log, nil)}, nil)
	client := s.dial()
	_ = client.send(openLine(1, "a"), fireLine(2, "a", "c1", "wait"), fireLine(3, "a", "c2", "wait"))
	client.answer(t, "1")
	waitUntil(t, 5*time.Second, func() bool { return len(s.opener.of("/proj")) == 1 && len(s.opener.of("/proj")[0].events()) == 2 })
	client.close()
	waitUntil(t, 5*time.Second, func() bool { return strings.Contains(log.String(), "responses were lost") })
	for _, want := range []string{"a client that gave no name", "event/fire 2: tool-call-start of session a, seq 1", "event/fire 3: tool-call-start of session a, seq 2"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	s.cancel(errSignal)
	s.end(5 * time.Second)
}

// A client that has all its responses may go: nothing is logged.
func TestClientThatLeavesIsNotLogged(t *testing.T) {
	log := &logText{}
	s := serve(t, Options{Log: slog.NewTextHandler(log, nil)}, nil)
	client := s.dial()
	_ = client.send(openLine(1, "a"), fireLine(2, "a", "c1", "ls"))
	client.answer(t, "1")
	client.answer(t, "2")
	client.close()
	s.cancel(errSignal)
	s.end(5 * time.Second)
	if log.String() != "" {
		t.Errorf("logged:\n%s", log)
	}
}
