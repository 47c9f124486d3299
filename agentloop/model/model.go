package model

import (
	"context"
	"iter"

	"github.com/hookd-dev/hookd/protocol"
)

// Model answers requests. A Model serves one request at a time for one run;
// several runs may share it.
type Model interface {
	// Name identifies the model, as events and records show it.
	Name() string

	// Generate streams the answer to a request. It ends after the chunk with the finish
	// reason, or with an error as its last pair. It ends soon after ctx is done and leaves
	// nothing running.
	Generate(ctx context.Context, request Request) iter.Seq2[Chunk, error]
}

// Request is one model call.
type Request struct {
	Model    string // the name of the model
	System   string
	Messages []protocol.Message
	Tools    []protocol.Tool
	Params   protocol.Params
	Attempt  int // 1 = first try

	// Prefixes say with how many of Messages the next call is likely to begin. What comes
	// after is for this call only. A model that caches the beginning of a conversation
	// marks these places. Empty: all of Messages.
	Prefixes []int
}

// ChunkType says which members of a [Chunk] are set.
type ChunkType string

const (
	Text     ChunkType = "text"     // Text: the next piece of the answer
	Thinking ChunkType = "thinking" // Text: the next piece of the reasoning
	PartDone ChunkType = "part"     // Part: a complete tool call, image or opaque part
	Usage    ChunkType = "usage"    // Usage: of this call; a later one replaces it
	Finish   ChunkType = "finish"   // Reason: the last chunk
)

// Chunk is one piece of a streamed answer.
type Chunk struct {
	Type   ChunkType
	Text   string
	Part   protocol.Part
	Usage  *protocol.CallUsage
	Reason string // stop tools length filtered error
}

// WithOrigin returns a model that knows where it comes from: what a person wrote to choose
// it, such as scripted:turns.yaml or anthropic:NAME. Its name stays.
func WithOrigin(m Model, origin string) Model { return withOrigin{m, origin} }

type withOrigin struct {
	Model
	origin string
}

// Origin returns what [WithOrigin] was given, else the model's name. It is for people, who
// tell two scripts apart by their files; events say the name.
func Origin(m Model) string {
	if known, is := m.(withOrigin); is {
		return known.origin
	}
	return m.Name()
}
