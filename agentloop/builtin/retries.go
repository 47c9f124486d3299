package builtin

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// Retries lets a model call that failed be tried n times more: n+1 tries in
// all, counted for each call anew. The run then ends with the model's error.
// Which failures are worth another try, and how long it waits, is the loop's
// matter.
func Retries(n int) provider.Provider {
	return provider.Provider{Name: "retries", Hooks: []protocol.GoHook{{
		Name:        "retries",
		Description: fmt.Sprintf("tries a failed model call %d times more", n),
		Events:      []protocol.EventName{protocol.InferenceStart},
		OnFailure:   protocol.RuleBlock,
		Func: func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			attempt, err := attemptOf(ev.Data)
			if err != nil || attempt <= n+1 {
				return protocol.Reply{}, err
			}
			return protocol.Reply{Action: protocol.Block, Reason: fmt.Sprintf("the model call failed %d times", attempt-1)}, nil
		},
	}}}
}

// lastAttempt is how the data of inference-start ends where attempt is its last
// member, as the loop writes it. The brace behind the number closes the data, so
// nothing else can look like that.
var lastAttempt = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[,{]"attempt":([0-9]{1,9})\}$`) })

// attemptOf is which try of a model call begins. It is asked for at each call,
// whose data holds the whole conversation: most often only the end is read.
func attemptOf(data []byte) (int, error) {
	const longest = len(`,"attempt":123456789}`)
	if found := lastAttempt().FindSubmatch(data[max(0, len(data)-longest):]); found != nil {
		return strconv.Atoi(string(found[1]))
	}
	var whole struct {
		Attempt int `json:"attempt"`
	}
	err := json.Unmarshal(data, &whole)
	return whole.Attempt, err
}
