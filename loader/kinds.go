package loader

import "github.com/hookd-dev/hookd/loader/internal/records"

// Kind is what a person decides about: a hook, or what a project brings along for
// the agent loop.
type Kind = records.Kind

const (
	KindHook     = records.KindHook
	KindSkill    = records.KindSkill
	KindRecipe   = records.KindRecipe
	KindServer   = records.KindServer
	KindSettings = records.KindSettings
)
