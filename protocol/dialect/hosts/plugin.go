package hosts

import (
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
)

// Agents that have no programs as hooks load a plug-in of hookd's own (package plugins),
// which starts hookd for each event and obeys its answer. What the two say to each other is
// ours: the events have Claude Code's names of members, and the answer is always an object,
// so that a hookd that died is not taken for one with nothing to say.

// writePlugin writes the answer that a plug-in of ours obeys.
func writePlugin(c *dialect.Call, v *dialect.Verdict) dialect.Answer {
	top := object.Object{{"block", v.Refuse}, {"ask", v.Ask}, {"stop", v.Stop}, {"continue", v.Continue}}
	if v.Refuse || v.Ask || v.Stop || v.Continue {
		top = append(top, object.Member{"reason", v.Reason})
	}
	if v.Changed != nil && jsonspan.Kind(v.Changed) == '"' {
		top = append(top, object.Member{"text", v.Changed})
	} else {
		top = append(top, object.Member{"args", v.Changed})
	}
	a := dialect.Answer{Stdout: append(top, object.Member{"context", v.Context}, object.Member{"notice", v.Notice}).Line()}
	if a.Stdout == nil {
		a.Stdout = []byte("{}\n")
	}
	return a
}

// refusePlugin refuses an event that nobody can name.
func refusePlugin(reason string) dialect.Answer {
	return writePlugin(nil, &dialect.Verdict{Refuse: true, Reason: reason})
}
