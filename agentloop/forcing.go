package agentloop

import (
	"context"
	"fmt"
	"slices"

	"github.com/hookd-dev/hookd/protocol"
)

// forcing counts how often hooks made the agent go on when it was done.
type forcing struct {
	forced
	// of are the counts of each layer, and of each of several projects: hooks of a
	// project that force the agent on and on leave those of the machine theirs.
	of map[protocol.Origin]forced
}

type forced struct {
	row   int // in a row, without a tool call
	total int // since the last user prompt
}

// progress is told of a tool call.
func (f *forcing) progress() {
	f.row = 0
	for origin, count := range f.of {
		count.row = 0
		f.of[origin] = count
	}
}

// count counts a continuation that hooks of some layers wanted.
func (f *forcing) count(by []protocol.Origin) {
	if f.of == nil {
		f.of = map[protocol.Origin]forced{}
	}
	for _, origin := range by {
		f.of[origin] = forced{f.of[origin].row + 1, f.of[origin].total + 1}
	}
	f.row++
	f.total++
}

// caps are how often the hooks of an origin may force the agent on.
func (l *Limits) caps(origin protocol.Origin) forced {
	if l.ForcedOf == nil {
		return forced{l.Forced, l.ForcedTotal}
	}
	row, total := l.ForcedOf(origin)
	return forced{row, total}
}

// force appends the messages of those who want the agent to go on and counts a
// forced continuation, if there are any and the caps allow one more.
func (r *Run) force(ctx context.Context, v *verdict) (forced bool, err error) {
	messages := v.continuation()
	if len(messages) == 0 || !r.mayForce(ctx, v) {
		return false, nil
	}
	if err := r.flush(); err != nil {
		return false, err
	}
	return true, r.addAll(messages)
}

// mayForce counts one more forced continuation, or says why there is none. It is
// charged to each layer whose hooks want it and have not used theirs up; one such
// layer is enough.
func (r *Run) mayForce(ctx context.Context, v *verdict) bool {
	f, limits := &r.loop.forced, &r.loop.options.Limits
	why := ""
	var by []protocol.Origin
	for _, origin := range v.forcedBy() {
		used, most := f.of[origin], limits.caps(origin)
		switch {
		case used.row >= most.row:
			why = fmt.Sprintf("it was forced on %d times in a row without a tool call", used.row)
		case used.total >= most.total:
			why = fmt.Sprintf("it was forced on %d times since the last prompt", used.total)
		default:
			by = append(by, origin)
		}
	}
	if len(by) == 0 {
		r.notify(ctx, "hook", "the run stops although a hook wants it to go on: "+why)
		return false
	}
	f.count(by)
	return true
}

// forcedBy are the origins whose hooks want the agent to go on. A gate that names
// no hooks counts as one.
func (v *verdict) forcedBy() []protocol.Origin {
	var origins []protocol.Origin
	for i := range v.Runs {
		run := &v.Runs[i]
		wants := run.Action == protocol.Continue || run.Action == protocol.Block
		if wants && run.Failure == "" && run.Skipped == "" && !slices.Contains(origins, run.Origin()) {
			origins = append(origins, run.Origin())
		}
	}
	if len(origins) == 0 {
		origins = append(origins, protocol.Origin{})
	}
	return origins
}
