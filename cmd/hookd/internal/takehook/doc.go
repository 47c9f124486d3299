// Package takehook is hookd new --list and hookd new --from: hooks that are embedded in
// the program, to be copied into a hooks folder with their tests.
//
// The hooks are the files of examples/hooks that say of themselves what they are for
// (package examples, catalogue.go). list.go shows them. take.go writes some of them into
// the project's folder, or into the user's: first everything is looked at, then all is
// written, and what is there already is never replaced. What was taken does not count by
// that: a person looks at it and allows it, as everything of a project.
//
// flags.go adds the flags to hookd new (package hookcmd), which writes from a template
// where none of them is given.
package takehook
