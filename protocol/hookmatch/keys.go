package hookmatch

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// Keys are the compiled keys of a [protocol.Match]. The zero value fits everything.
type Keys struct {
	tool   []toolname.Pattern
	source []string
	agent  string
	step   string
}

// Compile compiles the keys of m. With an error it also returns the key that does not
// compile.
func Compile(m *protocol.Match) (Keys, string, error) {
	var out Keys
	for _, pattern := range m.Tool {
		p, err := toolname.ParsePattern(pattern)
		if err != nil {
			return Keys{}, "tool", err
		}
		out.tool = append(out.tool, p)
	}
	if slices.Contains(m.Source, "") {
		return Keys{}, "source", errors.New("a source is empty; leave the key out to match all")
	}
	out.source = slices.Clone(m.Source)
	if out.agent = m.Agent; !slices.Contains([]string{"", "main", "sub"}, m.Agent) {
		return Keys{}, "agent", fmt.Errorf("%q is neither main nor sub", m.Agent)
	}
	if out.step = m.Step; !slices.Contains([]string{"", "final", "tools"}, m.Step) {
		return Keys{}, "step", fmt.Errorf("%q is neither final nor tools", m.Step)
	}
	return out, "", nil
}

// Compares reports whether the keys compare a member of data at such events.
func (k *Keys) Compares(spec *protocol.Spec) bool {
	return len(k.tool) > 0 && spec.Tool || len(k.source) > 0 && spec.Source || k.step != "" && spec.StepType
}

// Fits reports whether every key holds. It depends on the event's [Key] alone. Data that
// cannot be read fits, so that a guard is asked.
func (k *Keys) Fits(in *Input) bool {
	if !k.agentFits(in.event) {
		return false
	}
	if !k.Compares(in.spec) || !in.Scan() {
		return true
	}
	return (len(k.tool) == 0 || !in.spec.Tool || k.toolFits(in)) &&
		(len(k.source) == 0 || !in.spec.Source || slices.Contains(k.source, in.Source)) &&
		(k.step == "" || !in.spec.StepType || in.Step == k.step)
}

// toolFits reports whether the tool matches. An event that names no tool fits, so that
// a guard is asked. Of another agent's event both names count: ours and that agent's own.
func (k *Keys) toolFits(in *Input) bool {
	seen := in.Seen()
	return in.Tool == "" || slices.ContainsFunc(k.tool, func(p toolname.Pattern) bool { return p.Fits(seen) })
}

func (k *Keys) agentFits(ev *protocol.Event) bool {
	return k.agent == "" || (k.agent == "sub") == (ev.Agent.Depth > 0)
}

// MayFit reports whether the keys could fit an event of which only the agent,
// and the tool if data names one, is known.
func (k *Keys) MayFit(ev *protocol.Event) bool {
	if !k.agentFits(ev) || len(k.tool) == 0 || len(ev.Data) == 0 {
		return k.agentFits(ev)
	}
	in := NewInput(ev)
	return !in.spec.Tool || !in.Scan() || k.toolFits(&in)
}
