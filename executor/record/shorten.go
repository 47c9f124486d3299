package record

import (
	"slices"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Bounds of one line in bytes. Every process reads the last line of a record before
// it writes its own, so no line may be very long. A line longer than maxLine was not
// written by this package, and is read no further.
const (
	maxWritten = 1 << 20
	maxLine    = 16 << 20
)

// Bounds of what stands in a line that would be longer than maxWritten.
const (
	shortText = 512 // bytes of each text
	shortList = 16  // members of each list
)

// encode returns the JSON of an entry. It shortens the texts and lists of an entry that
// would be too long, and the entry then says how long it would have been.
func encode(entry Entry) ([]byte, error) {
	body, err := protocol.Marshal(entry)
	if err != nil || len(body) <= maxWritten {
		return body, err
	}
	switch e := entry.(type) {
	case *Event:
		short := *e
		short.Cut = len(body)
		short.Reason, short.Aborted, short.Asked = shorten(e.Reason), shorten(e.Aborted), shorten(e.Asked)
		if e.Answered != nil {
			answered := *e.Answered
			answered.Name, answered.Text = shorten(answered.Name), shorten(answered.Text)
			short.Answered = &answered
		}
		short.Data.Value = nil
		short.Lost = slices.Clone(e.Lost[:min(len(e.Lost), shortList)])
		for i := range short.Lost {
			short.Lost[i] = shorten(short.Lost[i])
		}
		short.Changed = slices.Clone(e.Changed[:min(len(e.Changed), shortList)])
		for i := range short.Changed {
			c := &short.Changed[i]
			c.Path, c.Before, c.After = shorten(c.Path), c.Before.bare(), c.After.bare()
		}
		short.StateLost = e.StateLost[:min(len(e.StateLost), shortList)]
		short.Runs = slices.Clone(e.Runs)
		for i := range short.Runs {
			short.Runs[i] = shortenRun(short.Runs[i])
		}
		entry = &short
	case *Late:
		short := *e
		short.Cut = len(body)
		short.Run, short.Note = shortenRun(e.Run), shorten(e.Note)
		short.StateLost = e.StateLost[:min(len(e.StateLost), shortList)]
		entry = &short
	case *Set:
		if len(body) <= maxLine/2 {
			return body, nil
		}
		short := *e
		short.Findings = []schema.Finding{}
		short.Hooks = slices.Clone(e.Hooks[:min(len(e.Hooks), 10_000)])
		for i := range short.Hooks {
			short.Hooks[i].Why = shorten(short.Hooks[i].Why)
		}
		entry = &short
	}
	return protocol.Marshal(entry)
}

func shortenRun(run protocol.Run) protocol.Run {
	run.Reason, run.Detail, run.Remedy, run.Stderr = shorten(run.Reason), shorten(run.Detail), shorten(run.Remedy), shorten(run.Stderr)
	run.Changed = slices.Clone(run.Changed[:min(len(run.Changed), shortList)])
	for i := range run.Changed {
		run.Changed[i] = shorten(run.Changed[i])
	}
	run.Warnings = slices.Clone(run.Warnings[:min(len(run.Warnings), shortList)])
	for i := range run.Warnings {
		run.Warnings[i] = shorten(run.Warnings[i])
	}
	return run
}

func shorten(long string) string { return text.Shorten(long, shortText) }

// bare returns a digest without its value.
func (d *Digest) bare() *Digest {
	if d == nil {
		return nil
	}
	return &Digest{Hash: d.Hash, Bytes: d.Bytes}
}
