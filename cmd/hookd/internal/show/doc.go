// Package show lays out text for people. It knows nothing of hooks.
//
// A [Printer] (printer.go) writes to one stream, in colour where the stream is a terminal.
// What a color means is a [Tone]. Tables (table.go), diffs (diff.go), code (code.go) and a
// line that says what is at work (progress.go) are built on it. [Flow] (flow.go) breaks a
// text that comes in pieces between words; wrap.go does the same for whole lines.
//
// One rule holds for all text of hooks, tools, models and files: it passes [Visible] or
// [Line] (visible.go) before it is printed, so that nothing hides in it and nothing moves
// the cursor. words.go has the small things: plurals, lists, times; tilde.go a path as people
// write it.
package show
