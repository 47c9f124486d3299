package dialect

import (
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// Input is the object that an agent sent.
type Input struct {
	object.Reader
	// Tool is the called tool by a name that the vocabulary has, where the member tool_name
	// is another.
	Tool string
	// NoArgs says that the agent leaves tool_input out where a call has no args.
	NoArgs bool
}

// With returns the input with another value of a member, or the same input if value is nil.
func (in *Input) With(name string, value protocol.RawMessage) *Input {
	if value == nil {
		return in
	}
	other := *in
	other.JSON = object.Set(in.JSON, name, value)
	return &other
}

// Reading is what an agent's file reads of an input besides what all agents send alike.
type Reading struct {
	In   *Input // with the common names of members, where the agent has others
	Data any    // one of the Data types of package protocol
	Call TheirCall
}

// TheirCall is a call as its agent wrote it.
type TheirCall struct {
	tool string
	args protocol.RawMessage
	// Wrapped are the args of the tool that calls this one, whose member arguments has args.
	Wrapped protocol.RawMessage
}

// workspaceFolders are the folders that an input says are open in the agent.
func workspaceFolders(in *Input) (folders []string) {
	for _, name := range []string{"workspace_roots", "workspaceRoots"} {
		for _, folder := range jsonspan.Elements(in.At(name)) {
			if jsonspan.Kind(folder) == '"' {
				folders = append(folders, jsonspan.Text(folder))
			}
		}
	}
	return folders
}
