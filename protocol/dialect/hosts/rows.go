package hosts

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
)

// failsOpen gives rows what most agents have in common: they wait this long, unless a row
// says otherwise, and then go on.
func failsOpen(limit time.Duration, rows []dialect.Row) []dialect.Row {
	for i := range rows {
		if rows[i].Limit == 0 {
			rows[i].Limit = limit
		}
		rows[i].FailsOpen = true
	}
	return rows
}

// failsClosed is failsOpen for events that are refused when the agent's limit is over.
func failsClosed(limit time.Duration, rows []dialect.Row) []dialect.Row {
	rows = failsOpen(limit, rows)
	for i := range rows {
		rows[i].FailsOpen = false
	}
	return rows
}

var carried = dialect.Means{Way: dialect.Carried}

func translated(note string) dialect.Means { return dialect.Means{Way: dialect.Translated, Note: note} }

// Means that several agents have.
var (
	merged     = translated("changed args are merged into the old ones: none can be taken away")
	alsoAllows = translated("a change also allows the call")
	endsPrompt = translated("the prompt is refused")
	headless   = translated("without a person at the agent the call is refused")
	asText     = translated("the run goes on anyway, and the messages are text for the model")
	endsAnyway = translated("the run ends, as it would without hookd")
)

// writeExitCode answers an agent that takes no object.
func writeExitCode(c *dialect.Call, v *dialect.Verdict) dialect.Answer {
	if v.Refuse {
		return dialect.Answer{Exit: 2, Stderr: v.Reason}
	}
	a := dialect.Answer{}
	if v.Context != "" {
		a.Stdout = []byte(v.Context + "\n")
	}
	return a
}

// promptFrom is the input of a prompt that an agent has under another name.
func promptFrom(in *dialect.Input, row *dialect.Row, where string) *dialect.Input {
	if row.Event != protocol.PromptSubmit || in.At("prompt") != nil {
		return in
	}
	return in.With("prompt", in.At(where))
}
