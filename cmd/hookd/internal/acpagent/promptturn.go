package acpagent

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/acpview"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/peer"
)

// turn is the work on one prompt, from the moment at which its line was read.
type turn struct {
	session *session
	request *peer.Request
	ctx     context.Context
	cancel  context.CancelCauseFunc

	settled <-chan struct{} // closed when the changes are made that came before the prompt
	ordered chan func()     // what is to be sent after all that was shown before it
	watched chan struct{}   // closed when nobody takes that any more
	over    chan struct{}   // closed when the request is answered
	running atomic.Bool     // what is shown belongs to it

	prompt   string // its first line
	accepted bool   // the prompt is a part of the conversation
	refusal
}

// refusal says which hook refused or stopped a run last, and why.
type refusal struct{ by, reason string }

// errCancelled is the cause of the end of a turn that the client cancelled.
var errCancelled = errors.New("cancelled by the client")

// prompt begins a turn. A session works on one prompt at a time.
func (a *Agent) prompt(r *peer.Request, params *acp.PromptParams) {
	s := a.sessions.find(params.SessionID)
	if s == nil {
		r.Fail(noSession(params.SessionID))
		return
	}
	t := &turn{session: s, request: r, ordered: make(chan func()), watched: make(chan struct{}), over: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancelCause(s.ctx)
	if failure := s.beginTurn(t); failure != nil {
		t.cancel(nil)
		r.Fail(failure)
		return
	}
	a.work.Go(func() {
		stop := context.AfterFunc(r.Context(), func() { t.cancel(context.Cause(r.Context())) })
		defer stop()
		result, failure := t.run(params.Prompt)
		s.endTurn(t, result, failure)
	})
}

// cancel ends the turn of a session, wherever it is. It is a notification; who asks it gets an
// answer all the same.
func (a *Agent) cancel(r *peer.Request, params *acp.CancelParams) {
	defer r.Answer(acp.Empty{})
	if s := a.sessions.find(params.SessionID); s != nil {
		if t := s.current(); t != nil {
			t.cancel(errCancelled)
		}
	}
}

// current returns the turn of a session, nil if there is none.
func (s *session) current() *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn
}

// goesOn reports whether a turn may still ask the model something.
func (t *turn) goesOn() bool {
	if t == nil {
		return false
	}
	select {
	case <-t.watched:
		return false
	default:
		return true
	}
}

func (t *turn) isRunning() bool { return t != nil && t.running.Load() }

func (s *session) beginTurn(t *turn) *rpc.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closing:
		return noSession(s.id)
	case s.turn != nil:
		return rpc.Errorf(rpc.InvalidRequest, "a prompt is being worked on in this session: wait for its end, or cancel it")
	}
	s.turn, t.settled = t, s.settled
	return nil
}

// endTurn answers the request of a turn. From then on the session takes the next one.
func (s *session) endTurn(t *turn, result *acp.PromptResult, failure *rpc.Error) {
	err := s.choices.useNext()
	s.mu.Lock()
	s.turn = nil
	if failure != nil {
		t.request.Fail(failure)
	} else {
		t.request.Answer(result)
	}
	s.mu.Unlock()
	if err != nil { // the model was announced
		s.tell(note{acpview.Warning, "the model is the one before: " + show.Line(err.Error())})
		s.show(s.ctx, s.choices.news())
	}
	t.cancel(nil)
	close(t.over)
}

// run works on a prompt.
func (t *turn) run(blocks []acp.ContentBlock) (*acp.PromptResult, *rpc.Error) {
	s := t.session
	defer close(t.watched)
	if !s.wait(t.ctx) && t.ctx.Err() == nil {
		return nil, s.unusable(t.ctx)
	}
	if !await(t.ctx, t.settled) || t.ctx.Err() != nil {
		return cancelled(), nil
	}
	prompt, failure := promptOf(blocks, s.c.Engine.Root)
	if failure != nil {
		return nil, failure
	}
	s.viewing.Lock()
	t.running.Store(true)
	s.tellNotes(t.ctx)
	s.viewing.Unlock()
	defer t.running.Store(false)
	t.prompt = titleOf(prompt.Text)
	begin, told, err := t.meant(&prompt)
	switch {
	case err != nil:
		return nil, failureOf(err)
	case begin == nil:
		s.show(t.ctx, &acp.Chunk{Kind: acp.AgentMessageChunk, Content: acp.Text(told), MessageID: protocol.NewID()})
		return &acp.PromptResult{StopReason: acp.EndTurn}, nil
	}
	run, err := begin(t.ctx)
	if err != nil {
		return nil, failureOf(err)
	}
	t.watch(run)
	err = run.Wait()
	s.viewing.Lock()
	s.show(t.ctx, s.view.End(t.ctx.Err() != nil)...)
	s.viewing.Unlock()
	if s.ctx.Err() == nil {
		s.c.Loop.Idle(context.WithoutCancel(t.ctx), run.Result())
	}
	return t.outcome(run.Result(), err)
}

// errNoTurn is why nobody can be asked, and nothing shown, outside of a turn.
var errNoTurn = errors.New("no turn runs in which the client could be asked")

// inOrder has the goroutine that sends what the turn shows send something else, after all that was
// shown before.
func (t *turn) inOrder(ctx context.Context, send func()) error {
	select {
	case t.ordered <- send:
		return nil
	case <-t.watched:
		return errNoTurn
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// watch shows what a run shows, and sends what has its place in it, in order: all that the run has
// shown before it asks is in its channel by then.
func (t *turn) watch(run *agentloop.Run) {
	updates := run.Events()
	for {
		select {
		case y, open := <-updates:
			if !open {
				return
			}
			t.shown(&y)
		case send := <-t.ordered:
			for before := true; before; {
				select {
				case y, open := <-updates:
					if before = open; open {
						t.shown(&y)
					}
				default:
					before = false
				}
			}
			send()
		}
	}
}

func (t *turn) shown(y *agentloop.Update) {
	s := t.session
	if y.Kind == agentloop.UpdateEvent {
		if o := &y.Outcome; o.Refused() && o.By != nil {
			t.by, t.reason = *o.By, o.Reason
		} else if y.Event.Event == protocol.PromptSubmit {
			t.accept()
		}
	}
	if y.Kind == agentloop.UpdateDropped && t.ctx.Err() != nil {
		return // who cancels knows that the answer is not whole
	}
	s.viewing.Lock()
	defer s.viewing.Unlock()
	s.show(t.ctx, s.view.Updates(y)...)
}

// accept notes that hooks let the prompt pass, and tells the client what the session is called
// after its first prompt.
func (t *turn) accept() {
	t.accepted = true
	if s := t.session; !s.titled && t.prompt != "" {
		s.titled = true
		s.show(t.ctx, &acp.SessionNews{Kind: acp.SessionChanged, Title: t.prompt, UpdatedAt: time.Now().UTC().Format(time.RFC3339)})
	}
}

func cancelled() *acp.PromptResult { return &acp.PromptResult{StopReason: acp.Cancelled} }

// outcome says how a turn ended. The protocol's refusal takes the prompt out of the
// conversation, so it is the answer only where that is so: where hooks refused the prompt itself.
// What they refuse later ends the turn, and _meta says so.
func (t *turn) outcome(result agentloop.Result, err error) (*acp.PromptResult, *rpc.Error) {
	refusal, isError := errors.AsType[*agentloop.Error](err)
	refused := isError && (refusal.Cause == "blocked" || refusal.Cause == "failure") || err == nil && result.StopReason == "hook"
	extras := acp.ResultExtras{StopReason: result.StopReason, Refused: refused}
	if u := &result.Usage; u.InputTokens != nil || u.OutputTokens != nil || u.CostUSD != nil {
		extras.Usage = u
	}
	switch {
	case t.ctx.Err() != nil:
		return cancelled(), nil
	case refused:
		extras.By, extras.Reason = t.by, t.reason
		if isError {
			extras.Reason = refusal.Message
			if refusal.By != "" {
				extras.By = refusal.By
			}
		}
	case isError:
		return nil, rpc.Errorf(rpc.InternalError, "%s", show.Visible(refusal.Message)).With("cause", refusal.Cause)
	case err != nil:
		return nil, failureOf(err)
	}
	ended := &acp.PromptResult{StopReason: acp.EndTurn, Meta: &acp.ResultMeta{Hookd: extras}}
	switch {
	case refused && !t.accepted:
		ended.StopReason = acp.Refusal
	case result.StopReason == "length", result.StopReason == "tokens":
		ended.StopReason = acp.MaxTokens
	case result.StopReason == "steps", result.StopReason == "time", result.StopReason == "budget":
		ended.StopReason = acp.MaxTurnRequests
	}
	return ended, nil
}

// unusable says why a session that is waited for cannot be used.
func (s *session) unusable(ctx context.Context) *rpc.Error {
	if ctx.Err() != nil {
		return rpc.Errorf(acp.RequestCancelled, "cancelled")
	}
	return failureOf(s.failure)
}

func (s *session) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// close ends a session, and the turn that runs in it. The channel is closed when nothing of it
// is left.
func (s *session) close(reason string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return s.gone
	}
	s.closing = true
	t := s.turn
	if t != nil {
		t.cancel(errCancelled)
	}
	select {
	case <-s.ready:
	default:
		s.cancel(errCancelled) // it is still being opened
	}
	s.agent.work.Go(func() {
		<-s.ready
		if s.failure != nil {
			return // who was to open it ends it
		}
		if t != nil {
			<-t.over
		}
		s.end(reason)
		s.agent.sessions.remove(s)
		close(s.gone)
	})
	return s.gone
}

// end fires session-end and ends all that the session holds.
func (s *session) end(reason string) {
	console := s.agent.options.Opener.Console
	if _, err := s.c.Loop.Close(context.WithoutCancel(s.ctx), reason); err != nil {
		console.Note("session "+s.id+": "+err.Error(), "")
	}
	if err := s.c.Session.Close(); err != nil {
		console.Note("session "+s.id+": "+err.Error(), "")
	}
	if err := s.closers.Close(console); err != nil {
		console.Note("session "+s.id+": "+err.Error(), "")
	}
	s.cancel(nil)
}
