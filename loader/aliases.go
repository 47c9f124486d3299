package loader

import (
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/rulefile"
	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/loader/internal/trust"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
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

	KindInstructions = records.KindInstructions
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

// What a person is shown before deciding: see [Trust.Plan].
type (
	Plan        = trust.Plan
	PlanItem    = trust.PlanItem
	PlanFile    = trust.PlanFile
	PlanVersion = trust.PlanVersion
)

// ShownHead is how much of the beginning of a long file a plan holds, in bytes.
const ShownHead = trust.ShownHead

// An IgnoredProjectError is [ErrNoProject] for an .acai folder that is there and does
// not count.
type IgnoredProjectError = trust.IgnoredProjectError

// Errors of deciding.
var (
	ErrNoProject    = trust.ErrNoProject
	ErrBelow        = trust.ErrBelow
	ErrChangedSince = trust.ErrChangedSince
)

// MayDecide refuses where a hook or an agent's tool is on the way up to this
// process: a person's decision is not theirs to make.
func MayDecide() error { return trust.MayDecide() }

// DecodeSettings returns the effective settings of texts in JSON, one for each
// layer that says something, without looking into any folder. The error is a
// [*schema.UnreadableError].
func DecodeSettings(texts map[protocol.Layer]string) (schema.Settings, []schema.Finding, error) {
	var layers []schema.LayerSettings
	var findings []schema.Finding
	for _, layer := range []protocol.Layer{protocol.Project, protocol.User, protocol.Managed} {
		text, said := texts[layer]
		if !said {
			continue
		}
		l, found, err := settings.Decode(string(layer)+".json", []byte(text), layer)
		if err != nil {
			return schema.Settings{}, found, err
		}
		layers, findings = append(layers, l), append(findings, found...)
	}
	merged, found := settings.Merge(layers...)
	return merged, append(findings, found...), nil
}

// PackName returns the name of the pack of rules that a file holds, "" if its name is not
// that of a file of rules.
func PackName(file string) string { return rulefile.PackOf(file) }

// Codes documents the codes of what the loader finds in folders, settings and trust
// records.
var Codes = report.Codes

// ToldOnce are the codes of findings that every command shows, once in each process:
// what decides is not what the files say.
var ToldOnce = report.ToldOnce

// The codes that other packages look for or report themselves.
const (
	CodeResourceUnusable  = report.ResourceUnusable
	CodeNotFit            = report.NotFit
	CodeFolderIgnored     = report.FolderIgnored
	CodeSettingsChanged   = report.SettingsChanged
	CodeSettingsUntrusted = report.SettingsUntrusted
	CodeStateFolder       = report.StateFolder
	CodeWarned            = report.Warned
)

// MayInstall refuses below a hook or a tool of hookd's, and not below other agents.
func MayInstall() error { return trust.MayInstall() }
