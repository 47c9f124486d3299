package chain

import (
	"errors"
	"fmt"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/lines"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// codeInternal is the error in place of an answer that could not be kept.
const codeInternal = -32603

// read takes the lines of the conductor until it says no more.
func (m *Member) read() {
	defer m.finish()
	skipped := &rpc.Overlong{}
	reader := lines.NewReader(m.in, lines.Options{Limit: m.limit, Skipped: func(piece []byte) { skipped.Add(piece) }})
	defer reader.Release()
	for {
		line, _, err := reader.Next()
		switch long := (*lines.TooLongError)(nil); {
		case errors.As(err, &long):
			m.tooLong(skipped, long)
			skipped = &rpc.Overlong{}
			continue
		case len(jsonspan.Trim(line)) > 0:
			m.take(line)
		}
		if err != nil {
			return
		}
	}
}

// take takes a line. What is no message is for the proxy to refuse, as it would be of a client.
func (m *Member) take(line []byte) {
	message, fault := relay.Read(line)
	switch {
	case fault != nil && fault.Answers != nil:
		m.note(fault.Text, line)
		m.take(fault.InPlace(codeInternal))
	case fault != nil:
		m.says[relay.Client].put(line, true)
	case message.Kind == relay.Response:
		m.answered(message)
	case isBegin(message.Method):
		m.begin(message)
	case m.dialect.Load() == nil:
		_, _, err := recognize(message)
		m.refuse(message, relay.CodeInvalidRequest, err.Error())
	case message.Method == m.dialect.Load().receive.method(message.Kind):
		inner, err := unwrap(message)
		if err != nil {
			m.refuse(message, relay.CodeInvalidParams, err.Error())
			return
		}
		m.pass(relay.Server, inner, receivedRequest{side: relay.Server})
	case isChain(message.Method):
		m.refuse(message, relay.CodeInvalidRequest, fmt.Sprintf("%s is no method of the dialect that the chain has begun with, by %s", message.Method, m.dialect.Load().begin))
	case message.Method == acp.CancelRequest && message.Kind == relay.Notification:
		m.cancel(message)
	default:
		m.pass(relay.Client, message, receivedRequest{side: relay.Client})
	}
}

// begin takes the request that begins the chain. A client may send another one after it.
func (m *Member) begin(message *relay.Message) {
	d, line, err := recognize(message)
	if now := m.dialect.Load(); err == nil && now != nil && now != d {
		err = fmt.Errorf("the chain has begun in another dialect, by %s", now.begin)
	}
	if err == nil && message.Kind != relay.Request {
		err = fmt.Errorf("%s came without an id", message.Method)
	}
	if err != nil {
		m.refuse(message, relay.CodeInvalidRequest, err.Error())
		return
	}
	m.dialect.Store(d)
	message.Line = line
	m.pass(relay.Client, message, receivedRequest{side: relay.Client, begins: true})
}

// pass has the proxy read a message of a side.
func (m *Member) pass(from relay.Side, message *relay.Message, request receivedRequest) {
	if message.Kind == relay.Request {
		if problem := m.received.add(message.ID, request); problem != "" {
			m.refuse(message, relay.CodeInvalidRequest, problem)
			return
		}
	}
	m.says[from].put(message.Line, true)
}

// answered takes an answer to a request of the proxy.
func (m *Member) answered(message *relay.Message) {
	request, open := m.sent.answered(message.ID)
	if !open {
		m.note("an answer to what hookd has not asked", message.Line)
		return
	}
	m.says[request.to].put(message.With("id", request.id), true)
}

// cancel takes a notification that the conductor gives up a request of its own: the side that
// the request is of does. One that was answered needs none.
func (m *Member) cancel(message *relay.Message) {
	id := jsonspan.Get(message.Params, "requestId")
	if request, open := m.received.of(id); open {
		m.says[request.side].put(message.Line, true)
	}
}

// refuse passes a message to nobody, and says so.
func (m *Member) refuse(message *relay.Message, code int, text string) {
	m.note(text, message.Line)
	if message.Kind == relay.Request {
		m.write(relay.ErrorLine(message.ID, code, "hookd: "+text))
	}
}

// tooLong takes a line that was too long to be kept. Who waits for an answer gets one.
func (m *Member) tooLong(o *rpc.Overlong, long *lines.TooLongError) {
	text := fmt.Sprintf("the message has %d bytes, the most is %d", long.Size, long.Limit)
	m.note(text, long.Start)
	switch message, known := o.Message(); {
	case known && message.ID != nil && message.Method != "":
		m.write(relay.ErrorLine(message.ID, relay.CodeInvalidRequest, "hookd: "+text))
	case known && message.Method == "":
		m.take((&relay.Fault{Answers: message.ID, Text: text}).InPlace(codeInternal))
	}
}
