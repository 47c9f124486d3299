package acpagent

import (
	"context"
	"errors"

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
	result, err := e.agent.peer.Call(ctx, acp.ReadTextFile, acp.ReadFileParams{SessionID: e.session(), Path: path})
	if failure, is := errors.AsType[*rpc.Error](err); is {
		if failure.Code == acp.ResourceNotFound || failure.Code == rpc.MethodNotFound {
			return "", false, nil
		}
		return "", false, errors.New(failure.Message)
	}
	if err != nil {
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
	_, err = e.agent.peer.Call(ctx, acp.WriteTextFile, acp.WriteFileParams{SessionID: e.session(), Path: path, Content: text})
	if failure, is := errors.AsType[*rpc.Error](err); is {
		return false, errors.New(failure.Message)
	}
	return err == nil, err
}
