package discover

import (
	"path/filepath"
	"slices"

	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// waitingGuard returns a hook that stands for the guards that settings nobody allowed may hold, as
// far as they are no hooks of their own: names that are required, commands that
// are denied, and changes of hooks that were allowed before.
func waitingGuard(s *candidate.Scope) *candidate.Hook {
	if s.File.Waiting == nil {
		return nil
	}
	events, match, why := waitingGuards(s)
	if len(events) == 0 {
		return nil
	}
	f := standIn(s, filepath.Base(s.File.Waiting.File), s.File.Waiting.File, events, match)
	f.StandIn = &candidate.StandIn{Why: "nobody allowed the settings yet, and they " + why, Remedy: s.TrustRemedy(), Kind: protocol.FailUntrusted}
	_, f.Resolution.Hook.Required = s.File.Waiting.Settings.Values["hooks.required"] // nobody switches off what is required
	return f
}

// standIn returns a hook that refuses events in the place of guards that nobody knows.
func standIn(s *candidate.Scope, name, file string, events []protocol.EventName, match schema.Match) *candidate.Hook {
	return &candidate.Hook{
		Subject: candidate.Subject{Scope: s, Base: name, Name: s.Prefix + name, Path: file, Listed: true},
		Resolution: schema.Resolution{DescribedBy: schema.FromSettings, Hook: schema.Hook{
			Name: s.Prefix + name, Layer: s.Layer, Path: file, Events: events, Match: match, Can: protocol.CanBlock, Mode: protocol.Enforce,
			OnFailure: protocol.RuleBlock, Enabled: true, Run: schema.Once, Timeout: s.Own.Hooks.Timeout,
			Protocol: protocol.Version, Dialect: schema.Dialects[0],
		}},
	}
}

// waitingGuards are the events at which settings that wait may hold a guard, and
// in words why.
func waitingGuards(s *candidate.Scope) (events []protocol.EventName, match schema.Match, why string) {
	settings := &s.File.Waiting.Settings
	listed := func(key string) bool {
		items, _ := settings.Values[key].V.([]string)
		return len(items) > 0
	}
	if listed("hooks.required") {
		return candidate.Everywhere(), match, "require hooks"
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
		if d.Name == nil || s.Decided.RecordOf(*d.Name) == nil {
			continue // a hook of its own
		}
		r, _ := schema.Resolve(schema.Defaults{Layer: s.Layer, Name: *d.Name}, *d)
		switch {
		case !r.Hook.Guards() && !(r.Rejected && r.Guards):
		case len(r.Hook.Events) == 0:
			add(candidate.Everywhere(), "change a hook that was allowed")
		default:
			add(r.Hook.Events, "change a hook that was allowed")
		}
	}
	return events, match, why
}
