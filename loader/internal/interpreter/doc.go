// Package interpreter finds out what starts a script or command.
//
// interpreter.go takes an interpreter line apart as the kernel and env do. A [Finder]
// (finder.go, starter.go) looks for the program that a line or command names, for one layer:
// for projects first in folders that do not depend on the caller's PATH, and never in
// the project itself. What was found when a person allowed a hook is a [Pin], and
// stays what starts it.
//
// insideproject.go recognizes words of a line that lead into the project, where code
// could change without any change to the hook. kinds.go lists the programs that hookd
// knows and the options by which they take code. mount.go explains programs on file
// systems from which nothing may be started.
package interpreter
