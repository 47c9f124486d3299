package loader

import (
	"fmt"

	"github.com/hookd-dev/hookd/schema"
)

// The codes of what the loader finds in folders and trust records.
const (
	CodeBadHeader         schema.Code = "bad-header"
	CodeLateHeader        schema.Code = "header-too-late"
	CodeTwoSideFiles      schema.Code = "two-side-files"
	CodeBadSideFile       schema.Code = "side-file-unreadable"
	CodeNotRunnable       schema.Code = "hook-not-runnable"
	CodeNoSuchFile        schema.Code = "hook-file-missing"
	CodeMissingHelper     schema.Code = "helper-missing"
	CodeBadHelpers        schema.Code = "helpers-unusable"
	CodeNoAnswer          schema.Code = "describe-failed"
	CodeUntrusted         schema.Code = "hook-untrusted"
	CodeChanged           schema.Code = "hook-changed"
	CodeGone              schema.Code = "hook-gone"
	CodeTampered          schema.Code = "trusted-copy-damaged"
	CodeMaterialUntrusted schema.Code = "material-untrusted"
	CodeMaterialUnusable  schema.Code = "material-unusable"
	CodeNotAllowed        schema.Code = "hook-not-allowed-by-policy"
	CodeTooMany           schema.Code = "too-many-hooks"
	CodeRequiredMissing   schema.Code = "required-hook-missing"
	CodeUnsafeManaged     schema.Code = "managed-layer-unsafe"
	CodeUnreadable        schema.Code = "folder-unreadable"
	CodeLastGood          schema.Code = "last-good-settings"
	CodeBadRecords        schema.Code = "trust-records-unreadable"
	CodeStateFolder       schema.Code = "state-folder-unusable"
	CodePolling           schema.Code = "watch-by-polling"
	CodeUnread            schema.Code = "file-not-read"
	CodeNotFit            schema.Code = "not-fit-for-standby"
	CodeWarned            schema.Code = "run-warned"
	CodeSameHook          schema.Code = "same-hook"
	CodeSettingsUntrusted schema.Code = "settings-untrusted"
	CodeSettingsChanged   schema.Code = "settings-changed"
	CodeSettingsGone      schema.Code = "settings-gone"
	CodePassedOver        schema.Code = "folder-passed-over"
	CodeNoManaged         schema.Code = "no-machine-layer"
	CodeOuterUntrusted    schema.Code = "outer-project-untrusted"
	CodeFolderLifted      schema.Code = "folder-checks-lifted"
	CodeFolderNotLifted   schema.Code = "folder-checks-not-lifted"
	CodeUnwatched         schema.Code = "unwatched-code"
	CodeStarterReplaced   schema.Code = "interpreter-replaced"
	CodeNotPassed         schema.Code = "variable-not-passed"
	CodeDirNotAllowed     schema.Code = "project-folder-not-allowed"
	CodeOwnFolder         schema.Code = "own-folder-unusable"
	CodeStartsElsewhere   schema.Code = "starts-outside-project"
	CodeImportUnnamed     schema.Code = "import-not-in-files"
	CodeUndecided         schema.Code = "condition-undecided"
)

// Codes documents the codes of this package.
var Codes = []schema.CodeText{
	{Code: CodeBadHeader, Severity: schema.SeverityError, Meaning: "a hook: line that is no list of key=value pairs; the hook is rejected"},
	{Code: CodeLateHeader, Severity: schema.SeverityWarning, Meaning: "a hook: line behind line 40, which is not read"},
	{Code: CodeTwoSideFiles, Severity: schema.SeverityError, Meaning: "a hook has a .hook.json and a .hook.yaml; the hook is rejected"},
	{Code: CodeBadSideFile, Severity: schema.SeverityError, Meaning: "a side file that cannot be read; the hook is rejected"},
	{Code: CodeNotRunnable, Severity: schema.SeverityError, Meaning: "a file in a hooks folder, or a command, that cannot be run; the remedy is named"},
	{Code: CodeNoSuchFile, Severity: schema.SeverityError, Meaning: "a settings entry that describes a file which is not in the hooks folder"},
	{Code: CodeMissingHelper, Severity: schema.SeverityWarning, Meaning: "a path or pattern of files that nothing answers to"},
	{Code: CodeBadHelpers, Severity: schema.SeverityError, Meaning: "files that cannot be read, or are too many; the hook is not run"},
	{Code: CodeNoAnswer, Severity: schema.SeverityError, Meaning: "a program that was asked for its events and did not say; it is not loaded"},
	{Code: CodeUntrusted, Severity: schema.SeverityWarning, Meaning: "a hook of the project that nobody allowed yet; it is not run"},
	{Code: CodeChanged, Severity: schema.SeverityError, Meaning: "a hook that is not what was allowed any more; it is not run, and what it guarded fails under its rule"},
	{Code: CodeGone, Severity: schema.SeverityError, Meaning: "a hook that was allowed and is no longer there; what it guarded fails under its rule"},
	{Code: CodeTampered, Severity: schema.SeverityError, Meaning: "the private copy of an allowed hook is missing or was changed; it is not run"},
	{Code: CodeMaterialUntrusted, Severity: schema.SeverityWarning, Meaning: "a skill, recipe or MCP server of the project that nobody allowed, or that changed since; it is not used"},
	{Code: CodeMaterialUnusable, Severity: schema.SeverityError, Meaning: "a skill, recipe or MCP server that cannot be used as it is; the remedy is named"},
	{Code: CodeNotAllowed, Severity: schema.SeverityWarning, Meaning: "a hook that hooks.allow of the managed layer leaves out"},
	{Code: CodeTooMany, Severity: schema.SeverityError, Meaning: "more hooks than hooks.maxHooks; the first in running order are loaded"},
	{Code: CodeRequiredMissing, Severity: schema.SeverityError, Meaning: "a name in hooks.required that no hook has; every gate fails until it is there"},
	{Code: CodeUnsafeManaged, Severity: schema.SeverityError, Meaning: "a part of the managed layer that somebody else than root owns or may write; every gate is refused"},
	{Code: CodeUnreadable, Severity: schema.SeverityError, Meaning: "a hooks folder that cannot be listed; every gate is refused"},
	{Code: CodeLastGood, Severity: schema.SeverityError, Meaning: "settings that cannot be read; the last good ones are used"},
	{Code: CodeBadRecords, Severity: schema.SeverityError, Meaning: "trust records that cannot be read; every gate is refused"},
	{Code: CodeStateFolder, Severity: schema.SeverityError, Meaning: "a state folder that cannot be used, or that lies inside the project"},
	{Code: CodeUnread, Severity: schema.SeverityWarning, Meaning: "a file that was probably meant for hookd and that hookd does not read: another ending, or a side file without its hook"},
	{Code: CodeNotFit, Severity: schema.SeverityWarning, Meaning: "a standby hook that does something before it has read its event, as records show"},
	{Code: CodeWarned, Severity: schema.SeverityWarning, Meaning: "a hook as it is now, of whose answers something had to be said: context that was cut, state that is not kept, text besides the reply, another hook's change that it wrote over"},
	{Code: CodeSameHook, Severity: schema.SeverityWarning, Meaning: "the same file, or one with the same content, that is several hooks; each runs"},
	{Code: CodeSettingsUntrusted, Severity: schema.SeverityWarning, Meaning: "settings of the project that nobody allowed yet; nothing in them has an effect, and guards that they name refuse"},
	{Code: CodeSettingsChanged, Severity: schema.SeverityWarning, Meaning: "settings of the project that are not what was allowed any more; the copy that was allowed stays in force"},
	{Code: CodeSettingsGone, Severity: schema.SeverityWarning, Meaning: "settings of the project that were allowed and are no longer there; the copy stays in force"},
	{Code: CodePassedOver, Severity: schema.SeverityWarning, Meaning: "a folder whose .acai does not count: others own it, may write in it, or could have put it there; where it was allowed before, every gate is refused"},
	{Code: CodeNoManaged, Severity: schema.SeverityWarning, Meaning: "a system on which hookd has no machine layer (Windows)"},
	{Code: CodeOuterUntrusted, Severity: schema.SeverityWarning, Meaning: "a project above this one of which nobody allowed anything; it has no effect here"},
	{Code: CodeFolderLifted, Severity: schema.SeverityWarning, Meaning: "a folder for which hooks.trust.folders lifts the checks of owner and mode"},
	{Code: CodeFolderNotLifted, Severity: schema.SeverityWarning, Meaning: "an entry of hooks.trust.folders that has no effect: its folder or user is not there"},
	{Code: CodeUnwatched, Severity: schema.SeverityWarning, Meaning: "a hook or MCP server runs code of the project that is no part of what is allowed: its change is not seen"},
	{Code: CodeStarterReplaced, Severity: schema.SeverityWarning, Meaning: "the interpreter or program that was seen when a hook was allowed is gone; both paths are named"},
	{Code: CodeNotPassed, Severity: schema.SeverityWarning, Meaning: "a variable that makes programs load code; it is not passed to hooks of project or machine"},
	{Code: CodeDirNotAllowed, Severity: schema.SeverityWarning, Meaning: "a hook of user or machine that asks to start in the project, which nobody allowed; it is not run"},
	{Code: CodeOwnFolder, Severity: schema.SeverityWarning, Meaning: "the empty folder in which hooks of the user start cannot be used; they start in the root folder"},
	{Code: CodeStartsElsewhere, Severity: schema.SeverityWarning, Meaning: "a hook of user or machine that seems to expect the project as its working directory"},
	{Code: CodeImportUnnamed, Severity: schema.SeverityWarning, Meaning: "a hook loads a file beside it, or of the project, that its files do not name: the private copy does not find it"},
	{Code: CodeUndecided, Severity: schema.SeverityWarning, Meaning: "a condition reads a member of args that calls of a matched tool need not have: there it is undecided, and the hook is asked"},
	{Code: CodePolling, Severity: schema.SeverityWarning, Meaning: "the system has no more file watches; files are looked at every so often instead"},
}

// Told are the codes of what a person is told once in each process, whatever the
// command: what decides is not what lies in the files.
var Told = []schema.Code{CodeLastGood, CodeSettingsUntrusted, CodeSettingsChanged, CodeSettingsGone, CodePassedOver}

// newFinding takes severity from the list of codes.
func newFinding(code schema.Code, file string, line int, hook, message, remedy string) schema.Finding {
	f := schema.Finding{Severity: schema.SeverityError, Code: string(code), File: file, Message: message, Remedy: remedy}
	for _, c := range Codes {
		if c.Code == code {
			f.Severity = c.Severity
		}
	}
	if line > 0 {
		f.Line = &line
	}
	if hook != "" {
		f.Hook = &hook
	}
	return f
}

// findingf is newFinding for a message with parts.
func findingf(code schema.Code, file, hook, remedy, format string, args ...any) schema.Finding {
	return newFinding(code, file, 0, hook, fmt.Sprintf(format, args...), remedy)
}
