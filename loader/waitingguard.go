package loader

import (
	"path/filepath"
	"slices"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// waitingGuard stands for the guards that settings nobody allowed may hold, as
// far as they are no hooks of their own: names that are required, commands that
// are denied, and changes of hooks that were allowed before.
func waitingGuard(s *scope) *hookCandidate {
	if s.waiting == nil {
		return nil
	}
	events, match, why := waitingGuards(s)
	if len(events) == 0 {
		return nil
	}
	name := filepath.Base(s.waiting.file)
	_, required := s.waiting.settings.Values["hooks.required"] // nobody switches off what is required
	return &hookCandidate{
		subject: subject{scope: s, base: name, name: s.prefix + name, path: s.waiting.file, listed: true},
		standIn: "nobody allowed the settings yet, and they " + why,
		resolution: schema.Resolution{DescribedBy: schema.FromSettings, Hook: schema.Hook{
			Name: s.prefix + name, Layer: s.layer, Path: s.waiting.file, Events: events, Match: match, Can: protocol.CanBlock, Mode: protocol.Enforce,
			OnFailure: protocol.RuleBlock, Enabled: true, Run: schema.Once, Timeout: s.own.Hooks.Timeout,
			Required: required, Protocol: protocol.Version, Dialect: schema.Dialects[0],
		}},
	}
}

// waitingGuards are the events at which settings that wait may hold a guard, and
// in words why.
func waitingGuards(s *scope) (events []protocol.EventName, match schema.Match, why string) {
	settings := &s.waiting.settings
	listed := func(key string) bool {
		items, _ := settings.Values[key].V.([]string)
		return len(items) > 0
	}
	if listed("hooks.required") {
		return everywhere(), match, "require hooks"
	}
	add := func(more []protocol.EventName, reason string) {
		for _, event := range more {
			if !slices.Contains(events, event) {
				events = append(events, event)
			}
		}
		match, why = schema.Match{}, reason
	}
	if listed("agent.tools.bash.deny") {
		add([]protocol.EventName{protocol.ToolCallStart}, "deny commands")
		match.Tool = []string{"@shell"}
	}
	for i := range settings.Use {
		d := &settings.Use[i]
		if d.Name == nil || s.recordOf(*d.Name) == nil {
			continue // a hook of its own
		}
		r, _ := schema.Resolve(schema.Defaults{Layer: s.layer, Name: *d.Name}, *d)
		switch {
		case !r.Hook.Guards() && !(r.Rejected && r.Guards):
		case len(r.Hook.Events) == 0:
			add(everywhere(), "change a hook that was allowed")
		default:
			add(r.Hook.Events, "change a hook that was allowed")
		}
	}
	return events, match, why
}
