package schema

import (
	"fmt"
	"strings"
)

// Severity says whether a finding keeps something from working.
type Severity string

const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Finding is one problem in what a person wrote: where it is, what is wrong and
// what to do about it.
type Finding struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"` // kebab-case, stable
	File     string   `json:"file"` // absolute path
	Line     *int     `json:"line"` // 1-based
	Path     *string  `json:"path"` // key path in a settings file, hooks.use[1].timeout
	Hook     *string  `json:"hook"`
	Message  string   `json:"message"`
	Remedy   string   `json:"remedy"`
}

// Pos is a place in a file.
type Pos struct {
	File string // absolute path
	Line int    // 1-based, 0 if unknown
	Path string // key path, hooks.use[1].timeout; "" in a header
}

// NewFinding returns a [Finding]; what is not known about the place is null.
func NewFinding(pos Pos, hook string, severity Severity, code Code, message, remedy string) Finding {
	f := Finding{Severity: severity, Code: string(code), File: pos.File, Message: message, Remedy: remedy}
	if pos.Line > 0 {
		f.Line = &pos.Line
	}
	if pos.Path != "" {
		f.Path = &pos.Path
	}
	if hook != "" {
		f.Hook = &hook
	}
	return f
}

// String writes a finding on one line: severity code file:line path (hook):
// message -> remedy.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", f.Severity, f.Code, f.File)
	if f.Line != nil {
		fmt.Fprintf(&b, ":%d", *f.Line)
	}
	if f.Path != nil {
		fmt.Fprintf(&b, " %s", *f.Path)
	}
	if f.Hook != nil {
		fmt.Fprintf(&b, " (%s)", *f.Hook)
	}
	return fmt.Sprintf("%s: %s -> %s", b.String(), f.Message, f.Remedy)
}

// Code names a kind of problem. Codes are kebab-case and stay as they are, so
// that a program may act on them.
type Code string

// The codes of what is wrong in settings and descriptions.
const (
	CodeUnreadable      Code = "settings-unreadable"
	CodeTwoFiles        Code = "settings-two-files"
	CodeUnknownKey      Code = "unknown-key"
	CodeDuplicateKey    Code = "duplicate-key"
	CodeWrongType       Code = "wrong-type"
	CodeBadValue        Code = "bad-value"
	CodeOutOfRange      Code = "out-of-range"
	CodeSecondsOrMillis Code = "seconds-or-milliseconds"
	CodeWrongLayer      Code = "wrong-layer"
	CodeLoosens         Code = "loosens-higher-layer"
	CodeWrongSource     Code = "wrong-source"
	CodeNameless        Code = "hook-nameless"
	CodeDuplicateName   Code = "hook-duplicate-name"
	CodeNoEvents        Code = "hook-no-events"
	CodeUnknownEvent    Code = "unknown-event"
	CodeNewerProtocol   Code = "newer-protocol"
	CodeConflict        Code = "conflicting-fields"
	CodeOverridden      Code = "overridden-by-required"
	CodeNoEffect        Code = "field-without-effect"
	CodeBadMatcher      Code = "bad-matcher"
	CodeMatchNoMeaning  Code = "matcher-without-meaning"
	CodeUnknownTool     Code = "matcher-unknown-tool"
	CodeMatchNever      Code = "matcher-matches-nothing"
	CodeUnknownSource   Code = "matcher-unknown-source"
	CodeOverBudget      Code = "timeout-over-budget"
	CodeTooMany         Code = "too-many-problems"
	CodeFailsOpen       Code = "dialect-fails-open"
)

// CodeText is one row of the list of codes.
type CodeText struct {
	Code     Code
	Severity Severity
	Meaning  string
}

// Codes documents the codes of this package. The loader has its own list for
// what it finds in folders.
var Codes = []CodeText{
	{CodeUnreadable, SeverityError, "the settings file cannot be read, is empty or half-written, or is not a document of its format; the last good set stays"},
	{CodeTwoFiles, SeverityError, "a layer has more than one settings file; the first of json, yaml, toml counts"},
	{CodeUnknownKey, SeverityError, "a key that has no meaning here; the nearest one is named"},
	{CodeDuplicateKey, SeverityError, "a key that is twice in one object; neither value counts"},
	{CodeWrongType, SeverityError, "a value of a type that the key does not take"},
	{CodeBadValue, SeverityError, "a value of the right type that is not one of those allowed"},
	{CodeOutOfRange, SeverityError, "a number, duration, size or list outside of its range"},
	{CodeSecondsOrMillis, SeverityWarning, "a bare number over 600 for a duration: it counts seconds, and milliseconds may have been meant"},
	{CodeWrongLayer, SeverityError, "a key that this layer may not set; it has no effect"},
	{CodeLoosens, SeverityWarning, "a value looser than that of a higher layer; it has no effect"},
	{CodeWrongSource, SeverityError, "a field that is not taken from this kind of source"},
	{CodeNameless, SeverityError, "an entry of hooks.use without a name"},
	{CodeDuplicateName, SeverityError, "a second entry for the same hook in one layer"},
	{CodeNoEvents, SeverityError, "no source names the hook's events; it is not loaded"},
	{CodeUnknownEvent, SeverityError, "an event name that is neither one of hookd's nor an alias; the nearest one is named"},
	{CodeNewerProtocol, SeverityError, "the hook was written for a newer protocol than this version speaks"},
	{CodeConflict, SeverityError, "two fields that exclude each other"},
	{CodeOverridden, SeverityWarning, "a field without effect, because hooks.required names the hook"},
	{CodeNoEffect, SeverityWarning, "a field that has no effect next to the others"},
	{CodeBadMatcher, SeverityError, "a tool pattern that cannot be a name, a glob, a /RE2/ or a kind"},
	{CodeMatchNoMeaning, SeverityWarning, "a key of match that does not restrict at some of the events"},
	{CodeMatchNever, SeverityWarning, "keys of match of which no call that hookd knows holds all: match.command is about shells, match.path about files"},
	{CodeUnknownTool, SeverityWarning, "a tool pattern that no known tool matches"},
	{CodeUnknownSource, SeverityWarning, "a value of match.source that no event has"},
	{CodeTooMany, SeverityError, "the file has more problems than are listed"},
	{CodeFailsOpen, SeverityWarning, "a hook of another agent's dialect could refuse and states no onFailure: that agent goes on when such a hook crashes"},
	{CodeOverBudget, SeverityWarning, "a hook's time limit over the budget of its event; the budget ends it first"},
}

// CodesMarkdown returns the codes as a table for the documentation.
func CodesMarkdown(codes ...CodeText) string {
	var b strings.Builder
	b.WriteString("| code | severity | meaning |\n|---|---|---|\n")
	for _, c := range codes {
		b.WriteString("| `" + string(c.Code) + "` | " + string(c.Severity) + " | " + c.Meaning + " |\n")
	}
	return b.String()
}
