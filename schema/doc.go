// Package schema holds the rules for what people write: settings files and the
// descriptions of hooks. It decides what a text means, which values fit, and what to
// say about those that do not. It reads no files and starts nothing.
//
// # Settings
//
// [Keys] is the table: one row for each setting, with its type, its range, the layers
// that may set it, and the only direction in which a lower layer may move it. Reading,
// merging, the documentation and the JSON Schema all go by it, so a new setting is a
// row and a field of [Settings] with the same path. One file goes this way:
//
//	document.Parse   text in JSON, YAML or TOML → a tree in which each value knows its line
//	DecodeLayer      tree → LayerSettings: the values that fit, by key, each with its place (layer.go, values.go)
//	Layered          the layers over each other, and the result as Settings (layer.go)
//
// Which value stands against which is decided by loader/internal/settings; viper lays
// them over each other.
//
// # Descriptions of hooks
//
// A hook is described by a settings entry, a comment header, a side file, or by the
// program itself. Each is an [Entry], read by [DecodeEntry] or [EntryFromPairs]
// (readentry.go). [Resolve] makes one [Hook] of them (hook.go): the settings entry counts
// before the header, the header before the side file, the side file before the program.
// A description with a fault is rejected as a whole, and [Resolution.Guards] says
// whether the hook could have been a guard, whose gates must then fail.
//
// # Findings
//
// Whatever does not fit is a [Finding] with file, line, key and remedy. Reading goes on
// after a fault, so that one look tells everything. Bounds, choices and forms of values
// are checked by validator: the tags of Entry and the rules of the rows are its
// language, and validate.go puts what it found into our words.
//
//	settings.go   the effective settings
//	keys.go       the table of settings
//	key.go        what a row says: types, layers, directions
//	layer.go      one settings file: its groups and keys; values of several layers, as Settings
//	values.go     the value of one key; what stands in for one that cannot be read
//	entry.go      one description of a hook, as a value
//	readentry.go  reads a description
//	hook.go       all descriptions of a hook, as one
//	matchers.go   what is odd about a matcher, and what only a hook of another agent says
//	object.go     an object of the tree as a struct
//	reader.go     a value of the tree as a Go value
//	validate.go   bounds and forms of values, in our words
//	finding.go    findings and their codes
//	docs.go       tables for the documentation, JSON Schemas
//
// Calls run downwards in this list. The packages below: document (the tree), toolname
// (names of tools and patterns for them), units (durations and sizes), agentparts (the
// features and model providers that settings can name), testfile (the tests beside a hook).
package schema
