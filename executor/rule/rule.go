package rule

import (
	"context"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rule"
)

// New returns what answers for a rule.
func New(answer *rule.Answer) executor.Asker { return asker{answer} }

// Broken returns what stands for a rule that has no answer: it fails at every event, under
// the rule's own rule for failures.
func Broken(why string) executor.Asker { return broken(why) }

type broken string

// Info says that nothing is started and nothing is waited for.
func (broken) Info() executor.AskerInfo { return executor.AskerInfo{InProcess: true, Prompt: true} }

// Ask returns the failure.
func (b broken) Ask(context.Context, *executor.Question) protocol.Answer {
	failure := &protocol.Failure{Kind: protocol.FailSettings, Detail: string(b), Remedy: "correct its reply, as hookd check says"}
	return protocol.Answer{ReadResult: protocol.ReadResult{Failure: failure}}
}

type asker struct{ answer *rule.Answer }

// Info says that nothing is started and nothing is waited for, and whether the answer is
// always no.
func (a asker) Info() executor.AskerInfo {
	return executor.AskerInfo{InProcess: true, Prompt: true, Refuses: a.answer.Blocks()}
}

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
