package trust

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/schema"
)

// failChanged decides about a hook that was allowed and is changed or gone. It stays in
// the set as what it was; if it could have refused anything, it fails there.
func (d *Decider) failChanged(f *DecidedHook, status executor.Status, kind protocol.FailureKind, code schema.Code, why, remedy string) {
	was, asked := d.wasAllowed(f)
	if f.Bundle != nil {
		was = stricter(was, f.Resolution.Hook)
	}
	f.Resolution = schema.Resolution{Hook: was, DescribedBy: asked}
	if was.Enabled && couldBlock(&was) {
		f.FailClosed(f.Name, status, kind, why, remedy)
	}
	f.Disable(status, why)
	f.Problem = nil
	file, line := f.Place()
	d.Add(report.New(code, file, line, f.Name, why, remedy))
}

// stricter is a hook that was changed, under the stricter of its recorded and its
// new rule, field by field, until somebody looks at it.
func stricter(was, now schema.Hook) schema.Hook {
	rank := func(r protocol.Rule) int {
		return slices.Index([]protocol.Rule{protocol.RuleContinue, protocol.RuleBlock, protocol.RuleStop}, r)
	}
	if rank(now.OnFailure) > rank(was.OnFailure) {
		was.OnFailure = now.OnFailure
	}
	was.Required = was.Required || now.Required
	if now.Mode == protocol.Enforce {
		was.Mode = protocol.Enforce
	}
	if couldBlock(&now) && was.Can == protocol.CanObserve {
		was.Can = now.Can
	}
	for _, event := range now.Events {
		if !slices.Contains(was.Events, event) {
			was.Events = append(slices.Clip(was.Events), event)
		}
	}
	if !reflect.DeepEqual(was.Match, now.Match) {
		was.Match = schema.Match{} // whichever matches, it is asked
	}
	was.ByDialect = was.ByDialect && now.ByDialect
	if was.Dialect != now.Dialect || was.Matcher != now.Matcher || !slices.Equal(was.Named, now.Named) {
		// Whichever agent's events and matcher fit, and whatever that agent does with failures.
		was.Dialect, was.Matcher, was.Named, was.ByDialect = foreignhooks.Own, "", nil, false
	}
	return was
}

// wasAllowed is the description a hook was allowed with. If the program itself
// named its events, its answer is looked up; if that is lost too, the hook is
// taken to be for every gate and point.
func (d *Decider) wasAllowed(f *DecidedHook) (schema.Hook, schema.Source) {
	var e bundle.Entry
	// The record was checked against its hash when it was read.
	_ = json.Unmarshal(f.Record.Bundle.Entry, &e)
	h := e.Hook(f.Scope.Layer, f.Name, f.Path, f.Scope.Own.Hooks.Timeout)
	if len(h.Events) > 0 {
		return h, ""
	}
	if answer := d.Answer(f.Hook, f.Record.Hash); answer != nil {
		described, _ := schema.Resolve(f.ProjectDefaults(), *answer)
		if h.Can == protocol.CanModify && h.OnFailure == protocol.RuleContinue {
			h.Can, h.OnFailure = described.Hook.Can, described.Hook.OnFailure
		}
		h.Events, h.Match, h.Mode = described.Hook.Events, described.Hook.Match, described.Hook.Mode
		h.Dialect, h.Named, h.Matcher, h.ByDialect = described.Hook.Dialect, described.Hook.Named, described.Hook.Matcher, described.Hook.ByDialect
		h.Required = h.Required || described.Hook.Required
	}
	if len(h.Events) == 0 {
		h.Events = candidate.Everywhere()
	}
	return h, schema.FromProgram
}

// difference says in a few words what is not as it was allowed.
func difference(f *candidate.Subject) string {
	var parts []string
	if f.Problem != nil {
		parts = append(parts, f.Problem.Why)
	}
	if f.Bundle == nil {
		return join(parts)
	}
	was := f.Record.Bundle
	if !bundle.SameJSON(was.Entry, f.Bundle.Entry) {
		parts = append(parts, "its description")
	}
	for _, m := range f.Bundle.Members {
		i := slices.IndexFunc(was.Members, func(o bundle.Member) bool { return o.Name == m.Name })
		switch {
		case i < 0:
			parts = append(parts, m.Name+" is new")
		case was.Members[i].Sum != m.Sum:
			parts = append(parts, m.Name)
		case was.Members[i].Mode != m.Mode:
			parts = append(parts, fmt.Sprintf("the mode of %s", m.Name))
		}
	}
	for _, m := range was.Members {
		if !slices.ContainsFunc(f.Bundle.Members, func(o bundle.Member) bool { return o.Name == m.Name }) {
			parts = append(parts, m.Name+" is missing")
		}
	}
	return join(parts)
}

func join(parts []string) string {
	const most = 5
	if len(parts) > most {
		parts = append(parts[:most:most], "…")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
