package readreply

import (
	"bytes"
	stdjson "encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/prove"
)

// answersToWreck are good answers of every action.
var answersToWreck = []string{
	okBlock, okStop, okObserve, okModify, `{"action":"allow"}`, `{"action":"ask","reason":"sure?"}`, `{}`, `{"notice":"n"}`,
	`{"action":"continue","messages":[{"role":"user","content":"x"}]}`, `{"action":"callback","callback":{"name":"c","args":{}}}`,
	`{"action":"modify","patch":[{"op":"replace","path":"/args/command","value":"x"}]}`,
	`{"action":"modify","result":{"content":"x","isError":false}}`, "hello\n" + okObserve, "{\n  \"action\": \"observe\"\n}\n",
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// wreck spoils an answer as crashes, pipes, printers and editors do.
func wreck(r *rand.Rand, answer []byte) []byte {
	out := slices.Clone(answer)
	for range 1 + r.IntN(3) {
		at := 0
		if len(out) > 0 {
			at = r.IntN(len(out))
		}
		switch r.IntN(8) {
		case 0: // cut
			out = out[:at]
		case 1: // a byte is another
			if len(out) > 0 {
				out[at] ^= byte(1 << r.IntN(8))
			}
		case 2: // a byte too many
			out = slices.Insert(out, at, byte(r.IntN(256)))
		case 3: // a byte is lost
			if len(out) > 0 {
				out = slices.Delete(out, at, at+1)
			}
		case 4: // two write at once
			out = slices.Insert(out, at, []byte(pick(r, answersToWreck...))...)
		case 5: // a piece comes again
			out = append(out, out[at:]...)
		case 6: // the beginning is lost
			out = out[at:]
		case 7: // nonsense in between
			out = slices.Insert(out, at, []byte(pick(r, "NaN", "\x00", "\xff\xfe", "}", "{", `"`, "[[[[", "\n", `,"action":"allow"`, "\\ud800", "1e999", "# hook:"))...)
		}
	}
	return out
}

// G7: wreckage never crashes, and is never read as an answer that does not stand
// in it: a yes or a change must be one whole object of strict JSON, a no must be
// written there.
func TestWreckedAnswersAreNoVerdict(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	events := []protocol.EventName{protocol.ToolCallStart, protocol.PermissionRequest, protocol.AgentStop, protocol.StepStop, protocol.SessionEnd, protocol.InferenceStart}
	rounds, failed, refused, heard := prove.Size(20_000, 1_000_000), 0, 0, 0
	for range rounds {
		stdout := wreck(r, []byte(pick(r, answersToWreck...)))
		spec, exit := protocol.Lookup(pick(r, events...)), pick(r, 0, 0, 0, 1, 139)
		v := protocol.HookInfo{Name: "h", Layer: protocol.Project, Class: pick(r, protocol.CanModify, protocol.CanBlock, protocol.CanObserve)}
		reading := Read(spec, v, stdout, nil, ProcessEnd{Exit: &exit}, eventID, Limits{})
		switch {
		case (reading.Reply == nil) == (reading.Failure == nil):
			t.Fatalf("%q: both or neither of reply and failure: %+v", stdout, reading)
		case reading.Failure != nil:
			failed++
			if reading.Failure.Detail == "" || reading.Failure.Kind != protocol.FailReply && reading.Failure.Kind != protocol.FailExit {
				t.Fatalf("%q: failure %+v", stdout, reading.Failure)
			}
		case reading.Reply.Action == protocol.Block || reading.Reply.Action == protocol.Stop:
			refused++
			if !holdsWord(stdout, string(reading.Reply.Action)) {
				t.Fatalf("%s was not said by %q", reading.Reply.Action, stdout)
			}
		default:
			heard++
			if exit != 0 || !isBlank(stdout) && !hasWholeObject(stdout, reading.Reply.Action) {
				t.Fatalf("%s at exit code %d was not said by %q", reading.Reply.Action, exit, stdout)
			}
		}
	}
	if min(failed, refused, heard) < rounds/100 {
		t.Errorf("%d failures, %d refusals and %d answers of %d: the wreckage is too much alike", failed, refused, heard, rounds)
	}
	prove.Figure(t, "G7", "%d wrecked answers: 0 crashes, 0 false verdicts (%d failed, %d whole refusals, %d whole answers)", rounds, failed, refused, heard)
}

// isBlank reports whether a text says nothing: blanks behind a byte order mark,
// in UTF-8 or UTF-16.
func isBlank(text []byte) bool {
	for _, mark := range []string{"\ufeff", "\xff\xfe", "\xfe\xff"} {
		if rest, marked := bytes.CutPrefix(text, []byte(mark)); marked {
			text = bytes.ReplaceAll(rest, []byte{0}, nil)
			break
		}
	}
	return len(bytes.TrimSpace(text)) == 0
}

// holdsWord reports whether a text has a word, as it is, in UTF-16 or escaped.
func holdsWord(text []byte, word string) bool {
	plain := bytes.ReplaceAll(text, []byte{0}, nil)
	return bytes.Contains(plain, []byte(word)) || bytes.Contains(plain, []byte(`\u`)) || word == "block" && bytes.Contains(plain, []byte("deny"))
}

// hasWholeObject reports whether a text holds an object with an action, by
// another decoder.
func hasWholeObject(text []byte, action protocol.Action) bool {
	for i := range text {
		if text[i] != '{' {
			continue
		}
		var said struct{ Action *string }
		if stdjson.NewDecoder(bytes.NewReader(text[i:])).Decode(&said) != nil {
			continue
		}
		// An allow where nothing is granted, or a bare continue, is observe.
		if said.Action == nil || *said.Action == string(action) || action == protocol.Observe {
			return true
		}
	}
	return false
}
