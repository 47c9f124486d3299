package loader

import (
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/trust"
)

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

// SettingsState says whether a settings file counts.
type SettingsState = candidate.SettingsState

const (
	SettingsInForce    = candidate.SettingsInForce
	SettingsUntrusted  = candidate.SettingsUntrusted
	SettingsChanged    = candidate.SettingsChanged
	SettingsGone       = candidate.SettingsGone
	SettingsDenied     = candidate.SettingsDenied
	SettingsUnreadable = candidate.SettingsUnreadable
)

// State is what the trust records say about a hook of a project.
type State = trust.State

const (
	StateTrusted = trust.StateTrusted
	StateNew     = trust.StateNew
	StateChanged = trust.StateChanged
	StateGone    = trust.StateGone
	StateDenied  = trust.StateDenied
)

// What a person is shown before deciding.
type (
	Plan     = trust.Plan
	PlanItem = trust.PlanItem
	PlanFile = trust.PlanFile
)

// ShownHead is how much of the beginning of a long file a plan holds, in bytes.
const ShownHead = trust.ShownHead

// A PassedOverError is ErrNoProject where an .acai folder is there and does not
// count.
type PassedOverError = trust.PassedOverError

// Errors of deciding.
var (
	ErrNoProject    = trust.ErrNoProject
	ErrBelow        = trust.ErrBelow
	ErrChangedSince = trust.ErrChangedSince
)

// MayDecide refuses where a hook or an agent's tool is on the way up to this
// process: a person's decision is not theirs to make.
func MayDecide() error { return trust.MayDecide() }
