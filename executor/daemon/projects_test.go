package daemon

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Sessions of one project share an engine. It is closed some time after the
// last has ended, and opened anew for the next.
func TestEnginesAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &opener{slow: 100 * time.Millisecond}
		s := serve(t, Options{Idle: 10 * time.Second}, o)
		open := func(id int, project string) {
			_ = s.stdio.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/open","params":{"id":"s%d","project":%q}}`, id, id, project))
		}
		closing := func(id int) {
			_ = s.stdio.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/close","params":{"id":"s%d"}}`, 100+id, id))
			s.stdio.answer(t, fmt.Sprint(100+id))
		}
		expect := func(when, want string) {
			t.Helper()
			synctest.Wait()
			var got []string
			for _, project := range []string{"/a", "/b"} {
				for _, e := range o.of(project) {
					e.mu.Lock()
					got = append(got, fmt.Sprintf("%s closed %d", project, e.closed))
					e.mu.Unlock()
				}
			}
			if strings.Join(got, ", ") != want {
				t.Errorf("%s: %v, want %s", when, got, want)
			}
		}
		open(1, "/a")
		open(2, "/a")
		open(3, "/b")
		for range 3 {
			if r := s.stdio.next(t); r.Error != nil {
				t.Error(r.Error)
			}
		}
		expect("opened", "/a closed 0, /b closed 0")
		closing(1)
		time.Sleep(time.Minute)
		expect("one of two closed", "/a closed 0, /b closed 0")
		closing(2)
		time.Sleep(9 * time.Second)
		expect("unused for 9 s", "/a closed 0, /b closed 0")
		open(4, "/a")
		s.stdio.answer(t, "4")
		time.Sleep(time.Minute)
		expect("used again", "/a closed 0, /b closed 0")
		closing(4)
		time.Sleep(11 * time.Second)
		expect("unused for 11 s", "/a closed 1, /b closed 0")
		open(5, "/a")
		s.stdio.answer(t, "5")
		expect("used anew", "/a closed 1, /a closed 0, /b closed 0")
		s.cancel(errSignal)
		s.end(time.Second)
		expect("at the end", "/a closed 1, /a closed 1, /b closed 1")
	})
}

// A client may leave while its engine is still being opened, and a project that
// could not be opened is tried again.
func TestOpeningIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &opener{slow: time.Hour}
		s := serve(t, Options{}, o)
		b := s.dial()
		_ = b.send(openLine(1, "a"))
		synctest.Wait()
		b.close()
		_ = s.stdio.send(openLine(1, "a"), fireLine(2, "a", "", "ls"), cancelLine(1))
		if r := s.stdio.answer(t, "1"); r.code() == 0 {
			t.Error("a cancelled open has a result")
		}
		if r := s.stdio.answer(t, "2"); r.code() == 0 {
			t.Error("an event of a session that is not open has an outcome")
		}
		began := time.Now()
		s.cancel(errSignal)
		s.end(11 * time.Second)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("the end took %v", took)
		}
	})
}

// TestEndsUnused: a daemon ends when nobody has been connected for as long as it is told,
// and not while somebody is.
func TestEndsUnused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := New(Options{Open: (&opener{}).open, EndUnused: time.Minute})
		listener := newMemoryListener()
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(t.Context(), nil, listener) }()
		began := time.Now()
		time.Sleep(40 * time.Second)
		here, there := net.Pipe()
		listener.conns <- there
		client := newPeerEnd(here, here)
		time.Sleep(10 * time.Minute)
		select {
		case <-ended:
			t.Fatal("it ended with a client connected")
		default:
		}
		client.close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(began).Round(time.Second); took != 40*time.Second+10*time.Minute+time.Minute {
			t.Errorf("it ended after %v", took)
		}
	})
}

// TestEndsOutdated: a daemon that must make room ends when a client comes, and serves that
// one no more.
func TestEndsOutdated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outdated := false
		server := New(Options{Open: (&opener{}).open, Outdated: func() bool { return outdated }})
		listener := newMemoryListener()
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(t.Context(), nil, listener) }()
		connect := func() *peerEnd {
			here, there := net.Pipe()
			listener.conns <- there
			return newPeerEnd(here, here)
		}
		first := connect()
		if err := first.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); err != nil || !strings.Contains(<-first.lines, `"result":{}`) {
			t.Fatal(err)
		}
		outdated = true
		second := connect()
		_ = second.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		if line, answered := <-second.lines; answered {
			t.Errorf("answered %s", line)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		first.close()
		second.close()
	})
}

// However many engines are wanted one after the other, few stay open: the one that was used
// longest ago makes room, and none that is in use.
func TestEnginesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &opener{}
		resolve := func(_ []string, caller Caller) (string, error) { return "/p/" + caller.Environ[0], nil }
		server := New(Options{Version: "test", Open: o.open, ResolveCaller: resolve, Limits: Limits{Engines: 3}, Idle: time.Hour})
		listener := newMemoryListener()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(ctx, nil, listener) }()
		ask := func(command, name string) *peerEnd {
			here, there := net.Pipe()
			listener.conns <- there
			client := newPeerEnd(here, here)
			if err := client.send(bridgeLine(1, command, name)); err != nil {
				t.Fatal(err)
			}
			return client
		}
		answered := func(name string) {
			t.Helper()
			client := ask("ls", name)
			if line := <-client.lines; !strings.Contains(line, `"result":{"exit":0`) {
				t.Errorf("%s: %s", name, line)
			}
			client.close()
			synctest.Wait()
		}
		opened := func(name string) (opened, closed int) {
			for _, e := range o.of("/p/" + name) {
				e.mu.Lock()
				opened, closed = opened+1, closed+e.closed
				e.mu.Unlock()
			}
			return opened, closed
		}
		waiting := ask("wait", "busy")
		synctest.Wait()
		for _, name := range []string{"a", "b", "a", "c", "a", "d", "b"} {
			answered(name)
		}
		for name, want := range map[string][2]int{"busy": {1, 0}, "a": {1, 1}, "b": {2, 1}, "c": {1, 1}, "d": {1, 0}} {
			if got, closed := opened(name); got != want[0] || closed != want[1] {
				t.Errorf("%s: opened %d times and closed %d times, want %v", name, got, closed, want)
			}
		}
		waiting.close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
