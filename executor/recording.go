package executor

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/internal/worker"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// record writes the event's entry before the event goes on. An entry that cannot be
// written waits in memory, and the person is told once. A failing disk never changes the
// decision.
func (d *dispatch) record(outcome *protocol.Outcome, overwritten []state.Overwritten, aborted string) {
	if d.req.executor.records == nil {
		return
	}
	entry := d.entry(outcome)
	entry.Aborted, entry.StateLost = aborted, overwritten
	d.notices = append(d.notices, d.req.append(entry)...)
	if ev := &d.req.event; ev.Marker != "" {
		d.notices = append(d.notices, d.req.append(&record.Mark{ID: ev.ID, Event: ev.Event, Host: ev.Agent.Host, Set: d.req.set.index.hash, Token: ev.Marker})...)
	}
}

// append writes an entry and returns the notice about a disk that does not take it.
func (r *request) append(entry record.Entry) []protocol.HookText {
	records, keep := r.executor.records, &r.settings.Records
	if keep.Keep > 0 || keep.MaxSize > 0 {
		records.SetLimits(keep.Keep, keep.MaxSize)
	}
	err := records.AppendUnder(r.event.Session.ID, time.Now(), entry, r.set.index.hash, r.set.describe)
	return r.executor.problems.report("record", "nothing is recorded for now, events are decided all the same", err)
}

// entry returns the event's entry in the record.
func (d *dispatch) entry(outcome *protocol.Outcome) *record.Event {
	r := &d.req
	values, sensitive := r.settings.Records.Values, d.results.sawSensitive()
	entry := &record.Event{
		Epoch: r.event.Epoch, Seq: r.event.Seq, ID: r.event.ID, Event: r.spec.Name,
		Agent: r.event.Agent.ID, Depth: r.event.Agent.Depth, Host: r.event.Agent.Host,
		Generation: r.set.Generation, Set: r.set.index.hash, Managed: r.set.ManagedHash, Project: r.set.Project,
		Data:   *d.digest.of(r, sensitive),
		Action: outcome.Action, By: outcome.By, Reason: outcome.Reason, Failure: outcome.Failure, Answered: outcome.Answered,
		Lost: outcome.Lost, WaitedMs: milliseconds(r.began), Changed: []record.Change{}, Conflict: len(outcome.Conflicts) > 0,
		Runs: make([]protocol.Run, 0, len(outcome.Runs)),
	}
	if r.spec.Tool {
		call := d.version.call(&r.event)
		entry.Tool, entry.ToolCallID = call.Tool, call.ToolCallID
		entry.Asked = record.Subject(r.event.Data, values, sensitive, hookenv.FixedPath)
	}
	for _, c := range outcome.Changes {
		entry.Changed = append(entry.Changed, record.Change{
			Path: c.Path, By: c.By,
			Before: record.NewDigest(c.Before, values, sensitive), After: record.NewDigest(c.After, values, sensitive),
		})
	}
	if r.spec.Name == protocol.ToolCallEnd {
		entry.Left = leftRunning(r.event.Data)
	}
	for _, run := range outcome.Runs {
		entry.Runs = append(entry.Runs, record.Redact(run, values))
	}
	return entry
}

// leftRunning returns the names of the processes that a command left, as its result
// says. A host may say anything there.
func leftRunning(data protocol.RawMessage) (names []string) {
	const most, longest = 20, 64
	left := jsonspan.Get(jsonspan.Get(data, "result"), "left")
	if left == nil || json.Unmarshal(left, &names, jsontext.AllowInvalidUTF8(true)) != nil {
		return nil
	}
	names = names[:min(len(names), most)]
	for i, name := range names {
		names[i] = strings.ToValidUTF8(name[:min(len(name), longest)], "?")
	}
	return names
}

// largeData is the size in bytes from which an event's data is hashed while its hooks
// are asked. Below, that costs more than it saves. Of data this large a record holds no
// value, so it does not matter whether a hook was sensitive.
const largeData = 256 << 10

// begin has large data hashed while the hooks are asked.
func (e *eventDigest) begin(r *request) {
	data, values := r.event.Data, r.settings.Records.Values
	if r.executor.records == nil || e.hashed != nil || len(data) < largeData {
		return
	}
	hashed := sync.OnceValue(func() *record.Digest { return record.NewDigest(data, values, true) })
	e.hashed = hashed
	r.executor.running.Go(func() { hashed() })
}

// of returns the digest.
func (e *eventDigest) of(r *request, sensitive bool) *record.Digest {
	if e.hashed != nil {
		return e.hashed()
	}
	data := r.event.Data
	if data == nil {
		data = []byte{}
	}
	return record.NewDigest(data, r.settings.Records.Values, sensitive)
}

// recordLate writes what a hook did after its event had gone on.
func (r *request) recordLate(run *protocol.Run, note string, dropped int64, overwritten []state.Overwritten) {
	if r.executor.records == nil {
		return
	}
	r.progress.notice(&r.event, r.append(&record.Late{
		Epoch: r.event.Epoch, Seq: r.event.Seq, ID: r.event.ID, Event: r.spec.Name, Generation: r.set.Generation, Set: r.set.index.hash, Project: r.set.Project,
		Run: record.Redact(*run, r.settings.Records.Values), Note: note, Dropped: dropped, StateLost: overwritten,
	})...)
}

// recordLateAnswer records an answer that came after the executor had given it up. The
// answer has no effect.
func (r *request) recordLateAnswer(q *Question, answer protocol.Answer) {
	if r.executor.records == nil {
		return
	}
	answer.HookInfo = q.Hook.HookInfo()
	late := r.after(*q.Event)
	run := late.runOf(answer)
	late.recordLate(&run, "this answer came too late and had no effect", 0, nil)
}

// recordTreeGone records when the processes of a run that was cut short, that left
// some processes, or that ended after its answer, are all gone.
func (r *request) recordTreeGone(q *Question, gone <-chan struct{}, ending func() *worker.Ending) {
	if ending == nil {
		select {
		case <-gone:
			return // nothing outlived the answer
		default:
		}
	}
	stood := time.Now()
	late := r.after(*q.Event)
	r.executor.running.Go(func() {
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

func milliseconds(since time.Time) float64 { return protocol.Milliseconds(time.Since(since)) }

// describe returns the set as the record shows it when it begins to rule.
func (s *Set) describe() *record.Set {
	out := &record.Set{
		Generation: s.Generation, Set: s.index.hash, Managed: s.ManagedHash, Project: s.Project,
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

// explain adds to the runs of an event the hooks that take part in no event, because they
// are not allowed or are broken, and sorts the runs in running order. A hook whose events
// are not known is added to every event.
func (r *results) explain(set *Set, event protocol.EventName) {
	for _, h := range set.Hooks {
		if h.takesPart() || len(h.Events) > 0 && !slices.Contains(h.Events, event) {
			continue
		}
		run := skippedRun(h, protocol.SkipAbsent)
		run.Detail = string(h.Status)
		if h.Why != "" {
			run.Detail += ": " + h.Why
		}
		r.runs = append(r.runs, run)
	}
	place := make(map[hookKey]int, len(set.Hooks))
	for i, h := range set.Hooks {
		place[keyOf(h)] = i + 1
	}
	slices.SortStableFunc(r.runs, func(a, b protocol.Run) int {
		return cmp.Compare(place[hookKey{a.Source, a.Hook}], place[hookKey{b.Source, b.Hook}])
	})
}
