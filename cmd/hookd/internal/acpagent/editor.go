package acpagent

import (
	"context"
	"errors"

	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/acpterminal"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/acpview"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/peer"
)

// editor is the client's files, as far as it offers them.
type editor struct {
	agent   *Agent
	session func() string
	reads   bool
	writes  bool
}

// Read asks the client for a file. One that it does not have is left to the disk; any other error
// is a no.
func (e *editor) Read(ctx context.Context, path string) (text string, known bool, err error) {
	if !e.reads {
		return "", false, nil
	}
	result, known, err := e.call(ctx, acp.ReadTextFile, acp.ReadFileParams{SessionID: e.session(), Path: path})
	if err != nil || !known {
		return "", false, err
	}
	var file acp.ReadFileResult
	if failure := peer.Decode(result, &file); failure != nil {
		return "", false, failure
	}
	if file.Content == nil {
		return "", false, errors.New("its answer holds no content")
	}
	return *file.Content, true, nil
}

// Write has the client write a file.
func (e *editor) Write(ctx context.Context, path, text string) (written bool, err error) {
	if !e.writes {
		return false, nil
	}
	_, written, err = e.call(ctx, acp.WriteTextFile, acp.WriteFileParams{SessionID: e.session(), Path: path, Content: text})
	return written, err
}

// call calls the client. known is false if it says that it has no such file, which may lie outside
// of its workspace, or no such method.
func (e *editor) call(ctx context.Context, method string, params any) (result protocol.RawMessage, known bool, err error) {
	result, err = e.agent.peer.Call(ctx, method, params)
	if failure, is := errors.AsType[*rpc.Error](err); is {
		if failure.Code == acp.ResourceNotFound || failure.Code == rpc.MethodNotFound {
			return nil, false, nil
		}
		return nil, false, errors.New(failure.Message)
	}
	return result, err == nil, err
}

// inTerminals returns what has another runner's commands shown in terminals of the client's, nil if
// the client has none or none is wanted.
func inTerminals(s *session) func(tool.Runner) tool.Runner {
	a := s.agent
	if !a.options.Terminals || !a.client.Load().ClientCapabilities.Terminal || !acpterminal.Works() {
		return nil
	}
	options := acpterminal.Options{
		Peer: a.peer, Life: a.ctx, Go: a.work.Go,
		Session: func() string { return s.id },
		Embed: func(ctx context.Context, agent, call, terminal string) {
			if t := s.current(); t != nil {
				t.embed(ctx, agent, call, terminal)
			}
		},
		Note: func(text string) { s.tell(note{acpview.Warning, show.Line(text)}) },
	}
	return func(local tool.Runner) tool.Runner { return acpterminal.New(local, options) }
}

// embed puts a terminal into the call that it belongs to.
func (t *turn) embed(ctx context.Context, agent, call, terminal string) {
	s := t.session
	_ = t.inOrder(ctx, func() { // who ends the turn needs no terminal
		s.viewing.Lock()
		defer s.viewing.Unlock()
		s.show(t.ctx, s.view.Terminal(agent, call, terminal)...)
	})
}
