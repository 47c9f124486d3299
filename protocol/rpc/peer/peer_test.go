package peer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// other is the other side of a peer.
type other struct {
	t    *testing.T
	peer *Peer
	in   *io.PipeWriter
	out  *bufio.Reader
	ran  chan error
	stop context.CancelFunc
}

func connect(t *testing.T, o Options) *other {
	t.Helper()
	in, write := io.Pipe()
	read, out := io.Pipe()
	p := &other{t: t, peer: New(in, out, o), in: write, out: bufio.NewReader(read), ran: make(chan error, 1)}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	go func() { p.ran <- p.peer.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		write.Close()
		read.Close()
		p.peer.Close(time.Second)
	})
	return p
}

func (p *other) say(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *other) hears(want string) {
	p.t.Helper()
	got, err := p.out.ReadString('\n')
	if err != nil || strings.TrimSpace(got) != want {
		p.t.Errorf("%q %v, want %q", got, err, want)
	}
}

// Each message is handed over in its order and answered once, by its own id, as it was written.
func TestRequestsAreAnsweredOnce(t *testing.T) {
	p := connect(t, Options{Limit: 300, Cancel: "$/cancel", Receive: func(r *Request) {
		switch r.Method {
		case "echo":
			r.Answer(r.Params)
			r.Fail(rpc.Errorf(1, "twice"))
		case "fail":
			r.Fail(rpc.Errorf(7, "no"))
		case "note":
			if !r.IsNotification() {
				t.Error("a notification has an id")
			}
			r.Answer("nobody asked")
		case "wait":
			context.AfterFunc(r.Context(), func() { r.Answer(context.Cause(r.Context()).Error()) })
		}
	}})
	for _, c := range []struct{ say, hears string }{
		{`{"jsonrpc":"2.0","id":9007199254740993,"method":"echo","params":{"b":9007199254740993,"a":1}}`, `{"jsonrpc":"2.0","id":9007199254740993,"result":{"b":9007199254740993,"a":1}}`},
		{`{"jsonrpc":"2.0","method":"note"}` + "\n\n" + `{"jsonrpc":"2.0","id":"x","method":"fail"}`, `{"jsonrpc":"2.0","id":"x","error":{"code":7,"message":"no"}}`},
		{`{"jsonrpc":"2.0","id":"x","method":"echo","params":[` + strings.Repeat("1,", 200) + `1]}`, `{"jsonrpc":"2.0","id":"x","error":{"code":-32600,"message":"line of 455 bytes is longer than the limit of 300 bytes"}}`},
		{`{"jsonrpc":"2.0","method":"note","params":[` + strings.Repeat("1,", 200) + `1]}` + "\n" + `[` + strings.Repeat("1,", 200) + `1]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"line of 403 bytes is longer than the limit of 300 bytes"}}`},
		{`{`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"invalid JSON at byte 1: unexpected EOF","data":{"offset":1}}}`},
		{`{"jsonrpc":"2.0","id":3,"method":"wait"}` + "\n" + `{"jsonrpc":"2.0","id":3,"method":"echo"}`, `{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"another request with the id 3 waits for its answer"}}`},
		{`{"jsonrpc":"2.0","method":"$/cancel","params":{"requestId":4}}` + "\n" + `{"jsonrpc":"2.0","method":"$/cancel","params":{"requestId":3}}`, `{"jsonrpc":"2.0","id":3,"result":"the request was cancelled"}`},
		{`{"jsonrpc":"2.0","id":12,"result":"of no call"}` + "\n" + `{"jsonrpc":"2.0","id":3,"method":"echo","params":[1]}`, `{"jsonrpc":"2.0","id":3,"result":[1]}`},
	} {
		p.say(c.say)
		p.hears(c.hears)
	}
}

// Calls have their place among what is sent, and end by an answer, an error, their context or the
// end of the connection: what comes first counts.
func TestCallsEnd(t *testing.T) {
	p := connect(t, Options{Limit: 4000, Cancel: "$/cancel", Receive: func(*Request) {}})
	type ended struct {
		result string
		err    error
	}
	begin := func(ctx context.Context) chan ended {
		done := make(chan ended, 1)
		c, err := p.peer.Begin(ctx, "ask", []int{1})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			result, err := c.Wait(ctx)
			done <- ended{string(result), err}
		}()
		return done
	}
	for range 3 {
		if err := p.peer.Notify(t.Context(), "tell", struct{}{}); err != nil {
			t.Fatal(err)
		}
	}
	short, cancel := context.WithCancelCause(t.Context())
	answered, refused, given, left, long := begin(t.Context()), begin(t.Context()), begin(short), begin(t.Context()), begin(t.Context())
	for range 3 {
		p.hears(`{"jsonrpc":"2.0","method":"tell","params":{}}`)
	}
	for id := range 5 {
		p.hears(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ask","params":[1]}`, id+1))
	}
	p.say(`{"jsonrpc":"2.0","id":2,"error":{"code":5,"message":"no"}}`)
	p.say(`{"jsonrpc":"2.0","id":1,"result":{"n":9007199254740993}}`)
	if got := <-answered; got.result != `{"n":9007199254740993}` || got.err != nil {
		t.Errorf("%+v", got)
	}
	if failure, is := errors.AsType[*rpc.Error]((<-refused).err); !is || failure.Code != 5 {
		t.Errorf("%v", failure)
	}
	p.say(`{"jsonrpc":"2.0","id":5,"result":"` + strings.Repeat("x", 5000) + `"}`)
	if failure, is := errors.AsType[*rpc.Error]((<-long).err); !is || failure.Code != rpc.InvalidRequest {
		t.Errorf("%v", failure)
	}
	gaveUp := errors.New("gave up")
	cancel(gaveUp)
	if got := <-given; !errors.Is(got.err, gaveUp) {
		t.Errorf("%+v", got)
	}
	p.hears(`{"jsonrpc":"2.0","method":"$/cancel","params":{"requestId":3}}`)
	p.say(`{"jsonrpc":"2.0","id":3,"result":"too late"}`)
	p.in.Close()
	if err := <-p.ran; err != nil {
		t.Error(err)
	}
	if got := <-left; !errors.Is(got.err, ErrEnded) {
		t.Errorf("%+v", got)
	}
	if _, err := p.peer.Call(t.Context(), "ask", 1); !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
}

// An answer that JSON-RPC does not allow fails its call at once, whatever it says: which of two
// results was meant nobody can know.
func TestAnAnswerThatIsNoneFailsTheCall(t *testing.T) {
	p := connect(t, Options{Receive: func(r *Request) { t.Errorf("%s was handed over", r.Method) }})
	for id, rest := range []string{
		`,"result":"no","result":"yes"`, `,"result":"yes","error":{"code":1,"message":"no"}`, `,"result":"yes","error":5`,
		`,"result":"yes","jsonrpc":"2.0"`, `,"error":null`, ``, `,"params":{}`,
	} {
		c, err := p.peer.Begin(t.Context(), "ask", 1)
		if err != nil {
			t.Fatal(err)
		}
		p.hears(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ask","params":1}`, id+1))
		p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d%s}`, id+1, rest))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		result, err := c.Wait(ctx)
		cancel()
		if failure, is := errors.AsType[*rpc.Error](err); !is || failure.Code != rpc.InvalidRequest {
			t.Errorf("%s: %s %v", rest, result, err)
		}
	}
}

// A side that does not read holds up what is sent, not what is heard, and not the end.
func TestASideThatDoesNotReadIsHeard(t *testing.T) {
	heard := make(chan string, 1)
	p := connect(t, Options{Receive: func(r *Request) { heard <- r.Method }})
	ctx, cancel := context.WithCancelCause(t.Context())
	sent := make(chan error, 1)
	go func() {
		for {
			if err := p.peer.Notify(ctx, "tell", protocol.RawMessage(`"`+strings.Repeat("x", 1<<18)+`"`)); err != nil {
				sent <- err
				return
			}
		}
	}()
	select {
	case err := <-sent:
		t.Fatal(err)
	case <-time.After(50 * time.Millisecond):
	}
	p.say(`{"jsonrpc":"2.0","method":"stop"}`)
	if got := <-heard; got != "stop" {
		t.Error(got)
	}
	stop := errors.New("stop")
	cancel(stop)
	if err := <-sent; !errors.Is(err, stop) {
		t.Error(err)
	}
	p.in.Close()
	<-p.ran
	began := time.Now()
	if err := p.peer.Close(50 * time.Millisecond); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}
