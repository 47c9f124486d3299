package cassette

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// version is the format that this code writes and reads.
const version = 1

type head struct {
	Cassette int    `json:"cassette"`
	Model    string `json:"model"`
}

// call is one line.
type call struct {
	N       int                 `json:"n"` // from 1, in the order of the beginnings
	Hash    string              `json:"hash"`
	Began   float64             `json:"beganMs"` // since the recording began
	Ended   float64             `json:"endedMs"`
	Model   string              `json:"model,omitzero"` // that answered, if it is not that of the beginning
	Request protocol.RawMessage `json:"request"`
	Chunks  []chunk             `json:"chunks"`
	Error   *failure            `json:"error,omitzero"`
	Cut     bool                `json:"cut,omitzero"` // nobody read on, or the run was aborted
}

type chunk struct {
	At     float64             `json:"ms"` // since the call began
	Type   model.ChunkType     `json:"type"`
	Text   string              `json:"text,omitzero"`
	Part   *protocol.Part      `json:"part,omitzero"`
	Args   *string             `json:"invalidArgs,omitzero"` // args of Part that are no JSON
	Usage  *protocol.CallUsage `json:"usage,omitzero"`
	Reason string              `json:"reason,omitzero"`
}

type failure struct {
	Text         string  `json:"text"`
	Model        bool    `json:"model"` // a *model.Error, which the members below belong to
	Status       int     `json:"status,omitzero"`
	Retryable    bool    `json:"retryable,omitzero"`
	RetryAfterMs float64 `json:"retryAfterMs,omitzero"`
	ContextFull  bool    `json:"contextFull,omitzero"`
}

// request is a request as a cassette shows it. Ids of messages differ from run
// to run and say nothing to a model.
type request struct {
	Model    string             `json:"model"`
	System   string             `json:"system"`
	Messages []protocol.Message `json:"messages"`
	Tools    []protocol.Tool    `json:"tools"`
	Params   protocol.Params    `json:"params"`
	Attempt  int                `json:"attempt"`
}

// encode returns a request as it is kept and compared, and its hash.
func encode(r model.Request) (protocol.RawMessage, string, error) {
	shown := request{Model: r.Model, System: r.System, Tools: r.Tools, Params: r.Params, Attempt: r.Attempt, Messages: []protocol.Message{}}
	for _, m := range r.Messages {
		m.ID = ""
		shown.Messages = append(shown.Messages, m)
	}
	text, err := protocol.Marshal(shown)
	if err != nil {
		return nil, "", fmt.Errorf("cassette: request: %w", err)
	}
	// Blanks and the order of members are not what a model reads.
	canonical := protocol.RawMessage(bytes.Clone(text))
	if err := (*jsontext.Value)(&canonical).Canonicalize(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
		canonical = text
	}
	sum := sha256.Sum256(canonical)
	return text, "sha256:" + hex.EncodeToString(sum[:]), nil
}

func keep(c model.Chunk, at time.Duration) chunk {
	kept := chunk{At: protocol.Milliseconds(at), Type: c.Type, Text: c.Text, Usage: c.Usage, Reason: c.Reason}
	if c.Type == model.PartDone {
		part := c.Part
		if len(part.Args) > 0 && !jsonspan.Valid(part.Args) {
			args := string(part.Args)
			kept.Args, part.Args = &args, nil
		}
		kept.Part = &part
	}
	return kept
}

func (c *chunk) play() model.Chunk {
	played := model.Chunk{Type: c.Type, Text: c.Text, Usage: c.Usage, Reason: c.Reason}
	if c.Part != nil {
		played.Part = *c.Part
	}
	if c.Args != nil {
		played.Part.Args = protocol.RawMessage(*c.Args)
	}
	return played
}

// parse reads a whole cassette. Its last line may be torn: torn says so.
func parse(name string, data []byte) (h head, calls []call, torn bool, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for n, line := range bytes.SplitAfter(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		into := any(&h)
		if n > 0 {
			calls = append(calls, call{})
			into = &calls[len(calls)-1]
		}
		err := json.Unmarshal(bytes.TrimSpace(line), into, jsontext.AllowInvalidUTF8(true))
		whole := bytes.HasSuffix(line, []byte("\n"))
		switch {
		case err != nil && n > 0 && !whole:
			return h, calls[:len(calls)-1], true, nil
		case err != nil:
			return h, nil, false, fmt.Errorf("cassette %s: line %d cannot be read: %w", name, n+1, protocol.PlainError(err))
		case n == 0 && h.Cassette != version:
			return h, nil, false, fmt.Errorf("cassette %s: line 1 does not say {\"cassette\":%d,…}: this is no cassette, or one of another version", name, version)
		}
	}
	if h.Cassette == 0 {
		return h, nil, false, fmt.Errorf("cassette %s: the file is empty", name)
	}
	return h, calls, false, nil
}
