package loader

import "github.com/hookd-dev/hookd/loader/internal/report"

// Codes documents the codes of what the loader finds in folders, settings and trust
// records.
var Codes = report.Codes

// Told are the codes of what a person is told once in each process, whatever the
// command: what decides is not what lies in the files.
var Told = report.Told

// The codes that other packages look for or report themselves.
const (
	CodeMaterialUnusable  = report.MaterialUnusable
	CodeNotFit            = report.NotFit
	CodePassedOver        = report.PassedOver
	CodeSettingsChanged   = report.SettingsChanged
	CodeSettingsUntrusted = report.SettingsUntrusted
	CodeStateFolder       = report.StateFolder
	CodeWarned            = report.Warned
)
