// Package manual makes manual pages of what a program's --help says, so that the two never
// differ. It knows the form of cobra's help and nothing of the program.
//
// A Book asks for the help of the program, and then for that of each command which the help
// lists (book.go). Each text is taken apart into description, usage, flags and commands
// (help.go), and written as a page in roff (roff.go). Words are neither added nor lost, apart
// from the headings: a test compares them.
//
// cobra has a package for this, doc. It reads the description as Markdown, which ours is not
// (an indented example loses its lines), and takes two more modules for it.
package manual
