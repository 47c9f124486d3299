package conversation

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// MendCalls makes the calls of an answer fit to follow the messages before it: each gets
// an id of its own in the conversation, by which its result is paired with it, and args
// that are a JSON object. It returns by id what is wrong with the calls that cannot run:
// hooks see the text, and may repair it. finish is the answer's finish reason: an answer
// that ended early may have lost the args of its last call, and an empty object is then
// not what the model asked for.
func MendCalls(earlier []protocol.Message, message *protocol.Message, finish string) map[string]error {
	bad := mendCalls(earlier, message)
	if finish != "length" && finish != "filtered" || len(message.Content) == 0 {
		return bad
	}
	last := message.Content[len(message.Content)-1]
	if last.Type == protocol.PartToolCall && isEmpty(last.Args) {
		bad[last.ToolCallID] = errors.New("the answer ended before the args of this call: call again, with all of its args")
	}
	return bad
}

func isEmpty(object protocol.RawMessage) bool {
	members, is := jsonspan.Object(object)
	return is && len(members) == 0
}

func mendCalls(earlier []protocol.Message, message *protocol.Message) map[string]error {
	taken := map[string]bool{}
	for _, m := range earlier {
		for _, call := range Calls(m) {
			taken[call.ToolCallID] = true
		}
	}
	bad := map[string]error{}
	next := map[string]int{} // of calls with one id
	for i := range message.Content {
		part := &message.Content[i]
		if part.Type != protocol.PartToolCall {
			continue
		}
		given := cmp.Or(part.ToolCallID, "call")
		id := given
		for n := max(2, next[given]); taken[id]; n++ {
			id, next[given] = fmt.Sprintf("%s-%d", given, n), n+1
		}
		part.ToolCallID = id
		taken[id] = true
		if err := mendArgs(part); err != nil {
			bad[id] = err
		}
	}
	return bad
}

func mendArgs(part *protocol.Part) (err error) {
	if len(part.Args) == 0 {
		part.Args = protocol.RawMessage("{}")
	}
	args := slices.Clone(part.Args)
	// Half a surrogate pair becomes U+FFFD; anything else must be right.
	if jsonspan.Valid(args) || (*jsontext.Value)(&args).Format(jsontext.AllowInvalidUTF8(true)) == nil {
		if jsonspan.Kind(args) == '{' {
			part.Args = args
			return nil
		}
	}
	err = fmt.Errorf("the args are not a JSON object: %.200s", part.Args)
	part.Args, _ = protocol.Marshal(map[string]string{"invalid": string(part.Args)}) // text always has a JSON form
	return err
}
