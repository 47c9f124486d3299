package dialect

import (
	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// Agents that have no programs as hooks load a plug-in of hookd's own (package plugins),
// which starts hookd for each event and obeys its answer. What the two say to each other is
// ours: the events have Claude Code's names of members, and the answer is always an object,
// so that a hookd that died is not taken for one with nothing to say.

// writePlugin writes the answer that a plug-in of ours obeys.
func writePlugin(c *Call, v *Verdict) Answer {
	top := object{{"block", v.Refuse}, {"ask", v.Ask}, {"stop", v.Stop}, {"continue", v.Continue}}
	if v.Refuse || v.Ask || v.Stop || v.Continue {
		top = append(top, member{"reason", v.Reason})
	}
	if v.Changed != nil && jsonspan.Kind(v.Changed) == '"' {
		top = append(top, member{"text", v.Changed})
	} else {
		top = append(top, member{"args", v.Changed})
	}
	a := Answer{Stdout: append(top, member{"context", v.Context}, member{"notice", v.Notice}).line()}
	if a.Stdout == nil {
		a.Stdout = []byte("{}\n")
	}
	return a
}

// refusePlugin refuses an event that nobody can name.
func refusePlugin(reason string) Answer {
	return writePlugin(nil, &Verdict{Refuse: true, Reason: reason})
}
