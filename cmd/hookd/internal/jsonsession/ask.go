package jsonsession

import (
	"context"
	"errors"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/protocol"
)

// answer takes the program's answer to the question that it names. An answer without a
// name could be meant for an earlier question, and would allow what nobody has read.
func (d *session) answer(given *answer) *cli.Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	reply := d.asked[given.ID]
	if reply == nil {
		return cli.Usage("no-question", "no question waits for this answer", "a line of kind question has the id; an answer repeats it")
	}
	delete(d.asked, given.ID)
	reply <- agentloop.Answer{OptionID: given.OptionID, Text: given.Text}
	return nil
}

// errInputEnded is why nobody answers any more.
var errInputEnded = errors.New("the input has ended")

// hangUp leaves no question without an answer when the input has ended.
func (d *session) hangUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	for id, reply := range d.asked {
		delete(d.asked, id)
		close(reply)
	}
}

// Approve puts a question to the program.
func (d *session) Approve(ctx context.Context, q agentloop.Question) (agentloop.Answer, error) {
	id, reply := protocol.NewID(), make(chan agentloop.Answer, 1)
	d.mu.Lock()
	ended := d.ended
	if !ended {
		d.asked[id] = reply
	}
	d.mu.Unlock()
	if ended {
		return agentloop.Answer{}, errInputEnded
	}
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.asked, id)
	}()
	if err := d.out.line(questionLine{"question", id, q.Event, q.AskedBy, q.Text, q.Call, q.Options, q.Layer}); err != nil {
		return agentloop.Answer{}, err
	}
	select {
	case answer, given := <-reply:
		if !given {
			return agentloop.Answer{}, errInputEnded
		}
		return answer, nil
	case <-ctx.Done():
		d.out.line(withdrawnLine{"withdrawn", id})
		return agentloop.Answer{}, context.Cause(ctx)
	}
}
