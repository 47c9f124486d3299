package acpagent

import (
	"context"
	"errors"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/peer"
)

// editor is the client's files, as far as it offers them. Commands are not run in the client's
// terminals: there they would not be contained, nor ended with all that they started.
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
