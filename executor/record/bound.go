package record

import (
	"slices"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Bounds of one line in bytes. Every process reads the last line of a record
// before it writes its own, so none may be very long. A longer one than maxLine
// was not written by us, and is read no further.
const (
	maxWritten = 1 << 20
	maxLine    = 16 << 20
)

// Bounds of what stands in a line that would be longer than maxWritten.
const (
	keptText = 512 // bytes of each text
	keptList = 16  // of each list
)

// encode writes an entry down. What of a line is too long for it is left out, and
// the line says how long it would have been.
func encode(entry Entry) ([]byte, error) {
	body, err := protocol.Marshal(entry)
	if err != nil || len(body) <= maxWritten {
		return body, err
	}
	switch e := entry.(type) {
	case *Event:
		short := *e
		short.Cut = len(body)
		short.Reason, short.Aborted, short.Asked = cut(e.Reason), cut(e.Aborted), cut(e.Asked)
		if e.Answered != nil {
			answered := *e.Answered
			answered.Name, answered.Text = cut(answered.Name), cut(answered.Text)
			short.Answered = &answered
		}
		short.Data.Value = nil
		short.Changed = slices.Clone(e.Changed[:min(len(e.Changed), keptList)])
		for i := range short.Changed {
			c := &short.Changed[i]
			c.Path, c.Before, c.After = cut(c.Path), c.Before.bare(), c.After.bare()
		}
		short.StateLost = e.StateLost[:min(len(e.StateLost), keptList)]
		short.Runs = slices.Clone(e.Runs)
		for i := range short.Runs {
			short.Runs[i] = cutRun(short.Runs[i])
		}
		entry = &short
	case *Late:
		short := *e
		short.Cut = len(body)
		short.Run, short.Note = cutRun(e.Run), cut(e.Note)
		short.StateLost = e.StateLost[:min(len(e.StateLost), keptList)]
		entry = &short
	case *Set:
		if len(body) <= maxLine/2 {
			return body, nil
		}
		short := *e
		short.Findings = []schema.Finding{}
		short.Hooks = slices.Clone(e.Hooks[:min(len(e.Hooks), 10_000)])
		for i := range short.Hooks {
			short.Hooks[i].Why = cut(short.Hooks[i].Why)
		}
		entry = &short
	}
	return protocol.Marshal(entry)
}

func cutRun(run protocol.Run) protocol.Run {
	run.Reason, run.Detail, run.Remedy, run.Stderr = cut(run.Reason), cut(run.Detail), cut(run.Remedy), cut(run.Stderr)
	run.Changed = slices.Clone(run.Changed[:min(len(run.Changed), keptList)])
	for i := range run.Changed {
		run.Changed[i] = cut(run.Changed[i])
	}
	run.Warnings = slices.Clone(run.Warnings[:min(len(run.Warnings), keptList)])
	for i := range run.Warnings {
		run.Warnings[i] = cut(run.Warnings[i])
	}
	return run
}

func cut(text string) string {
	if len(text) <= keptText {
		return text
	}
	return text[:keptText] + "…"
}

// bare is a digest without its value.
func (d *Digest) bare() *Digest {
	if d == nil {
		return nil
	}
	return &Digest{Hash: d.Hash, Bytes: d.Bytes}
}
