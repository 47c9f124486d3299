package acpagent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/daemon"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/readreply"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/peer"
)

// clientHooks are the hooks that the client answers itself. A session has those that were
// registered before it was opened.
type clientHooks struct {
	mu   sync.Mutex
	list []protocol.GoHook

	observing chan struct{} // holds one for each call of an observer that has no answer
}

// How much a client may have hookd keep for it: so many hooks, and of the calls of observers, which
// nobody waits for, so many without an answer. Then the others wait, as long as each may take.
const (
	mostHooks     = 200
	mostObserving = 8
)

// How long the words of a client's hook may be, in bytes: its name stands in each record and message
// about it.
const (
	longestName        = 100
	longestDescription = 4 << 10
)

// clientPrefix stands before the names of the client's hooks, so that none of them is taken for
// a hook of the user.
const clientPrefix = "client/"

func (h *clientHooks) all() []protocol.GoHook {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.list)
}

// registerHooks takes all hooks of a call, or none of them. One of a name that is registered
// already takes its place.
func (a *Agent) registerHooks(r *peer.Request, params *acp.RegisterParams) {
	a.hooks.mu.Lock()
	defer a.hooks.mu.Unlock()
	list := slices.Clone(a.hooks.list)
	result := acp.RegisterResult{Registered: []string{}}
	for i := range params.Hooks {
		hook, err := a.clientHook(&params.Hooks[i])
		if err == nil {
			_, err = executor.StaticSet(hook)
		}
		if err != nil {
			r.Fail(rpc.Errorf(rpc.InvalidParams, "hook %d: %v", i+1, err).With("path", fmt.Sprintf("/hooks/%d", i)))
			return
		}
		if slices.Contains(result.Registered, hook.Name) {
			r.Fail(rpc.Errorf(rpc.InvalidParams, "hook %d: %q is there twice", i+1, params.Hooks[i].Name).With("path", fmt.Sprintf("/hooks/%d", i)))
			return
		}
		list = slices.DeleteFunc(list, func(other protocol.GoHook) bool { return other.Name == hook.Name })
		if list = append(list, hook); len(list) > mostHooks {
			r.Fail(rpc.Errorf(rpc.InvalidParams, "hook %d is one too many: a client has at most %d", i+1, mostHooks).With("path", fmt.Sprintf("/hooks/%d", i)))
			return
		}
		result.Registered = append(result.Registered, hook.Name)
	}
	a.hooks.list = list
	r.Answer(result)
}

// clientHook returns a registered hook. It is the user's: the client is a program of theirs.
func (a *Agent) clientHook(given *acp.ClientHook) (protocol.GoHook, error) {
	hook := protocol.GoHook{
		Name: clientPrefix + given.Name, Description: given.Description, Layer: protocol.User,
		Events: given.Events, Match: given.Match, Can: given.Can, OnFailure: given.OnFailure,
		Timeout: time.Duration(given.TimeoutMs) * time.Millisecond,
	}
	if hook.Can == "" {
		hook.Can = protocol.CanObserve
	}
	switch {
	case strings.TrimSpace(given.Name) == "":
		return hook, errors.New("it has no name")
	case len(given.Name) > longestName || show.Line(given.Name) != given.Name:
		return hook, fmt.Errorf("its name is %.40q; a name is at most %d bytes on one line, without characters that cannot be seen", given.Name, longestName)
	case len(given.Description) > longestDescription:
		return hook, fmt.Errorf("its description has %d bytes; it has at most %d", len(given.Description), longestDescription)
	case !slices.Contains([]protocol.Class{protocol.CanModify, protocol.CanBlock, protocol.CanObserve}, hook.Can):
		return hook, fmt.Errorf("can is %.40q; it is modify, block or observe", hook.Can)
	case !slices.Contains([]protocol.Rule{"", protocol.RuleContinue, protocol.RuleBlock, protocol.RuleStop}, hook.OnFailure):
		return hook, fmt.Errorf("onFailure is %.40q; it is continue, block or stop", hook.OnFailure)
	case given.TimeoutMs < 0 || given.TimeoutMs > int64(maxTimeout/time.Millisecond):
		return hook, fmt.Errorf("timeoutMs is %d; it is at most %d", given.TimeoutMs, maxTimeout/time.Millisecond)
	}
	info := executor.HookOf(hook).HookInfo()
	name, observes := given.Name, hook.Can == protocol.CanObserve
	hook.Func = func(ctx context.Context, ev *protocol.Event) (protocol.Reply, error) {
		if observes {
			select {
			case a.hooks.observing <- struct{}{}:
				defer func() { <-a.hooks.observing }()
			case <-ctx.Done():
				return protocol.Reply{}, context.Cause(ctx)
			}
		}
		return a.askClient(ctx, name, info, ev)
	}
	return hook, nil
}

// maxTimeout is the longest that a client's hook may take.
const maxTimeout = time.Hour

// askClient asks one of the client's hooks. What it answers is read as the output of a program
// is; no answer, and an error, is a failure of the hook.
func (a *Agent) askClient(ctx context.Context, name string, info protocol.HookInfo, ev *protocol.Event) (protocol.Reply, error) {
	event, err := protocol.AppendEvent(nil, ev)
	if err != nil {
		return protocol.Reply{}, err
	}
	result, err := a.peer.Call(ctx, acp.HooksCall, acp.CallParams{Hook: name, Event: event[:len(event)-1]})
	failure, refused := errors.AsType[*rpc.Error](err)
	switch {
	case refused:
		return protocol.Reply{}, &protocol.Failure{Kind: protocol.FailExit, Detail: "the client answered with an error: " + failure.Message}
	case ctx.Err() != nil:
		return protocol.Reply{}, context.Cause(ctx)
	case err != nil:
		return protocol.Reply{}, &protocol.Failure{Kind: protocol.FailLost, Detail: "the client has gone"}
	}
	exit := 0
	read := readreply.Read(protocol.Lookup(ev.Event), info, result, nil, readreply.ProcessEnd{Exit: &exit, Output: "the client's answer"}, ev.ID, readreply.Limits{})
	if read.Failure != nil {
		return protocol.Reply{}, read.Failure
	}
	return *read.Reply, nil
}

// hooksResult is the result of _hookd/hooks/list.
type hooksResult struct {
	daemon.Listing
	Client []acp.ClientHook `json:"client"` // those that this connection answers
}

// listHooks lists the hooks of a session.
func (a *Agent) listHooks(r *peer.Request, params *acp.SessionParams) {
	s := a.sessions.find(params.SessionID)
	if s == nil {
		r.Fail(noSession(params.SessionID))
		return
	}
	a.work.Go(func() {
		if !s.wait(r.Context()) {
			r.Fail(s.unusable(r.Context()))
			return
		}
		result := hooksResult{Client: []acp.ClientHook{}}
		if w := s.c.Engine.Watcher(); w != nil {
			result.Listing = engine.Describe(w.Snapshot())
		}
		for i := range s.clientHooks {
			h := &s.clientHooks[i]
			result.Client = append(result.Client, acp.ClientHook{
				Name: strings.TrimPrefix(h.Name, clientPrefix), Description: h.Description, Events: h.Events, Match: h.Match,
				Can: h.Can, TimeoutMs: h.Timeout.Milliseconds(), OnFailure: h.OnFailure,
			})
		}
		r.Answer(result)
	})
}
