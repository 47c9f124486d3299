package eventcmd

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/testfile"
)

// testResult is what came of one test.
type testResult struct {
	Name       string     `json:"name"`
	Line       int        `json:"line"`
	Passed     bool       `json:"passed"`
	Verdict    string     `json:"verdict,omitzero"` // what came out
	TookMs     float64    `json:"tookMs"`
	Mismatches []mismatch `json:"mismatches,omitzero"`
	Error      string     `json:"error,omitzero"` // why the event could not be made
	Remedy     string     `json:"remedy,omitzero"`
	Stderr     string     `json:"stderr,omitzero"`
}

// mismatch is one thing that came out otherwise than wanted.
type mismatch struct {
	What string `json:"what"`
	Want string `json:"want"`
	Got  string `json:"got"`
}

// runSuite runs the tests of one file, in their order.
func (cmd *tester) runSuite(ctx context.Context, s *suite) error {
	if s.fault != nil {
		return nil
	}
	for i := range s.file.Tests {
		result, err := cmd.runTest(ctx, s, &s.file.Tests[i])
		if err != nil {
			return err
		}
		s.results = append(s.results, result)
	}
	return nil
}

// runTest asks the hook about the event of one test, as an agent would: a hook that is not
// for the event is not asked.
func (cmd *tester) runTest(ctx context.Context, s *suite, test *testfile.Test) (testResult, error) {
	result := testResult{Name: test.Name, Line: test.Line}
	given, err := cmd.testEvent(s, &test.Given)
	if err != nil {
		result.Error = err.Error()
		if fault, is := err.(*cli.Fault); is {
			result.Remedy = fault.Hint
		}
		return result, nil
	}
	t := &trial{hook: s.hook, given: given, kept: protocol.RawMessage(test.Given.State)}
	var hooks []*executor.Hook
	for _, hook := range s.asked() {
		one := *hook
		hooks = append(hooks, &one)
	}
	var late lateNotices
	if err := fireAlone(ctx, engine.Observe(cmd.Console, late.add), s.snapshot, t, hooks...); err != nil {
		return result, err
	}
	t.outcome.Notices = append(t.outcome.Notices, late.notices...)
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	result.Verdict, result.TookMs, result.Stderr = verdictOf(t), t.run().TookMs, t.run().Stderr
	result.Mismatches = judge(t, &test.Want)
	result.Passed = len(result.Mismatches) == 0
	return result, nil
}

// lateNotices are what an observer says to the person: in no outcome, since nobody waits
// for it.
type lateNotices struct {
	mu      sync.Mutex
	notices []protocol.HookText
}

func (l *lateNotices) add(_ *protocol.Event, _ *protocol.Run, notice *protocol.HookText) {
	if notice == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notices = append(l.notices, *notice)
}

// verdictOf returns what a hook decided. A hook that only watches (mode audit) is tested by
// what it would have decided.
func verdictOf(t *trial) string {
	switch run := t.run(); {
	case len(t.outcome.Runs) == 0 || run.Skipped != "":
		return testfile.NotAsked
	case run.Would != "":
		return string(run.Would)
	}
	return string(t.outcome.Action)
}

// judge compares what came out with what is wanted. A failure that the test does not name
// is a mismatch, whatever else is wanted: a hook that crashed said nothing, and the verdict
// is then its rule's.
func judge(t *trial, want *testfile.Want) (all []mismatch) {
	run := t.run()
	add := func(what, want, got string) { all = append(all, mismatch{what, want, got}) }
	if got := string(run.Failure); got != want.Failure {
		add("failure", orNone(want.Failure), orNone(strings.TrimSuffix(got+": "+run.Detail, ": ")))
	}
	if got := verdictOf(t); want.Verdict != "" && !fitsVerdict(t, want.Verdict) {
		if got == testfile.NotAsked {
			got += ": the hook is for " + hookEvents(t.hook)
		}
		add("verdict", want.Verdict, got)
	}
	texts := func(what string, want *testfile.Text, got string) {
		if want != nil && !want.Fits(got) {
			add(what, want.String(), orNone(got))
		}
	}
	why := t.outcome.Reason
	if run.Would != "" {
		why = run.Reason
	}
	texts("reason", want.Reason, why)
	texts("context", want.Context, joined(t.outcome.Context))
	texts("notice", want.Notice, joined(t.outcome.Notices))
	if want.AllChanged {
		all = append(all, judgeChanges(t, want.Changed)...)
	}
	return all
}

// fitsVerdict reports whether what came out is the verdict that is wanted.
func fitsVerdict(t *trial, want string) bool {
	got, run := verdictOf(t), t.run()
	switch want {
	case got:
		return true
	case testfile.Pass:
		return !protocol.Outcome{Action: protocol.Action(got)}.Refused()
	case string(protocol.Observe):
		return got == testfile.NotAsked
	}
	return run.Failure == "" && run.Action != "" && string(run.Action) == want // block at agent-stop, which goes on
}

// judgeChanges compares the fields that the hook changed with those that it is to change.
func judgeChanges(t *trial, want []testfile.Field) (all []mismatch) {
	changed, covered := t.outcome.Changes, map[int]bool{}
	for _, field := range want {
		found := false
		for i := range changed {
			if overlaps(changed[i].Path, field.Pointer) {
				covered[i], found = true, true
			}
		}
		got := valueAfter(t, field.Pointer)
		switch {
		case !found:
			all = append(all, mismatch{"changed " + field.Pointer, show.Compact(field.Value), "not changed"})
		case !jsonspan.SameValue(got, field.Value):
			all = append(all, mismatch{"changed " + field.Pointer, show.Compact(field.Value), show.Compact(got)})
		}
	}
	for i := range changed {
		if !covered[i] {
			all = append(all, mismatch{"changed " + changed[i].Path, "not changed", show.Compact(valueOf(changed[i].After))})
		}
	}
	return all
}

// overlaps reports whether one JSON Pointer leads to the other's value, into it, or to what
// holds it.
func overlaps(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// valueAfter returns a field as the hook left it, null if it is gone. Of a refused event
// that is what the change says, as the event itself stays as it was.
func valueAfter(t *trial, pointer string) protocol.RawMessage {
	for i := len(t.outcome.Changes) - 1; i >= 0; i-- {
		if t.outcome.Changes[i].Path == pointer {
			return valueOf(t.outcome.Changes[i].After)
		}
	}
	return valueOf(jsonspan.Find(t.outcome.Event.Data, pointer))
}

func valueOf(value protocol.RawMessage) protocol.RawMessage {
	if value == nil {
		return protocol.RawMessage("null")
	}
	return value
}

func joined(texts []protocol.HookText) string {
	var said []string
	for _, t := range texts {
		if !t.Warning && t.Failure == "" {
			said = append(said, t.Text)
		}
	}
	return strings.Join(said, "\n")
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// place returns where a test stands: file:line.
func (s *suite) place(r *testResult) string { return fmt.Sprintf("%s:%d", s.file.Path, r.Line) }
