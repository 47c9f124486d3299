// Package patterns has the patterns that settings and hooks write: a [Pattern] matches
// a command or a name as a whole, [Compile] makes a regular expression that cannot
// grow without bounds, and [TooWide] finds a path glob that stands for too much.
package patterns
