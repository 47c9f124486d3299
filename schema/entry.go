package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
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
}

// MatchEntry is a matcher as written. Tool takes one string or a list.
type MatchEntry struct {
	Tool   OneOrMany `json:"tool,omitzero" validate:"omitnil,min=1,max=1000" jsonschema:"exact name, glob, /RE2/ or kind (@shell @read @write @net @mcp @agent); the whole name must match and case counts"`
	Source []string  `json:"source,omitzero" validate:"omitnil,min=1,max=100,dive,min=1" jsonschema:"values of data.source"`
	Agent  *string   `json:"agent,omitzero" validate:"omitnil,oneof=main sub" jsonschema:"the top agent or a sub-agent"`
	Step   *string   `json:"step,omitzero" validate:"omitnil,oneof=final tools" jsonschema:"type of step, at inference-end and step-stop"`
	When   *string   `json:"when,omitzero" validate:"omitnil,min=1,max=10000" jsonschema:"expr-lang expression of type bool over the event's fields and metadata"`
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
var Dialects = dialect.Names()

// DecodeEntry reads one description: an item of hooks.use, a side file, the
// answer of a program. pos is its place and hook the name of the hook as far as
// it is known; a settings entry says it itself. The result is rejected, and
// says so by Faults, if any part of it does not fit.
func DecodeEntry(n *document.Node, source Source, pos Pos, hook string) (Described, []Finding) {
	if source == FromSettings {
		if name := n.Get("name"); name != nil && name.Kind == document.String && isHookName(name.Text) {
			hook = name.Text
		}
	}
	if n.Line > 0 {
		pos.Line = n.Line
	}
	d := Described{From: source, Pos: pos, Hook: hook}
	r := &reader{file: pos.File, hook: hook, foreign: foreignOf(n)}
	if n.Kind != document.Object {
		what := pos.Path
		if what == "" {
			what = "the description"
		}
		r.fault(n, pos.Path, CodeWrongType, fmt.Sprintf("%s is %s, not an object", lastKey(what), describe(n)), `write an object: {"events": ["tool-call-start"], "can": "block"}`)
		d.Faults = fieldNames(reflect.ValueOf(Entry{}))
		return d, r.findings
	}
	d.Faults, d.fields = r.object(n, pos.Path, reflect.ValueOf(&d.Entry).Elem(), shape{source: source})
	d.Faults = append(d.Faults, r.checkStruct(n, pos.Path, &d.Entry)...)
	if !r.toolPatterns(n, pos.Path, d.Match) {
		d.Faults = append(d.Faults, "match")
	}
	if source == FromSettings && d.Name == nil && n.Get("name") == nil {
		r.fault(n, pos.Path, CodeNameless, "the entry has no name", `add "name": the file in the hooks folder it describes, or a name for its command`)
		d.Faults = append(d.Faults, "name")
	}
	if d.Protocol != nil && *d.Protocol > knownProtocol {
		at := d.At("protocol")
		r.at(at, SeverityError, CodeNewerProtocol, fmt.Sprintf("the hook was written for protocol %d, this version speaks %d", *d.Protocol, knownProtocol), "update hookd, or write the hook for protocol "+fmt.Sprint(knownProtocol))
		d.Faults = append(d.Faults, "protocol")
	}
	d.forget()
	return d, r.said()
}

// forget drops the values of faulty fields, so that what is left can be relied
// on.
func (d *Described) forget() {
	slices.Sort(d.Faults)
	d.Faults = slices.Compact(d.Faults)
	v := reflect.ValueOf(&d.Entry).Elem()
	for _, f := range fieldsOf(v.Type()) {
		if slices.Contains(d.Faults, f.name) {
			v.Field(f.index).SetZero()
		}
	}
}

// Pair is one key=value of a comment header, the quotes around the value
// removed.
type Pair struct {
	Key   string
	Value string
	Line  int // 1-based
}

// EntryFromPairs reads a comment header: keys may be nested with a dot
// (match.tool), lists use commas.
func EntryFromPairs(file, hook string, pairs []Pair) (Described, []Finding) {
	root := &document.Node{Kind: document.Object}
	for _, p := range pairs {
		if root.Line == 0 {
			root.Line = p.Line
		}
		at, keys := root, strings.Split(p.Key, ".")
		for _, key := range keys[:len(keys)-1] {
			at = nested(at, key, p.Line)
		}
		value := &document.Node{Kind: document.Word, Text: p.Value, Line: p.Line}
		at.Members = append(at.Members, document.Member{Key: keys[len(keys)-1], Line: p.Line, Value: value})
	}
	return DecodeEntry(root, FromHeader, Pos{File: file}, hook)
}

// nested returns the object of a key, which it makes if it is not there.
func nested(n *document.Node, key string, line int) *document.Node {
	if child := n.Get(key); child != nil && child.Kind == document.Object {
		return child
	}
	child := &document.Node{Kind: document.Object, Line: line}
	n.Members = append(n.Members, document.Member{Key: key, Line: line, Value: child})
	return child
}

// splitWords splits a word at its commas. A comma inside braces or inside a
// /regular expression/ belongs to the item.
func splitWords(n *document.Node) []*document.Node {
	var items []*document.Node
	if n.Text == "" {
		return nil
	}
	begin, depth, expression := 0, 0, false
	for i := 0; i <= len(n.Text); i++ {
		if i < len(n.Text) {
			switch c := n.Text[i]; {
			case c == '/' && i == begin:
				expression = closes(n.Text[i+1:])
				continue
			case c == '/' && expression && (i+1 == len(n.Text) || n.Text[i+1] == ','):
				expression = false
				continue
			case c == '{':
				depth++
				continue
			case c == '}':
				depth--
				continue
			case c != ',' || expression || depth > 0:
				continue
			}
		}
		items = append(items, &document.Node{Kind: document.Word, Text: n.Text[begin:i], Line: n.Line})
		begin, depth = i+1, 0
	}
	return items
}

// closes reports whether a /…/ that was opened is closed at the end of an item.
func closes(rest string) bool {
	return strings.HasSuffix(rest, "/") || strings.Contains(rest, "/,")
}
