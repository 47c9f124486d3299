package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

const (
	selfCritiqueName = "self-critique" // of the provider, its hook and its recipe

	// maxFeedback is how much of a judgement's feedback the model reads, in bytes.
	maxFeedback = 4 << 10
	// maxJudgement is how much of a judgement is looked through, in bytes.
	maxJudgement = 32 << 10
)

// SelfCritique has the recipe self-critique judge the answer when the model is done. An
// answer that is not approved forces the run on with the feedback, at most rounds times
// per user prompt (2 if rounds is 0; the caps on forced continuations hold as well).
// After the last round the answer stands without a further judgement.
//
// It is advice and not a guard: a judgement that is missing or cannot be read counts as
// approval, and the person is told. Answers in a recipe and of a sub-agent are
// not judged.
func SelfCritique(rounds int) provider.Provider {
	if rounds <= 0 {
		rounds = 2
	}
	// One hook for both events: the judgement is handed to the hook that asked.
	return provider.Provider{Name: selfCritiqueName, Hooks: []protocol.GoHook{{
		Name:        selfCritiqueName,
		Description: "has a final answer judged, and forces on one that is not approved",
		Events:      []protocol.EventName{protocol.StepStop, protocol.AgentStop},
		Match:       protocol.Match{Step: "final"},
		Func: func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			return critique(ev, rounds)
		},
	}}}
}

// critiqueState is what the hook remembers of the prompt at work, and what it is
// handed.
type critiqueState struct {
	Turn     int     `json:"turn"`
	Rounds   int     `json:"rounds"` // forced on so often since the prompt
	Callback *string `json:"callback,omitzero"`
}

func critique(ev *protocol.Event, rounds int) (protocol.Reply, error) {
	if ev.Recipe != nil || isNested(ev) {
		return protocol.Reply{}, nil
	}
	var state critiqueState
	if len(ev.State) > 0 && json.Unmarshal(ev.State, &state) != nil {
		state = critiqueState{} // not ours: of another version
	}
	judgement := state.Callback
	state.Callback = nil
	if state.Turn != ev.Turn {
		state.Turn, state.Rounds = ev.Turn, 0
	}
	switch {
	case ev.Event == protocol.StepStop && state.Rounds < rounds:
		// A judgement that is handed over here is of an earlier answer.
		return protocol.Reply{Action: protocol.Callback,
			Callback: &protocol.CallbackCall{Name: selfCritiqueName, As: protocol.AsState}}, nil
	case ev.Event == protocol.AgentStop && judgement != nil:
		return obey(*judgement, state)
	}
	return protocol.Reply{}, nil
}

// obey does what a judgement says.
func obey(text string, state critiqueState) (protocol.Reply, error) {
	verdict, ok := readVerdict(text)
	switch {
	case !ok:
		return protocol.Reply{Notice: "the answer stands: the judgement on it could not be read"}, nil
	case verdict.Approved:
		return protocol.Reply{}, nil
	}
	state.Rounds++
	encoded, err := protocol.Marshal(state)
	if err != nil {
		return protocol.Reply{}, err
	}
	return protocol.Reply{
		Action: protocol.Continue, State: encoded,
		Reason: "A review of your answer did not approve it. Correct the answer, then give it again as a whole. " + verdict.Feedback,
		Notice: fmt.Sprintf("not approved (round %d): %s", state.Rounds, verdict.Feedback),
	}, nil
}

// verdict is a judgement that was read.
type verdict struct {
	Approved bool
	Feedback string
}

// readVerdict reads a judgement. A model is asked for one JSON object, and writes
// it in a fence, or with words around it: of the objects in the text, the last
// one counts that has the member approved as true or false, also as text. Its
// member feedback is a text or a list of texts. Names may be in capital letters.
// Only the last 32 KiB are looked at. ok is false where no object is a verdict.
func readVerdict(text string) (v verdict, ok bool) {
	text = text[max(0, len(text)-maxJudgement):]
	for at := strings.IndexByte(text, '{'); at >= 0; {
		decoder := jsontext.NewDecoder(strings.NewReader(text[at:]), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		step := 1
		if value, err := decoder.ReadValue(); err == nil {
			step = int(decoder.InputOffset())
			if read, is := verdictOf(protocol.RawMessage(value)); is {
				v, ok = read, true
			}
		}
		next := strings.IndexByte(text[at+step:], '{')
		if next < 0 {
			break
		}
		at += step + next
	}
	return v, ok
}

func verdictOf(value protocol.RawMessage) (v verdict, ok bool) {
	var members map[string]any
	if json.Unmarshal(value, &members, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return v, false
	}
	for name, member := range members {
		switch strings.ToLower(name) {
		case "approved":
			switch m := member.(type) {
			case bool:
				v.Approved, ok = m, true
			case string:
				m = strings.ToLower(strings.TrimSpace(m))
				v.Approved, ok = m == "true", m == "true" || m == "false"
			}
		case "feedback":
			v.Feedback = feedback(member)
		}
	}
	if v.Feedback == "" {
		v.Feedback = "No reason was given."
	}
	return v, ok
}

func feedback(member any) string {
	var texts []string
	switch m := member.(type) {
	case string:
		texts = []string{strings.TrimSpace(m)}
	case []any:
		for _, item := range m {
			if text, is := item.(string); is {
				texts = append(texts, strings.TrimSpace(text))
			}
		}
	}
	text := strings.Join(texts, "\n")
	if len(text) > maxFeedback {
		text = strings.ToValidUTF8(text[:maxFeedback], "") + " …"
	}
	return text
}
