package relay

import (
	"bufio"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol/rpc"
)

// pipes are a relay between two ends of the test.
type pipes struct {
	client, server     *io.PipeWriter // what they write
	toClient, toServer *bufio.Reader  // what they read
	relay              *Relay
	readers            []io.Closer
}

func between(t *testing.T, o Options) *pipes {
	t.Helper()
	p := &pipes{}
	read := func() (*io.PipeReader, *io.PipeWriter) {
		r, w := io.Pipe()
		p.readers = append(p.readers, r)
		return r, w
	}
	var toClient, toServer io.Reader
	o.Client.In, p.client = read()
	o.Server.In, p.server = read()
	toClient, o.Client.Out = read()
	toServer, o.Server.Out = read()
	p.toClient, p.toServer = bufio.NewReader(toClient), bufio.NewReader(toServer)
	p.relay = New(o)
	go p.relay.Run()
	t.Cleanup(func() {
		p.client.Close()
		p.server.Close()
		for _, r := range p.readers {
			r.Close()
		}
		<-p.relay.Done()
	})
	return p
}

func say(t *testing.T, to io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(to, text+"\n"); err != nil {
		t.Fatal(err)
	}
}

func line(from *bufio.Reader) string {
	text, err := from.ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(text, "\n")
}

// A line that is too long is answered by its id, wherever that stands, and the stream goes on.
func TestLinesTooLong(t *testing.T) {
	p := between(t, Options{Limit: 100})
	long := strings.Repeat(`x\"},{\"id\":9`, 20_000)
	for text, want := range map[string]string{
		`{"id":"a","jsonrpc":"2.0","method":"m","params":{"id":3,"x":"` + long + `"}}`: `"id":"a"`,
		`{"params":["` + long + `"], "method" : "m" , "id" : 12}`:                      `"id":12`,
		`{"method":"m","params":{"x":"` + long + `"}}`:                                 `"id":null`,
		`{"id":1,"id":2,"method":"m","params":{"x":"` + long + `"}}`:                   `"id":null`,
		strings.Repeat("x", 200):                                                       `"id":null`,
	} {
		say(t, p.client, text)
		if got := line(p.toClient); !strings.HasPrefix(got, `{"jsonrpc":"2.0",`+want+`,"error":{"code":-32600,"message":"hookd: the message has `) {
			t.Errorf("%.60s: %s", text, got)
		}
	}
	say(t, p.server, `{"jsonrpc":"2.0","result":{"x":"`+long+`"},"id":4}`)
	if got := line(p.toClient); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":4,"error":{"code":-32000,"message":"hookd: the answer was left out: `) {
		t.Error(got)
	}
	say(t, p.server, `{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{"x":"`+long+`"}}`)
	if got := line(p.toServer); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":5,"error":{"code":-32600,`) {
		t.Error(got)
	}
	exact := `{"jsonrpc":"2.0","id":6,"method":"m","x":"` + strings.Repeat("x", 100-44) + `"}`
	say(t, p.client, exact)
	if got := line(p.toServer); len(exact) != 100 || got != exact {
		t.Errorf("%d bytes: %s", len(exact), got)
	}
}

// An answer that could be read as two gets an error in its place, so that nobody waits for it in
// vain, and nobody is answered by it who has not asked.
func TestAnswersThatCannotBeRead(t *testing.T) {
	inPlace := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32000,"message":"hookd: the answer was left out: the `
	}
	for answer, want := range map[string]string{
		`{"jsonrpc":"2.0","id":4,"result":{},"error":{"code":1,"message":"m"}}`:               inPlace("4"),
		`{"jsonrpc":"2.0","id":"a","result":1,"result":2}`:                                    inPlace(`"a"`),
		`{"jsonrpc":"2.0","id":4,"result":1,"Result":2}`:                                      inPlace("4"),
		`{"jsonrpc":"2.0","id":4,"result":{"x":NaN}}`:                                         inPlace("4"),
		`{"jsonrpc":"2.0","result":{"x":[1,]}, "id" : "a"} x`:                                 inPlace(`"a"`),
		`{"id":4,"result":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`: inPlace("4"),
		`{"jsonrpc":"2.0","id":4,"result":{"x":`:                                              "",
		`{"jsonrpc":"2.0","id":4,"result":{}}{"jsonrpc":"2.0","id":5,"result":{}}`:            "",
		`{"jsonrpc":"2.0","id":NaN,"result":{}}`:                                              "",
		`{"jsonrpc":"2.0","id":4,"id":5,"result":1}`:                                          "",
		`{"jsonrpc":"2.0","id":4,"ID":5,"result":1}`:                                          "",
		`{"jsonrpc":"2.0","id":4,"result":1,"method":"m"}`:                                    "",
		`{"jsonrpc":"2.0","id":4,"result":1,"Method":"m"}`:                                    "",
		`{"jsonrpc":"2.0","id":null,"result":1,"result":2}`:                                   "",
		`{"jsonrpc":"2.0","id":4,"result":{"n":1.0}, "error" : null}`:                         `{"jsonrpc":"2.0","id":4,"result":{"n":1.0}, "error" : null}`,
	} {
		p := between(t, Options{})
		for _, from := range []struct {
			side io.Writer
			to   *bufio.Reader
		}{{p.server, p.toClient}, {p.client, p.toServer}} {
			say(t, from.side, answer)
			const next = `{"jsonrpc":"2.0","method":"next"}`
			say(t, from.side, next)
			if got := line(from.to); want != "" && !strings.HasPrefix(got, want) || want == "" && got != next {
				t.Errorf("%s: %s", answer, got)
			}
		}
	}
}

// A request that cannot be read is answered, to either side. What may be none, such as a line of a
// log, has no answer that could be taken for one to another request.
func TestRequestsThatCannotBeRead(t *testing.T) {
	p := between(t, Options{})
	for request, id := range map[string]string{
		`{"jsonrpc":"2.0","id":4,"method":"m","params":{},"params":{}}`: "4",
		`{"jsonrpc":"2.0","id":"a","method":"m","Params":{}}`:           `"a"`,
		`{"jsonrpc":"2.0","id":4,"method":"m","params":{"x":NaN}}`:      "4",
		`{"jsonrpc":"2.0","id":4,"id":5,"method":"m"}`:                  "",
		`{"jsonrpc":"2.0","id":4,"method":"m","method":"n","Id":5}`:     "",
		`{"id":4,"level":"info"}`:                                       "",
		`{"id":4,"level":NaN}`:                                          "",
		`{"jsonrpc":"2.0","id":4,"method":7}`:                           "",
	} {
		const next = `{"jsonrpc":"2.0","id":9,"method":"a","method":"b"}`
		for _, from := range []struct {
			side io.Writer
			back *bufio.Reader
		}{{p.client, p.toClient}, {p.server, p.toServer}} {
			say(t, from.side, request)
			want := `{"jsonrpc":"2.0","id":` + id + `,"error":`
			if id == "" {
				if from.side == p.client {
					line(p.toClient) // that one always has
				}
				say(t, from.side, next)
				want = `{"jsonrpc":"2.0","id":9,"error":`
			}
			if got := line(from.back); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s", request, got)
			}
		}
	}
}

// An answer has a result or an error. Of the two, one that is null says nothing.
func TestResultOrError(t *testing.T) {
	for answer, want := range map[string]string{
		`{"id":1,"result":{},"error":null}`:         "{} ",
		`{"id":1,"error":{"code":1},"result":null}`: ` {"code":1}`,
		`{"id":1,"result":null,"error":null}`:       "null ",
		`{"id":1,"result":null}`:                    "null ",
		`{"id":1,"error":null}`:                     " null",
	} {
		m, fault := Read([]byte(answer))
		if fault != nil || string(m.Result)+" "+string(m.Error) != want {
			t.Errorf("%s: %+v %v", answer, m, fault)
		}
	}
}

// Batches are taken apart where the version has them, and refused as a whole where it has not.
func TestBatches(t *testing.T) {
	const one, two = `{"jsonrpc":"2.0","id":1,"method":"a", "n":1.0}`, `{"jsonrpc":"2.0","method":"b"}`
	has := false
	p := between(t, Options{Batches: func() bool { return has }})
	say(t, p.client, "["+one+","+two+"]")
	if got := line(p.toClient); !strings.Contains(got, "-32600") {
		t.Error(got)
	}
	say(t, p.client, "[]")
	line(p.toClient)
	has = true
	say(t, p.client, " [ "+one+" , 7, "+two+"]")
	if got := line(p.toServer) + line(p.toServer); got != one+two {
		t.Error(got)
	}
	if got := line(p.toClient); !strings.Contains(got, "which is an object") {
		t.Error(got)
	}
	say(t, p.server, "["+two+"]")
	if got := line(p.toClient); got != two {
		t.Error(got)
	}
}

// Messages of a lane leave it in their order, whatever is decided first. Others pass.
func TestLanes(t *testing.T) {
	release := map[string]chan Decision{"a": make(chan Decision), "b": make(chan Decision), "c": make(chan Decision)}
	p := between(t, Options{FromServer: func(m *Message) Decision {
		if wait := release[m.Method]; wait != nil {
			return Later("lane", func() Decision { return <-wait })
		}
		if m.Method == "in" {
			return PassIn("lane", m.Line)
		}
		return Pass(m.Line)
	}})
	message := func(name string) []byte { return []byte(`{"method":"` + name + `"}`) }
	for _, name := range []string{"a", "b", "in", "c", "out"} {
		say(t, p.server, string(message(name)))
	}
	want := func(name string) {
		t.Helper()
		if got := line(p.toClient); got != string(message(name)) {
			t.Fatalf("%s, want %s", got, name)
		}
	}
	want("out")
	release["c"] <- Pass(message("c"))
	release["b"] <- Drop()
	later := make(chan Decision)
	release["a"] <- Later("", func() Decision { return <-later }) // it leaves its lane
	want("in")
	want("c")
	later <- Pass(message("a"))
	want("a")
}

// A side that does not read stops the other one, and little is kept meanwhile.
func TestBackPressure(t *testing.T) {
	p := between(t, Options{})
	const size = 64 << 10
	text := `{"method":"m","x":"` + strings.Repeat("x", size) + `"}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sent, stuck := 0, make(chan struct{})
	go func() {
		defer close(stuck)
		for sent = 0; sent < 100; sent++ {
			if _, err := io.WriteString(p.client, text+"\n"); err != nil {
				return
			}
		}
	}()
	select {
	case <-stuck:
		t.Fatalf("%d lines were taken that nobody reads", sent)
	case <-time.After(200 * time.Millisecond):
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > before.HeapAlloc+4<<20 {
		t.Errorf("%d bytes are kept", after.HeapAlloc-before.HeapAlloc)
	}
	say(t, p.server, `{"method":"other way"}`)
	if got := line(p.toClient); got != `{"method":"other way"}` {
		t.Error(got)
	}
	for range 100 {
		if got := line(p.toServer); got != text {
			t.Fatal(got[:min(len(got), 100)])
		}
	}
	<-stuck
}

// What one side said before its end reaches the other, and then its stream ends.
func TestEnds(t *testing.T) {
	p := between(t, Options{FromClient: func(m *Message) Decision {
		return Later("x", func() Decision { time.Sleep(10 * time.Millisecond); return Pass(m.Line) })
	}})
	for i := range 3 {
		say(t, p.client, fmt.Sprintf(`{"method":"m%d"}`, i))
	}
	io.WriteString(p.client, `{"method":"half`)
	p.client.Close()
	<-p.relay.Gone(Client)
	for i := range 3 {
		if got := line(p.toServer); got != fmt.Sprintf(`{"method":"m%d"}`, i) {
			t.Error(got)
		}
	}
	if got := line(p.toClient); !strings.Contains(got, "not valid JSON") {
		t.Error(got)
	}
	if got := line(p.toServer); got != "EOF" {
		t.Error(got)
	}
	say(t, p.server, `{"id":1,"result":{}}`)
	p.server.Close()
	if got := line(p.toClient) + line(p.toClient); got != `{"id":1,"result":{}}EOF` {
		t.Error(got)
	}
	<-p.relay.Done()
}

// Whatever a line is, reading ends, and what is a message keeps its bytes.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"id":1,"method":"m","params":{}}`, `{"id":null,"error":{}}`, `[{}]`, `{"a":"\ud800","a":1}`, "\xef\xbb\xbf{}", `{"METHOD":"x"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, fault := Read([]byte(text))
		switch {
		case (m == nil) == (fault == nil):
			t.Fatal(m, fault)
		case m != nil && (m.Kind == 0 || m.Kind == Request && m.ID == nil || !strings.HasSuffix(text, string(m.Line))):
			t.Fatalf("%+v", m)
		case m != nil && m.Params != nil && string(m.With("params", m.Params)) != string(m.Line) && !strings.ContainsAny(text, "\r\n"):
			t.Fatalf("%s", m.With("params", m.Params))
		}
		o := &rpc.Overlong{}
		o.Add([]byte(text))
		was, known := o.Message()
		if m != nil && known && was.ID != nil && was.Method != "" && (m.Kind != Request || string(was.ID) != strings.TrimSpace(string(m.ID))) {
			t.Fatalf("%q is %+v, and read as %+v", text, was, m)
		}
	})
}
