package agentloop

import "context"

// queue puts questions to a person one after the other: sub-agents at work side
// by side share the person.
type queue struct {
	person Approver
	turn   chan struct{} // holds one while a question is put
}

// oneByOne is an approver that is asked one question at a time; nil stays nil.
func oneByOne(person Approver) Approver {
	if person == nil {
		return nil
	}
	return &queue{person, make(chan struct{}, 1)}
}

func (q *queue) Approve(ctx context.Context, question Question) (Answer, error) {
	select {
	case q.turn <- struct{}{}:
	case <-ctx.Done():
		return Answer{}, context.Cause(ctx)
	}
	defer func() { <-q.turn }()
	return q.person.Approve(ctx, question)
}
