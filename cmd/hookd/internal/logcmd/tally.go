package logcmd

import (
	"fmt"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// tally counts what a record tells: a check that fails day after day is then a number and
// not a line among thousands.
type tally struct{ events, refused, failures int }

func (s *tally) add(line *record.Line) {
	switch line.Kind {
	case record.KindEvent:
		var e record.Event
		if line.Decode(&e) != nil {
			return
		}
		s.events++
		switch e.Action {
		case protocol.Block, protocol.Stop:
			s.refused++
		case protocol.Ask: // the answer has a line of its own, where somebody could be asked
			if protocol.RefusesAsk(e.Lost) {
				s.refused++
			}
		}
		for i := range e.Runs {
			s.count(&e.Runs[i])
		}
	case record.KindLate:
		var l record.Late
		if line.Decode(&l) == nil {
			s.count(&l.Run)
		}
	}
}

func (s *tally) count(run *protocol.Run) {
	if run.Failure != "" && run.Failure != protocol.FailAborted {
		s.failures++
	}
}

func (s *tally) show(p *show.Printer) {
	if s.events == 0 {
		return
	}
	text := fmt.Sprintf("%s, %d refused, %s without an answer", text.Count(s.events, "event"), s.refused, text.Count(s.failures, "hook run"))
	p.Print("%s\n", p.In(show.Quiet, text))
}
