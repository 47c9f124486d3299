package schema

import (
	"slices"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/schema/document"
	"github.com/hookd-dev/hookd/schema/units"
)

// Entry is one hook's description as one source wrote it: a settings entry, a
// comment header, a side file or the program's own answer. A field that is nil
// was not written there.
//
// The tag from names the sources a field is taken from: S settings entry, H
// header, F side file, D answer of the program.
type Entry struct {
	Name        *string         `json:"name,omitzero" from:"S" validate:"omitnil,min=1,max=255,hookname" jsonschema:"which file of this layer's hooks folder the entry describes, extension included, or the name of a command hook; unique in its layer"`
	Command     CommandLine     `json:"command,omitzero" from:"S" validate:"omitnil,min=1,max=1000,dive,max=131072" jsonschema:"a program instead of a file: absolute, ./ from the project root (of user and machine from the folder of their settings), or found on PATH; the first item is the program, and no shell reads it. For a hook of another agent's dialect also one string, which /bin/sh reads"`
	Args        []string        `json:"args,omitzero" from:"SFD" validate:"omitnil,max=1000,dive,max=131072" jsonschema:"arguments of the hook file"`
	Description *string         `json:"description,omitzero" from:"SHFD" validate:"omitnil,max=200" jsonschema:"what the hook is for, up to 200 characters"`
	Protocol    *int            `json:"protocol,omitzero" from:"HFD" validate:"omitnil,min=1" jsonschema:"version of the protocol the hook was written for"`
	Events      Events          `json:"events,omitzero" from:"SHFD" validate:"omitnil,min=1,max=100" jsonschema:"names of events or aliases of them, or with another agent's dialect that agent's own names; * is all gates and points, without the notices"`
	Reply       *ReplyEntry     `json:"reply,omitzero" from:"S" validate:"omitnil" jsonschema:"the answer itself, in place of a program: such an entry is a rule, which is asked as any hook and starts nothing"`
	Match       *MatchEntry     `json:"match,omitzero" from:"SHFD" validate:"omitnil" jsonschema:"narrows the events; all given keys must hold"`
	Matcher     *string         `json:"matcher,omitzero" from:"SHFD" validate:"omitnil,max=4096" jsonschema:"of a hook of another agent's dialect: its matcher, compared as that agent does (names of tools as the agent has them)"`
	Can         *string         `json:"can,omitzero" from:"SHFD" validate:"omitnil,oneof=observe block modify" jsonschema:"what the hook may answer"`
	Mode        *string         `json:"mode,omitzero" from:"SHFD" validate:"omitnil,oneof=enforce audit" jsonschema:"audit: the answer is recorded and has no effect"`
	Priority    *int            `json:"priority,omitzero" from:"SHFD" validate:"omitnil,min=-1000,max=1000" jsonschema:"higher first within class and layer"`
	Timeout     *units.Duration `json:"timeout,omitzero" from:"SHFD" validate:"omitnil,min=10ms,max=10m" jsonschema:"limit for one event; a bare number is seconds, or with another agent's dialect what it is there"`
	OnFailure   *string         `json:"onFailure,omitzero" from:"SHFD" validate:"omitnil,oneof=continue block stop" jsonschema:"what happens when the hook cannot be asked or its answer cannot be read"`
	Required    *bool           `json:"required,omitzero" from:"SHFD" jsonschema:"the event passes only if this hook answered"`
	Run         *string         `json:"run,omitzero" from:"SHFD" validate:"omitnil,oneof=once standby resident" jsonschema:"how the hook's process lives"`
	Env         []string        `json:"env,omitzero" from:"SHFD" validate:"omitnil,max=1000,dive,envname" jsonschema:"names of variables passed in addition to the allow list; names only, never values"`
	Files       []string        `json:"files,omitzero" from:"SHFD" validate:"omitnil,max=1000,dive,below" jsonschema:"helpers the hook loads: paths or globs below the hook's folder; part of what is trusted and copied"`
	InPlace     *bool           `json:"inPlace,omitzero" from:"SHF" jsonschema:"run among the other files of the hook's folder, which are not trusted, and not in the trusted copy alone"`
	Dir         *string         `json:"dir,omitzero" from:"SHF" validate:"omitnil,oneof=own project" jsonschema:"where a hook of user or machine starts: own is an empty folder, project the project's root, which counts only where the project was allowed; hooks of a project always start in its root"`
	Sensitive   *bool           `json:"sensitive,omitzero" from:"SHFD" jsonschema:"records keep only hashes of what the hook saw and changed, and no screen shows what it changed or what else it wrote"`
	Dialect     *string         `json:"dialect,omitzero" from:"SHFD" validate:"omitnil,dialect" jsonschema:"whose protocol the hook speaks: its events, stdin, variables, exit codes and replies"`
	Enabled     *bool           `json:"enabled,omitzero" from:"S" jsonschema:"false switches the hook off"`
	Tests       *Tests          `json:"tests,omitzero" from:"S" validate:"-" jsonschema:"tests of the hook, each as in a test file (HOOK.test.yaml): hookd test runs them; no event does, and they are no part of what is allowed"`
}

// Tests are the tests that a settings entry carries. They are read by the one who runs them
// (package testfile): a wrong one must not switch a guard off.
type Tests struct {
	File, Path string         // where they were written, and the path of keys that leads there
	List       *document.Node // as they were written
}

// MatchEntry is a matcher as written. Tool takes one string or a list.
type MatchEntry struct {
	Tool    OneOrMany `json:"tool,omitzero" validate:"omitnil,min=1,max=1000" jsonschema:"exact name, glob, /RE2/ or kind (@shell @read @write @net @mcp @agent); the whole name must match and case counts"`
	Source  []string  `json:"source,omitzero" validate:"omitnil,min=1,max=100,dive,min=1" jsonschema:"values of data.source"`
	Agent   *string   `json:"agent,omitzero" validate:"omitnil,oneof=main sub" jsonschema:"the top agent or a sub-agent"`
	Step    *string   `json:"step,omitzero" validate:"omitnil,oneof=final tools" jsonschema:"type of step, at inference-end and step-stop"`
	Command OneOrMany `json:"command,omitzero" validate:"omitnil,min=1,max=1000,dive,shellpattern" jsonschema:"of calls of shells: command, glob or /RE2/ for any simple command of the line, behind sudo, env, sh -c and the like too; what cannot be told before it runs counts as a match of a guard"`
	Path    OneOrMany `json:"path,omitzero" validate:"omitnil,min=1,max=1000,dive,pathpattern" jsonschema:"of calls that read or write files: globs for the real path, links followed; without a slash a name anywhere, else from the project's root, / or ~/"`
	When    *string   `json:"when,omitzero" validate:"omitnil,min=1,max=10000" jsonschema:"expr-lang expression of type bool over the event's fields and metadata"`
}

// ReplyEntry is the answer of a rule as written.
type ReplyEntry struct {
	Action  *string `json:"action,omitzero" validate:"omitnil,oneof=block ask allow observe" jsonschema:"block refuses, ask lets a person decide, allow grants at permission-request; without it the rule only says context or a notice"`
	Reason  *string `json:"reason,omitzero" validate:"omitnil,min=1,max=4096" jsonschema:"what the model and the person read; may name parts of the event: ${data.args.command}"`
	Context *string `json:"context,omitzero" validate:"omitnil,min=1,max=65536" jsonschema:"text for the model"`
	Notice  *string `json:"notice,omitzero" validate:"omitnil,min=1,max=4096" jsonschema:"text for the person"`
}

// CommandLine is a program and its arguments.
type CommandLine []string

// OneOrMany is a list that may be written as one string.
type OneOrMany []string

// Events is a list of event names or aliases as written; the string * alone
// stands for all gates and points.
type Events []string

// AllEvents is the name that stands for every gate and point.
const AllEvents = "*"

// Source is where a description was written.
type Source string

const (
	FromSettings Source = "settings"
	FromHeader   Source = "header"
	FromSideFile Source = "side-file"
	FromProgram  Source = "asked"
	FromImport   Source = "import" // another agent's settings
)

// sources are all sources, the strongest first, with their letter in the tag
// from.
var sources = []struct {
	source Source
	letter string
	name   string
}{
	{FromSettings, "S", "a settings entry"},
	{FromHeader, "H", "a header"},
	{FromSideFile, "F", "a side file"},
	{FromProgram, "D", "an answer to describe"},
	{FromImport, "I", "another agent's settings"},
}

// Over reports whether what s says of a field counts before what other says.
func (s Source) Over(other Source) bool {
	for _, known := range sources {
		if known.source == s || known.source == other {
			return known.source == s && s != other
		}
	}
	return false
}

// Described is one description with its place and what is wrong with it.
//
// One with Faults is rejected as a whole, and so is the hook it is about. What
// could be read of it is kept all the same, because that decides whether the
// hook could be a guard.
type Described struct {
	Entry
	From Source
	Pos  Pos
	Hook string // name of the hook as far as it is known

	// Faults names the fields that cannot be read; for an unknown key the field
	// that was probably meant.
	Faults []string

	fields map[string]Pos // place of each field that was written
}

// At returns the place of a field, or that of the whole description.
func (d *Described) At(field string) Pos {
	if pos, ok := d.fields[field]; ok {
		return pos
	}
	return d.Pos
}

// NamesEvents reports whether any of the descriptions names events, readable or
// not. If none does, the program itself may be asked.
func NamesEvents(described ...Described) bool {
	for i := range described {
		if described[i].Events != nil || slices.Contains(described[i].Faults, "events") {
			return true
		}
	}
	return false
}

// Known protocol versions and dialects.
const knownProtocol = protocol.Version

// Dialects are the protocols hookd speaks with a hook, its own first.
var Dialects = foreignhooks.Names()

// RunMode is how a hook's process lives.
type RunMode string

const (
	Once     RunMode = "once"     // one process per event
	Standby  RunMode = "standby"  // the next process already waits on stdin
	Resident RunMode = "resident" // one process per session
)
