// Package runview shows what a run shows while it goes on.
//
// [TextPrinter] (textprinter.go) is for people: the text of the model as it comes (text.go),
// its markdown painted (markdown.go), tool calls (calls.go) with the diffs of edits
// (editdiff.go), and what hooks decided, where they decided it (decision.go). It has two
// forms. Unfolded, for output that scrolls, a call is two lines and a change is a diff.
// Folded, for a conversation on a screen, a call is one line with a number, by which the
// person asks for its details. At the end comes a line with figures (tally.go).
//
// [JSONPrinter] (jsonprinter.go) is for programs: a JSON object on each line. docs/run-json.md is
// their page, and its tables are generated from the types there.
//
// All text of models, tools and hooks is made visible before it is printed (package show).
package runview
