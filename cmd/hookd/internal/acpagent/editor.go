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

// Read asks the client for a file. A client that cannot say, since the file is not in its
// workspace for example, leaves it to the disk.
func (e *editor) Read(ctx context.Context, path string) (text string, known bool) {
	if !e.reads {
		return "", false
	}
	result, err := e.agent.peer.Call(ctx, acp.ReadTextFile, acp.ReadFileParams{SessionID: e.session(), Path: path})
	if err != nil {
		return "", false
	}
	var file acp.ReadFileResult
	if peer.Decode(result, &file) != nil || file.Content == nil {
		return "", false
	}
	return *file.Content, true
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
