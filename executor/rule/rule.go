package rule

import (
	"context"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rule"
)

// New returns what answers for a rule.
func New(answer *rule.Answer) executor.Asker { return asker{answer} }

type asker struct{ answer *rule.Answer }

// Info says that nothing is started and nothing is waited for.
func (a asker) Info() executor.AskerInfo { return executor.AskerInfo{InProcess: true, Prompt: true} }

// Ask returns the rule's reply.
func (a asker) Ask(_ context.Context, q *executor.Question) protocol.Answer {
	reply := a.answer.At(q.Event, q.Hidden)
	if q.Undecided != nil {
		reply = a.answer.Undecided(q.Event, q.Hidden, q.Undecided)
	}
	if q.Transcript != nil {
		if written, err := protocol.Marshal(reply); err == nil {
			q.Transcript(nil, written)
		}
	}
	return protocol.Answer{ReadResult: protocol.ReadResult{Reply: &reply}}
}
