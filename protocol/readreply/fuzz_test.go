package readreply

import (
	"bytes"
	stdjson "encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/protocol"
)

// FuzzReadReply looks for crashes and for false verdicts: an answer that the
// bytes on stdout do not give.
func FuzzReadReply(f *testing.F) {
	for _, out := range []string{okBlock, okStop, okObserve, okModify, "hello\n" + okBlock, okModify + okBlock, "[\n" + okBlock + "\n]", `{"action":"allow"}`,
		`{"action":"block","reason":"a` + "\n" + `b","x":NaN}`, `{"a":{"action":"block"}}`, "\xff\xfe{\x00}\x00", `{"changes":{"args":{}}}`, `{"bl`} {
		f.Add([]byte(out), []byte("stderr\n"), 0, 7, 0)
		f.Add([]byte(out), []byte(""), 2, 12, 1)
	}
	for i, answer := range answersToWreck {
		f.Add([]byte(answer), []byte("stderr\n"), 0, i, i)
	}
	f.Fuzz(func(t *testing.T, stdout, stderr []byte, exit, event, class int) {
		spec := &protocol.Table[uint(event)%uint(len(protocol.Table))]
		v := protocol.HookInfo{Name: "h", Layer: protocol.Project, Class: []protocol.Class{protocol.CanModify, protocol.CanBlock, protocol.CanObserve}[uint(class)%3]}
		exit = int(uint(exit) % 256)
		given := bytes.Clone(stdout)
		r := Read(spec, v, stdout, stderr, ProcessEnd{Exit: &exit}, eventID, Limits{})
		if !bytes.Equal(given, stdout) {
			t.Fatal("stdout was written to")
		}
		if (r.Reply == nil) == (r.Failure == nil) {
			t.Fatalf("both or neither of reply and failure: %+v", r)
		}
		if r.Failure != nil {
			if r.Failure.Detail == "" || !utf8.ValidString(r.Failure.Detail) {
				t.Fatalf("failure without words: %+v", r.Failure)
			}
			return
		}
		if !utf8.ValidString(r.Reply.Reason) {
			t.Fatalf("reason %q", r.Reply.Reason)
		}
		plain := !bytes.Contains(stdout, []byte{'\\'}) && !bytes.Contains(stdout, []byte{0})
		switch action := r.Reply.Action; {
		case r.ByExit:
			if exit != 2 || !protocol.MayBlock(spec, v) {
				t.Fatalf("blocked by exit code %d of a %s hook at %s", exit, v.Class, spec.Name)
			}
		case action == protocol.Block || action == protocol.Stop:
			if v.Class == protocol.CanObserve || action == protocol.Block && spec.Block == protocol.BlockFails || action == protocol.Stop && !spec.CanStop() {
				t.Fatalf("%s by a %s hook at %s", action, v.Class, spec.Name)
			}
			if said := bytes.Contains(stdout, []byte(action)) || action == protocol.Block && bytes.Contains(stdout, []byte("deny")); plain && !said {
				t.Fatalf("%s was not said by %q", action, stdout)
			}
		case exit != 0:
			t.Fatalf("%s at exit code %d", action, exit)
		case action != protocol.Observe:
			// A yes or a change must be one whole object of strict JSON.
			if plain && !hasObjectLine(stdout) {
				t.Fatalf("%s was not said by %q", action, stdout)
			}
		}
		protocol.Begin(protocol.Event{Event: spec.Name, Data: protocol.Complete(spec, nil)}, protocol.FoldOptions{}).Add(protocol.Answer{HookInfo: v, ReadResult: r})
	})
}

// hasObjectLine reports whether some line of out begins a JSON object, by
// another decoder.
func hasObjectLine(out []byte) bool {
	for i := range out {
		if out[i] != '{' {
			continue
		}
		var object map[string]stdjson.RawMessage
		if stdjson.NewDecoder(bytes.NewReader(out[i:])).Decode(&object) == nil {
			return true
		}
	}
	return false
}

// refusal orders the actions that a later answer never weakens.
var refusal = map[protocol.Action]int{protocol.Ask: 1, protocol.Block: 2, protocol.Stop: 3}

// FuzzFold feeds replies, separated by NUL, of hooks of changing class to one
// fold.
func FuzzFold(f *testing.F) {
	f.Add([]byte(okModify+"\x00"+okBlock+"\x00"+okStop), 7)
	f.Add([]byte(`{"action":"continue","messages":[{"role":"user","content":"x"}]}`+"\x00"+okBlock), 12)
	f.Add([]byte(`{"action":"allow"}`+"\x00"+`{"action":"ask"}`), 8)
	f.Fuzz(func(t *testing.T, replies []byte, event int) {
		spec := &protocol.Table[uint(event)%uint(len(protocol.Table))]
		fold := protocol.Begin(protocol.Event{Event: spec.Name, Data: protocol.Complete(spec, nil)}, protocol.FoldOptions{})
		for i, out := range bytes.Split(replies, []byte{0}) {
			exit := 0
			v := protocol.HookInfo{Name: "h", Layer: protocol.Project, Class: []protocol.Class{protocol.CanModify, protocol.CanBlock, protocol.CanObserve}[i%3], Rule: []protocol.Rule{protocol.RuleContinue, protocol.RuleBlock, protocol.RuleStop}[i%7%3]}
			before := fold.Outcome()
			var run protocol.Run
			fold, run = fold.Add(protocol.Answer{HookInfo: v, ReadResult: Read(spec, v, out, nil, ProcessEnd{Exit: &exit}, eventID, Limits{}), Exit: &exit})
			after := fold.Outcome()
			if refusal[after.Action] < refusal[before.Action] {
				t.Fatalf("%s became %s by %q", before.Action, after.Action, out)
			}
			if after.Refused() && after.Reason == "" {
				t.Fatalf("refused without a reason by %q", out)
			}
			if len(after.Runs) != i+1 || run.Hook == "" {
				t.Fatalf("%d runs after %d answers", len(after.Runs), i+1)
			}
		}
		if out, err := protocol.Marshal(fold.Outcome()); err != nil || !utf8.Valid(out) {
			t.Fatalf("the outcome cannot be written: %v", err)
		}
	})
}

func BenchmarkReadReply(b *testing.B) {
	spec, v, exit := protocol.Lookup(protocol.ToolCallStart), protocol.HookInfo{Name: "h", Class: protocol.CanModify}, 0
	out := []byte(okModify)
	b.ReportAllocs()
	for b.Loop() {
		Read(spec, v, out, nil, ProcessEnd{Exit: &exit}, "", Limits{})
	}
}
