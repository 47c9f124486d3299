package acpagent

import (
	"context"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc/peer"
)

// asking is a question on its way to the client: it is sent by the goroutine that sends what the
// turn shows, after all that was shown before it.
type asking struct {
	question *agentloop.Question
	sent     chan sentQuestion // holds one
}

type sentQuestion struct {
	call *peer.Pending
	id   string // of the call in the client's eyes
	err  error
}

// Approve puts a question of hooks, or of the loop itself, to the client's person. Only the id of
// an option that was offered is an answer: cancelled, an error and all else are a no.
func (s *session) Approve(ctx context.Context, q agentloop.Question) (agentloop.Answer, error) {
	t := s.current()
	if t == nil {
		return agentloop.Answer{}, errNoTurn
	}
	asked := asking{&q, make(chan sentQuestion, 1)}
	if err := t.inOrder(ctx, func() { t.send(t.ctx, asked) }); err != nil {
		return agentloop.Answer{}, err
	}
	sent := <-asked.sent
	if sent.err != nil {
		return agentloop.Answer{}, sent.err
	}
	text, err := sent.call.Wait(ctx)
	if err != nil {
		return agentloop.Answer{}, err
	}
	var result acp.PermissionResult
	if failure := peer.Decode(text, &result); failure != nil {
		return agentloop.Answer{}, failure
	}
	answer := agentloop.Answer{}
	if result.Outcome.Outcome == "selected" {
		answer.OptionID = result.Outcome.OptionID
	}
	if q.Call == nil {
		s.endQuestion(sent.id, &q, answer)
	}
	return answer, nil
}

// send sends a question.
func (t *turn) send(ctx context.Context, asked asking) {
	s := t.session
	id := "question-" + protocol.NewID()
	params := s.view.Question(asked.question, id)
	params.SessionID = s.id
	call, err := s.agent.peer.Begin(ctx, acp.SessionRequestPermission, params)
	asked.sent <- sentQuestion{call, params.ToolCall.ToolCallID, err}
}

// endQuestion ends what stands for a question that is about no tool call.
func (s *session) endQuestion(id string, q *agentloop.Question, answer agentloop.Answer) {
	status := acp.ToolFailed
	if slices.ContainsFunc(q.Options, func(o protocol.PermissionOption) bool {
		return o.OptionID == answer.OptionID && strings.HasPrefix(o.Kind, "allow-")
	}) {
		status = acp.ToolCompleted
	}
	s.agent.update(s.ctx, s.id, &acp.ToolCall{UpdateKind: acp.ToolCallChanged, ToolCallID: id, Status: status})
}
