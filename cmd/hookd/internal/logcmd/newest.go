package logcmd

import (
	"iter"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/executor/record"
)

// newest are the last lines of records that pass a filter. Records are read backwards for
// them, so that a large one costs no more than its end.
type newest struct {
	most   int // events
	filter *filter

	events int
	more   bool // there are earlier ones
	found  map[string]*lastLines
}

// lastLines are the lines of one record, the newest first.
type lastLines struct {
	lines    []*record.Line
	problems []*record.Problem // of the line at the same place; a line may be nil
	newest   int64             // the number of the newest line, whether it passed or not
}

// unordered is how much earlier a line may have been written than one that stands before
// it: several processes write one record, and clocks are set.
const unordered = 24 * time.Hour

// read takes the newest lines of records, which are named from the oldest to the newest.
func (n *newest) read(dir string, names []string) {
	n.found = map[string]*lastLines{}
	for _, name := range slices.Backward(names) {
		l := &lastLines{}
		n.found[name] = l
		if n.more {
			continue
		}
		n.learnSets(dir, name)
		for line, problem := range record.Backwards(dir, name) {
			if line != nil && l.newest == 0 {
				l.newest = line.N
			}
			if line != nil && !n.filter.since.IsZero() && line.Time.Before(n.filter.since.Add(-unordered)) {
				break
			}
			passes := line != nil && n.filter.passes(line)
			if passes && line.Kind == record.KindEvent {
				if n.events == n.most {
					n.more = true
					break
				}
				n.events++
			}
			if passes || problem != nil {
				if !passes {
					line = nil
				}
				l.lines, l.problems = append(l.lines, line), append(l.problems, problem)
			}
		}
	}
}

// learnSets reads of which projects the sets of hooks of a record are, before its events
// are read: their lines stand before those of the events. Events of this hookd name their
// project, and need it not.
func (n *newest) learnSets(dir, name string) {
	if !n.filter.here {
		return
	}
	for line := range record.Backwards(dir, name) {
		if line == nil || line.Kind != record.KindEvent {
			continue
		}
		var e record.Event
		if line.Decode(&e) == nil && e.Project != "" {
			return
		}
		break
	}
	for line := range record.Search(dir, name, record.OfKind(record.KindSet)) {
		n.filter.ofProject(line)
	}
}

// lines returns what was taken of a record, from the oldest to the newest, and the number
// of its newest line.
func (n *newest) lines(name string) (lines iter.Seq2[*record.Line, *record.Problem], upTo int64) {
	l := n.found[name]
	return func(yield func(*record.Line, *record.Problem) bool) {
		for i, line := range slices.Backward(l.lines) {
			if !yield(line, l.problems[i]) {
				return
			}
		}
	}, l.newest
}

// then yields the lines of one list, and after it those of another.
func then(first, second iter.Seq2[*record.Line, *record.Problem]) iter.Seq2[*record.Line, *record.Problem] {
	return func(yield func(*record.Line, *record.Problem) bool) {
		for _, lines := range []iter.Seq2[*record.Line, *record.Problem]{first, second} {
			for line, problem := range lines {
				if !yield(line, problem) {
					return
				}
			}
		}
	}
}

// after leaves out the lines up to a number, and the problems that were found at them.
func after(lines iter.Seq2[*record.Line, *record.Problem], upTo int64) iter.Seq2[*record.Line, *record.Problem] {
	return func(yield func(*record.Line, *record.Problem) bool) {
		passed := upTo == 0
		for line, problem := range lines {
			if passed = passed || line != nil && line.N > upTo; passed && !yield(line, problem) {
				return
			}
		}
	}
}
