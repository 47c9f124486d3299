package executor

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/executor/internal/worker"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// record writes the event's line before the event goes on. What cannot be
// written waits in memory and is told to the person once; the decision stands as
// it is, whatever the disk does.
func (t *trip) record(outcome *protocol.Outcome, lost []state.Lost, aborted string) {
	if t.executor.records == nil {
		return
	}
	sensitive := t.sawSensitive()
	line := t.line(outcome, sensitive)
	line.Aborted, line.StateLost = aborted, lost
	t.append(line)
}

func (t *trip) append(entry record.Entry) {
	records, keep := t.executor.records, &t.settings.Records
	if keep.Keep > 0 || keep.MaxSize > 0 {
		records.SetLimits(keep.Keep, keep.MaxSize)
	}
	err := records.AppendUnder(t.first.Session.ID, time.Now(), entry, t.set.hash, t.set.describe)
	t.trouble("record", "nothing is recorded for now, events are decided all the same", err)
}

func (t *trip) line(outcome *protocol.Outcome, sensitive bool) *record.Event {
	values := t.settings.Records.Values
	var call facts
	if t.spec.Tool {
		call = *t.toldFacts()
	}
	line := &record.Event{
		Opening: t.first.Opening, Seq: t.first.Seq, ID: t.first.ID, Event: t.spec.Name,
		Agent: t.first.Agent.ID, Depth: t.first.Agent.Depth, Host: t.first.Agent.Host,
		Generation: t.set.Generation, Set: t.set.hash, Managed: t.set.ManagedHash,
		Data: *t.digest(sensitive),
		Tool: call.tool, ToolCallID: call.toolCallID, Asked: t.asking(values, sensitive),
		Action: outcome.Action, By: outcome.By, Reason: outcome.Reason, Failure: outcome.Failure, Answered: outcome.Answered,
		WaitedMs: milliseconds(t.began), Changed: []record.Change{}, Conflict: len(outcome.Conflicts) > 0,
		Runs: make([]protocol.Run, 0, len(outcome.Runs)),
	}
	for _, c := range outcome.Changes {
		line.Changed = append(line.Changed, record.Change{
			Path: c.Path, By: c.By,
			Before: record.NewDigest(c.Before, values, sensitive), After: record.NewDigest(c.After, values, sensitive),
		})
	}
	if t.spec.Name == protocol.ToolCallEnd {
		line.Left = leftRunning(t.first.Data)
	}
	for _, run := range outcome.Runs {
		line.Runs = append(line.Runs, t.recorded(run))
	}
	return line
}

// leftRunning are the names of the processes that a command left, as its result
// says. A host may say anything there.
func leftRunning(data protocol.RawMessage) (names []string) {
	const most, longest = 20, 64
	left := protocol.Member(protocol.Member(data, "result"), "left")
	if left == nil || json.Unmarshal(left, &names, jsontext.AllowInvalidUTF8(true)) != nil {
		return nil
	}
	names = names[:min(len(names), most)]
	for i, name := range names {
		names[i] = strings.ToValidUTF8(name[:min(len(name), longest)], "?")
	}
	return names
}

// hashedBeside is the size in bytes from which an event's data is hashed while its
// hooks are asked. Below, that costs more than it saves. Of data this large a record
// holds no value, so it does not matter whether a hook was sensitive.
const hashedBeside = 256 << 10

// beginDigest has large data hashed beside the hooks.
func (t *trip) beginDigest() {
	data, values := t.first.Data, t.settings.Records.Values
	if t.executor.records == nil || t.digested != nil || len(data) < hashedBeside {
		return
	}
	digested := sync.OnceValue(func() *record.Digest { return record.NewDigest(data, values, true) })
	t.digested = digested
	t.executor.work.Go(func() { digested() })
}

// digest is what the record keeps of the event as it came in.
func (t *trip) digest(sensitive bool) *record.Digest {
	if t.digested != nil {
		return t.digested()
	}
	data := t.first.Data
	if data == nil {
		data = []byte{}
	}
	return record.NewDigest(data, t.settings.Records.Values, sensitive)
}

// sawSensitive reports whether a hook that ran may only leave hashes of what it
// saw.
func (t *trip) sawSensitive() bool {
	return slices.ContainsFunc(t.runs, func(run protocol.Run) bool {
		return run.Skipped == "" && run.Sensitive
	})
}

// recorded is a run as the record has it.
func (t *trip) recorded(run protocol.Run) protocol.Run {
	return quiet(run, t.settings.Records.Values)
}

// recordLate writes what a hook did after its event had gone on.
func (t *trip) recordLate(run *protocol.Run, note string, dropped int64, lost []state.Lost) {
	if t.executor.records == nil {
		return
	}
	t.append(&record.Late{
		Opening: t.first.Opening, Seq: t.first.Seq, ID: t.first.ID, Event: t.spec.Name, Generation: t.set.Generation, Set: t.set.hash,
		Run: t.recorded(*run), Note: note, Dropped: dropped, StateLost: lost,
	})
}

// recordLateAnswer records an answer that came when nobody waited any more. It
// has no effect.
func (e *Executor) recordLateAnswer(t *trip, q *Question, answer protocol.Answer) {
	if e.records == nil {
		return
	}
	answer.HookInfo = q.Hook.HookInfo()
	late := t.after(*q.Event)
	_, run := late.fold.Add(answer)
	late.recordLate(&run, "this answer came too late and had no effect", 0, nil)
}

// recordTreeGone records when the processes of a run that was cut short, that left
// some behind, or that ended after its answer, are all gone.
func (e *Executor) recordTreeGone(t *trip, q *Question, gone <-chan struct{}, ending func() *worker.Ending) {
	if ending == nil {
		select {
		case <-gone:
			return // nothing outlived the answer
		default:
		}
	}
	stood := time.Now()
	late := t.after(*q.Event)
	e.work.Go(func() {
		<-gone
		run := skippedRun(q.Hook, "")
		if ending != nil {
			noteEnding(&run, ending())
		}
		run.TookMs = milliseconds(stood)
		late.recordLate(&run, "the last of its processes is gone", 0, nil)
	})
}

// noteEnding adds to a run how its program ended. Of a sensitive hook nothing that it
// wrote is kept.
func noteEnding(run *protocol.Run, ending *worker.Ending) {
	result := &ending.Result
	if result.ExitCode >= 0 {
		run.Exit = &result.ExitCode
	}
	run.Signal = protocol.NullString(result.Signal)
	if !run.Sensitive {
		run.Stderr, run.Warnings = StderrText(result.Stderr, result.StderrCut), ending.Warnings
	}
}

// describe is the set as the record shows it when it begins to rule.
func (s *Set) describe() *record.Set {
	out := &record.Set{
		Generation: s.Generation, Set: s.hash, Managed: s.ManagedHash, Project: s.Project,
		Hooks: make([]record.SetHook, 0, len(s.Hooks)), Findings: s.Findings,
	}
	if out.Findings == nil {
		out.Findings = []schema.Finding{}
	}
	if s.Refuse != nil {
		out.Refused = s.Refuse.Error()
	}
	for _, h := range s.Hooks {
		out.Hooks = append(out.Hooks, record.SetHook{
			Name: h.Name, Source: h.Layer, Hash: h.Hash, Class: h.Can, Mode: h.Mode,
			Status: string(h.Status), Why: h.Why,
		})
	}
	return out
}
