package relay

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/lines"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// way is one direction: from the side that is read to the other one.
type way struct {
	from  Side
	in    io.Reader
	out   *outbox // of the other side
	back  *outbox // of the side that is read
	relay *Relay
	held  *held

	mu    sync.Mutex
	lanes map[string][]*place
}

// place is the place of a message in its lane.
type place struct {
	decided  bool
	decision Decision
	queued   int // bytes that count until it leaves
}

// run reads messages to the end and returns when all of them are decided and put out.
func (w *way) run() {
	w.read()
	w.relay.goneOf[w.from].end()
	w.held.wait()
}

// read takes lines until the input ends, whatever ends it.
func (w *way) read() {
	skipped := &rpc.Overlong{}
	reader := lines.NewReader(w.in, lines.Options{Limit: w.relay.options.Limit, Skipped: func(piece []byte) { skipped.Add(piece) }})
	defer reader.Release()
	for {
		line, _, err := reader.Next()
		switch long := (*lines.TooLongError)(nil); {
		case errors.As(err, &long):
			w.tooLong(skipped, long)
			*skipped = rpc.Overlong{}
			continue
		case err != nil && len(line) == 0:
			return
		case len(jsonspan.Trim(line)) > 0:
			w.line(line)
		}
		if err != nil {
			return
		}
	}
}

// line takes a line, which is a message or a batch of them.
func (w *way) line(line []byte) {
	if jsonspan.Kind(line) == '[' && jsonspan.Valid(line) {
		w.batch(line)
		return
	}
	message, fault := Read(line)
	if fault != nil {
		w.fault(fault, line)
		return
	}
	w.message(message)
}

// batch takes the messages of a batch one by one: each is decided by itself, and goes on in
// a line of its own.
func (w *way) batch(line []byte) {
	elements := jsonspan.Elements(line)
	batches := w.relay.options.Batches
	if len(elements) == 0 || w.from == Client && (batches == nil || !batches()) {
		w.fault(&Fault{Code: CodeInvalidRequest, Text: "batches are no part of this version of the protocol"}, line)
		return
	}
	for _, element := range elements {
		message, fault := Read(element)
		if fault != nil {
			w.fault(fault, element)
			continue
		}
		w.message(message)
	}
}

// fault answers the client, and a server that has asked: it reads no answer to anything else that
// was no message, and people are told. Who waits for an answer that cannot be read gets an error in
// its place.
func (w *way) fault(f *Fault, line []byte) {
	w.relay.note(w.from, f.Text, line)
	switch {
	case f.Answers != nil:
		w.line(f.InPlace(w.relay.options.Code))
	case f.Asks != nil:
		w.back.put(ErrorLine(f.Asks, f.Code, "hookd: "+f.Text))
	case w.from == Client:
		w.back.put(ErrorLine(f.ID, f.Code, "hookd: "+f.Text))
	}
}

// tooLong takes a line that was too long to be kept. A side that waits for an answer gets one.
func (w *way) tooLong(o *rpc.Overlong, long *lines.TooLongError) {
	text := fmt.Sprintf("the message has %d bytes, the most is %d", long.Size, long.Limit)
	switch m, known := o.Message(); {
	case known && m.ID != nil && m.Method != "":
		w.relay.note(w.from, text, long.Start)
		w.back.put(ErrorLine(m.ID, CodeInvalidRequest, "hookd: "+text))
	case known && m.Method == "":
		w.relay.note(w.from, text, long.Start)
		w.line((&Fault{Answers: m.ID, Text: text}).InPlace(w.relay.options.Code))
	default:
		w.fault(&Fault{Code: CodeInvalidRequest, Text: text}, long.Start)
	}
}

// message decides a message, or begins to.
func (w *way) message(m *Message) {
	d := w.relay.options.decide(w.from)(m)
	switch {
	case d.ask != nil:
		w.later(d, len(m.Line))
	case d.lane != "":
		w.queue(d, len(m.Line))
	default:
		w.send(d)
	}
}

// queueCost is what a message costs that waits in a lane, apart from its bytes.
const queueCost = 256

// later decides a message on a goroutine of the crew. Its bytes count until it has left its lane.
func (w *way) later(d Decision, size int) {
	lane, at := d.lane, (*place)(nil)
	size += queueCost
	w.held.take(lane, size)
	if lane != "" {
		at = w.enter(lane)
	}
	w.relay.crew.Go(func() {
		defer w.held.decided(lane)
		d := d.ask()
		for d.ask != nil {
			if at != nil {
				w.settle(lane, at, Drop())
				at = nil
			}
			d = d.ask()
		}
		if at != nil {
			at.queued = size
			w.settle(lane, at, d)
			return
		}
		w.send(d)
		w.held.leave(lane, size)
	})
}

// queue has a decided message leave after the earlier ones of its lane.
func (w *way) queue(d Decision, size int) {
	w.mu.Lock()
	waits := len(w.lanes[d.lane]) > 0
	w.mu.Unlock()
	if size += queueCost; waits {
		w.held.queue(d.lane, size)
	}
	at := w.enter(d.lane)
	if waits {
		at.queued = size
	}
	w.settle(d.lane, at, d)
}

// enter takes a place at the end of a lane.
func (w *way) enter(lane string) *place {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := &place{}
	w.lanes[lane] = append(w.lanes[lane], at)
	return at
}

// settle decides what becomes of the message at a place, and sends what may leave the lane
// now.
func (w *way) settle(lane string, at *place, d Decision) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at.decided, at.decision = true, d
	queue := w.lanes[lane]
	for len(queue) > 0 && queue[0].decided {
		w.send(queue[0].decision)
		if size := queue[0].queued; size > 0 {
			w.held.leave(lane, size)
		}
		queue[0] = nil
		queue = queue[1:]
	}
	if len(queue) == 0 {
		delete(w.lanes, lane)
		return
	}
	w.lanes[lane] = queue
}

func (w *way) send(d Decision) {
	if d.unless != nil && d.unless() {
		return
	}
	switch {
	case d.pass != nil:
		w.out.put(d.pass)
	case d.answer != nil:
		w.back.put(d.answer)
	}
}
