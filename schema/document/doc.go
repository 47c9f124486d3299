// Package document reads JSON, YAML and TOML into one tree whose every value
// knows its line, so that what is said about a file is said the same way in
// each of the three. It is the only package that uses a reader of YAML or TOML.
//
// [Parse] returns the root of the tree, a [Node]. The tree keeps what was written:
// numbers as text, keys in their exact case and order, keys that appear twice. Which
// keys are allowed and what a value means is not decided here. Every document is
// bounded in depth and in its number of values, and every error is a [*SyntaxError]
// with the line.
//
// [Canonical] writes a tree as canonical JSON, in which two files that say the same
// are the same text.
//
//	node.go       the tree, its bounds, and the choice of the format
//	json.go       JSON to the tree
//	jsonc.go      comments in JSON, which settings of other agents may have
//	yaml.go       YAML to the tree
//	toml.go       TOML to the tree
//	canonical.go  the tree, or a JSON text, to canonical JSON
package document
