package builtin

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// ApprovalHook is the name of the hook of [Approval]. It runs in the layer of the one for whom
// it speaks, and is no hook that anybody wrote.
const ApprovalHook = "approval"

// ApprovalMode says who answers when a hook asks about a tool call.
type ApprovalMode struct {
	// Mode is ask (the person, default), deny (always no) or allow (always yes).
	// No mode makes a question where no hook asked.
	Mode string

	// Layer is the highest one that set the mode. An allow grants what hooks of
	// this layer and below ask; what a hook above it asks only a person grants.
	Layer protocol.Layer
}

// Approval answers hooks that ask about a tool call if no person is needed for it: by
// the mode, and by what a person answered with "always" before.
//
// Such an answer holds for the session, also after it was resumed, and for exactly that
// question: the same hook of the same layer about the same tool, and for a shell the
// same command. The loop calls [provider.Provider]'s Answered when the person chose;
// the answer is remembered, and goes into the hook's state at the next
// permission-request or at the end of the step. A managed hook's question is meant for
// a person each time: the answer is never remembered.
func Approval(mode ApprovalMode) provider.Provider {
	memory := &approvals{mode: mode, sessions: map[string]*answers{}}
	return provider.Provider{Name: ApprovalHook, OnAnswer: memory.answered, Hooks: []protocol.GoHook{{
		Name:        ApprovalHook,
		Description: "answers hooks that ask about a tool call, by agent.approval.mode and what the person said with always",
		// It speaks for the one who set the mode, and for the person, whose word
		// counts as far as the user's settings do.
		Layer:  mode.layer(),
		Events: []protocol.EventName{protocol.PermissionRequest, protocol.StepStop, protocol.AgentEnd},
		Can:    protocol.CanBlock,
		Func:   memory.onEvent,
	}}}
}

func (m ApprovalMode) layer() protocol.Layer {
	if m.Mode == "allow" && m.Layer == protocol.Managed {
		return protocol.Managed
	}
	return protocol.User
}

// approvals remembers what persons answered.
type approvals struct {
	mode ApprovalMode

	mu       sync.Mutex
	sessions map[string]*answers
}

// answers are those of a session, the newest last.
type answers struct {
	List  []remembered `json:"answers"`
	read  bool         // the hook's state was looked at
	dirty bool         // something is not in the hook's state yet
}

// remembered is an answer with "always".
type remembered struct {
	question
	Allow bool `json:"allow"`
}

// loopAsks is the name of the asker at a permission-request if no hook asks.
const loopAsks = "policy"

// question is what an answer is remembered for.
type question struct {
	AskedBy string         `json:"askedBy"` // as at permission-request
	Layer   protocol.Layer `json:"layer"`   // of the hook that asks: a project's hook is not the user's of that name
	Tool    string         `json:"tool"`
	Command string         `json:"command,omitzero"` // of a shell
}

// Bounds of what is remembered: a hook's state may have 64 KiB.
const (
	maxAnswers        = 500
	maxAnswer         = 4 << 10 // bytes
	maxAnswersBytes   = 48 << 10
	answerFrameBytes  = 64 // of the JSON around an answer's texts
	alwaysRejected    = "denied by the person for this session"
	deniedByTheirMode = "denied: agent.approval.mode is deny in the %s settings"
)

func questionOf(request *protocol.PermissionRequestData) question {
	q := question{AskedBy: request.AskedBy, Layer: request.AskedByLayer, Tool: request.Name}
	if request.Kind == protocol.KindShell {
		var args struct {
			Command string         `json:"command"`
			Timeout any            `json:"timeout"`
			Others  map[string]any `json:",embed"`
		}
		if json.Unmarshal(request.Args, &args) != nil || args.Command == "" || len(args.Others) > 0 { // where it runs is part of it
			args.Command = string(request.Args)
		}
		q.Command = args.Command
	}
	return q
}

func (q *question) size() int { return len(q.AskedBy) + len(q.Layer) + len(q.Tool) + len(q.Command) }

// answered is called when a person chose an option.
func (a *approvals) answered(session string, request protocol.PermissionRequestData, option protocol.PermissionOption) {
	allow := option.Kind == "allow-always"
	q := questionOf(&request)
	if !allow && option.Kind != "reject-always" || q.size() > maxAnswer {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.session(session)
	s.remember(remembered{q, allow})
	s.dirty = true
}

func (a *approvals) session(id string) *answers {
	if a.sessions[id] == nil {
		a.sessions[id] = &answers{}
	}
	return a.sessions[id]
}

// remember makes an answer the newest one of its question.
func (s *answers) remember(answer remembered) {
	kept := make([]remembered, 0, len(s.List)+1)
	for _, old := range s.List {
		if old.question != answer.question {
			kept = append(kept, old)
		}
	}
	kept = append(kept, answer)
	size := 0
	for i := len(kept) - 1; i >= 0; i-- {
		size += kept[i].size() + answerFrameBytes
		if size > maxAnswersBytes || len(kept)-i > maxAnswers {
			kept = kept[i+1:]
			break
		}
	}
	s.List = kept
}

// onEvent is the hook. Its state follows what is remembered, which is ahead of it while
// calls run side by side.
func (a *approvals) onEvent(_ context.Context, ev *protocol.Event) (reply protocol.Reply, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.session(ev.Session.ID)
	s.resume(ev.State)
	if ev.Event == protocol.PermissionRequest {
		var data protocol.PermissionRequestData
		if err := json.Unmarshal(ev.Data, &data); err != nil {
			return reply, err
		}
		reply = a.answer(s, &data)
	}
	if s.dirty {
		s.dirty = false
		reply.State, err = protocol.Marshal(s)
	}
	return reply, err
}

// resume adds what the hook's state kept from an earlier run of the program. What was
// answered since then is newer.
func (s *answers) resume(state protocol.RawMessage) {
	if s.read {
		return
	}
	s.read = true
	var kept answers
	if len(state) == 0 || json.Unmarshal(state, &kept) != nil {
		return // a state that is none of ours grants nothing
	}
	newer := s.List
	s.List = kept.List
	for _, answer := range newer {
		s.remember(answer)
	}
}

func (a *approvals) answer(s *answers, request *protocol.PermissionRequestData) protocol.Reply {
	always := &protocol.Answered{By: protocol.ByAlways}
	byMode := &protocol.Answered{By: protocol.BySetting, Name: "agent.approval.mode"}
	if a.mode.Mode == "deny" {
		reason := fmt.Sprintf(deniedByTheirMode, strings.TrimSpace(string(a.mode.Layer)))
		return protocol.Reply{Action: protocol.Block, Reason: reason, Answered: byMode}
	}
	q := questionOf(request)
	for _, known := range s.List {
		switch {
		case known.question != q:
		case known.Allow:
			return protocol.Reply{Action: protocol.Allow, Answered: always}
		default:
			return protocol.Reply{Action: protocol.Block, Reason: alwaysRejected, Answered: always}
		}
	}
	if a.mode.Mode == "allow" && request.AskedBy != loopAsks { // what the loop asks is answered by its own list
		return protocol.Reply{Action: protocol.Allow, Answered: byMode}
	}
	return protocol.Reply{Action: protocol.Observe}
}
