package report

import (
	"fmt"

	"github.com/hookd-dev/hookd/schema"
)

// The codes of what the loader finds in folders and trust records.
const (
	BadHeader         schema.Code = "bad-header"
	LateHeader        schema.Code = "header-too-late"
	TwoSideFiles      schema.Code = "two-side-files"
	BadSideFile       schema.Code = "side-file-unreadable"
	BadRules          schema.Code = "rules-unreadable"
	NotRunnable       schema.Code = "hook-not-runnable"
	NoSuchFile        schema.Code = "hook-file-missing"
	MissingHelper     schema.Code = "helper-missing"
	BadHelpers        schema.Code = "helpers-unusable"
	NoAnswer          schema.Code = "describe-failed"
	Untrusted         schema.Code = "hook-untrusted"
	Changed           schema.Code = "hook-changed"
	Gone              schema.Code = "hook-gone"
	Tampered          schema.Code = "trusted-copy-damaged"
	ResourceUntrusted schema.Code = "material-untrusted"
	ResourceUnusable  schema.Code = "material-unusable"
	NotAllowed        schema.Code = "hook-not-allowed-by-policy"
	TooMany           schema.Code = "too-many-hooks"
	RequiredMissing   schema.Code = "required-hook-missing"
	UnsafeManaged     schema.Code = "managed-layer-unsafe"
	Unreadable        schema.Code = "folder-unreadable"
	LastGood          schema.Code = "last-good-settings"
	BadRecords        schema.Code = "trust-records-unreadable"
	StateFolder       schema.Code = "state-folder-unusable"
	Polling           schema.Code = "watch-by-polling"
	Unread            schema.Code = "file-not-read"
	NotFit            schema.Code = "not-fit-for-standby"
	Warned            schema.Code = "run-warned"
	SameHook          schema.Code = "same-hook"
	SettingsUntrusted schema.Code = "settings-untrusted"
	SettingsChanged   schema.Code = "settings-changed"
	SettingsGone      schema.Code = "settings-gone"
	FolderIgnored     schema.Code = "folder-passed-over"
	NoManaged         schema.Code = "no-machine-layer"
	OuterIgnored      schema.Code = "outer-project-untrusted"
	ChecksLifted      schema.Code = "folder-checks-lifted"
	ChecksNotLifted   schema.Code = "folder-checks-not-lifted"
	Unwatched         schema.Code = "unwatched-code"
	StarterReplaced   schema.Code = "interpreter-replaced"
	NotPassed         schema.Code = "variable-not-passed"
	DirNotAllowed     schema.Code = "project-folder-not-allowed"
	OwnFolder         schema.Code = "own-folder-unusable"
	StartsElsewhere   schema.Code = "starts-outside-project"
	ImportUnnamed     schema.Code = "import-not-in-files"
	Undecided         schema.Code = "condition-undecided"
	SpeaksOtherwise   schema.Code = "speaks-other-dialect"
	ImportUnreadable  schema.Code = "import-unreadable"
	ImportFaulty      schema.Code = "import-faulty"
	ImportPart        schema.Code = "import-not-carried-over"
	ImportOurs        schema.Code = "import-starts-hookd"
)

// Codes documents the codes of this package.
var Codes = []schema.CodeText{
	{Code: BadHeader, Severity: schema.SeverityError, Meaning: "a hook: line that is not a list of key=value pairs; the hook is rejected"},
	{Code: LateHeader, Severity: schema.SeverityWarning, Meaning: "a hook: line after line 40, which is not read"},
	{Code: TwoSideFiles, Severity: schema.SeverityError, Meaning: "a hook has a .hook.json and a .hook.yaml; the hook is rejected"},
	{Code: BadSideFile, Severity: schema.SeverityError, Meaning: "a side file that cannot be read; the hook is rejected"},
	{Code: BadRules, Severity: schema.SeverityError, Meaning: "a file of rules that cannot be read; it may hold guards, so every gate is refused"},
	{Code: NotRunnable, Severity: schema.SeverityError, Meaning: "a file in a hooks folder, or a command, that cannot be run; the remedy is named"},
	{Code: NoSuchFile, Severity: schema.SeverityError, Meaning: "a settings entry that describes a file which is not in the hooks folder"},
	{Code: MissingHelper, Severity: schema.SeverityWarning, Meaning: "a path or pattern in files that fits no file"},
	{Code: BadHelpers, Severity: schema.SeverityError, Meaning: "files that cannot be read, or are too many; the hook is not run"},
	{Code: NoAnswer, Severity: schema.SeverityError, Meaning: "a program that was asked for its events and did not say; it is not loaded"},
	{Code: Untrusted, Severity: schema.SeverityWarning, Meaning: "a hook of the project that nobody allowed yet; it is not run"},
	{Code: Changed, Severity: schema.SeverityError, Meaning: "a hook that changed after it was allowed; it is not run, and what it guarded fails under its rule"},
	{Code: Gone, Severity: schema.SeverityError, Meaning: "a hook that was allowed and is no longer there; what it guarded fails under its rule"},
	{Code: Tampered, Severity: schema.SeverityError, Meaning: "the private copy of an allowed hook is missing or was changed; it is not run"},
	{Code: ResourceUntrusted, Severity: schema.SeverityWarning, Meaning: "a skill, recipe, MCP server or instruction file of the project that nobody allowed, or that changed since; it is not used"},
	{Code: ResourceUnusable, Severity: schema.SeverityError, Meaning: "a skill, recipe, MCP server or instruction file that cannot be used as it is; the remedy is named"},
	{Code: NotAllowed, Severity: schema.SeverityWarning, Meaning: "a hook that hooks.allow of the managed layer leaves out"},
	{Code: TooMany, Severity: schema.SeverityError, Meaning: "more hooks than hooks.maxHooks; the first in running order are loaded"},
	{Code: RequiredMissing, Severity: schema.SeverityError, Meaning: "a name in hooks.required that no hook has; every gate fails until it is there"},
	{Code: UnsafeManaged, Severity: schema.SeverityError, Meaning: "a part of the managed layer that somebody other than root owns or may write; every gate is refused"},
	{Code: Unreadable, Severity: schema.SeverityError, Meaning: "a hooks folder that cannot be listed; every gate is refused"},
	{Code: LastGood, Severity: schema.SeverityError, Meaning: "settings that cannot be read; the last good ones are used"},
	{Code: BadRecords, Severity: schema.SeverityError, Meaning: "trust records that cannot be read; every gate is refused"},
	{Code: StateFolder, Severity: schema.SeverityError, Meaning: "a state folder that cannot be used, or that lies inside the project"},
	{Code: Unread, Severity: schema.SeverityWarning, Meaning: "a file that was probably meant for hookd and that hookd does not read: another ending, or a side file without its hook"},
	{Code: NotFit, Severity: schema.SeverityWarning, Meaning: "a standby hook that does something before it has read its event, as records show"},
	{Code: Warned, Severity: schema.SeverityWarning, Meaning: "answers of a hook, as the hook is now, had warnings: context that was cut, state that is not kept, text around the reply, another hook's change that it overwrote"},
	{Code: SameHook, Severity: schema.SeverityWarning, Meaning: "the same file, or files with the same content, are several hooks; each runs"},
	{Code: SettingsUntrusted, Severity: schema.SeverityWarning, Meaning: "settings of the project that nobody allowed yet; nothing in them has an effect, and guards that they name refuse"},
	{Code: SettingsChanged, Severity: schema.SeverityWarning, Meaning: "settings of the project that changed after they were allowed; the copy that was allowed stays in force"},
	{Code: SettingsGone, Severity: schema.SeverityWarning, Meaning: "settings of the project that were allowed and are no longer there; the copy stays in force"},
	{Code: FolderIgnored, Severity: schema.SeverityWarning, Meaning: "a folder whose .acai does not count: others own it, may write in it, or could have put it there; where it was allowed before, every gate is refused"},
	{Code: NoManaged, Severity: schema.SeverityWarning, Meaning: "a system on which hookd has no machine layer (Windows)"},
	{Code: OuterIgnored, Severity: schema.SeverityWarning, Meaning: "a project above this one in which nobody allowed anything; it has no effect here"},
	{Code: ChecksLifted, Severity: schema.SeverityWarning, Meaning: "a folder for which hooks.trust.folders lifts the checks of owner and mode"},
	{Code: ChecksNotLifted, Severity: schema.SeverityWarning, Meaning: "an entry of hooks.trust.folders that has no effect: its folder or user is not there"},
	{Code: Unwatched, Severity: schema.SeverityWarning, Meaning: "a hook or MCP server runs code of the project that is not part of what is allowed: hookd does not see its changes"},
	{Code: StarterReplaced, Severity: schema.SeverityWarning, Meaning: "the interpreter or program that was seen when a hook was allowed is gone; both paths are named"},
	{Code: NotPassed, Severity: schema.SeverityWarning, Meaning: "a variable that makes programs load code; it is not passed to hooks of project or machine"},
	{Code: DirNotAllowed, Severity: schema.SeverityWarning, Meaning: "a hook of user or machine that asks to start in the project, which nobody allowed; it is not run"},
	{Code: OwnFolder, Severity: schema.SeverityWarning, Meaning: "the empty folder in which hooks of the user start cannot be used; they start in the root folder"},
	{Code: StartsElsewhere, Severity: schema.SeverityWarning, Meaning: "a hook of user or machine that seems to expect the project as its working directory"},
	{Code: ImportUnnamed, Severity: schema.SeverityWarning, Meaning: "a hook loads a file of its folder, or of the project, that its files do not name: the private copy does not find it"},
	{Code: SpeaksOtherwise, Severity: schema.SeverityWarning, Meaning: "a hook's text has words that only hooks of another agent have, and it does not say that it speaks that dialect"},
	{Code: Undecided, Severity: schema.SeverityWarning, Meaning: "a condition reads a member of args that calls of a matched tool need not have: there it is undecided, and the hook is asked"},
	{Code: ImportUnreadable, Severity: schema.SeverityError, Meaning: "settings of another agent that hooks.import names and that cannot be read; events that a hook of that agent can refuse are refused"},
	{Code: ImportFaulty, Severity: schema.SeverityError, Meaning: "an entry of another agent's settings that cannot be read; it is not run, and where it could have refused the event is refused"},
	{Code: ImportPart, Severity: schema.SeverityWarning, Meaning: "an entry of another agent's settings, or a part of one, that is not carried over: a type of hook that is no program, an event that hookd does not have, a member without effect here"},
	{Code: ImportOurs, Severity: schema.SeverityWarning, Meaning: "an entry of another agent's settings that starts hookd; it is not imported, because the hooks that it would ask are asked anyway"},
	{Code: Polling, Severity: schema.SeverityWarning, Meaning: "the system has no more file watches; hookd looks at the files at intervals instead"},
}

// ToldOnce are the codes of findings that every command shows, once in each process:
// what decides is not what the files say.
var ToldOnce = []schema.Code{LastGood, SettingsUntrusted, SettingsChanged, SettingsGone, FolderIgnored}

// New returns a finding, with the severity that the list of codes has for it.
func New(code schema.Code, file string, line int, hook, message, remedy string) schema.Finding {
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

// Newf is New for a message with parts.
func Newf(code schema.Code, file, hook, remedy, format string, args ...any) schema.Finding {
	return New(code, file, 0, hook, fmt.Sprintf(format, args...), remedy)
}

// A Problem is why something cannot run, and what to do about it.
type Problem struct {
	Why, Remedy string
}

func (t *Problem) String() string { return t.Why }
