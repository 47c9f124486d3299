package runview

import (
	"fmt"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// tally counts what happens in a run, or in a turn of a conversation.
type tally struct {
	began   time.Time
	steps   int
	calls   int
	refused int
	failed  string // message of agent-error
}

// inference counts a step. A further try of the same step is none.
func (t *tally) inference(y *agentloop.Update) {
	if d, read := data[protocol.InferenceStartData](y); !read || d.Attempt <= 1 {
		t.steps++
	}
}

// line returns what the run came to.
func (t *tally) line(result agentloop.Result) string {
	parts := []string{show.Plural(t.steps, "step"), show.Plural(t.calls, "tool call")}
	if t.refused > 0 {
		parts = append(parts, fmt.Sprintf("%d refused", t.refused))
	}
	if u := result.Usage; u.InputTokens != nil && u.OutputTokens != nil {
		parts = append(parts, fmt.Sprintf("%d tokens in, %d out", *u.InputTokens, *u.OutputTokens))
	}
	parts = append(parts, show.Milliseconds(float64(time.Since(t.began).Milliseconds())))
	if result.StopReason != "" && result.StopReason != "done" {
		parts = append(parts, "ended by: "+result.StopReason)
	}
	return strings.Join(parts, " · ")
}
