// Package picture draws what a person sees in a terminal: it runs commands in one, and makes
// an SVG of what they typed and what was printed.
//
// Record runs each command in a terminal of its own (record_unix.go) and returns the
// screen as lines of spans. Draw makes the SVG of it (draw.go). The same screen makes the same
// bytes, so a test can compare the picture in the documentation with what hookd prints now.
package picture
