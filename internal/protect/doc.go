// Package protect knows the places that agents keep out of: hooks and their settings, ours
// and those of other agents, and what git runs. One table has them (hooksettings.go).
//
// For the file tools of hookd's own loop:
//
// [Find] looks for the places as they are now (places.go): by their names
// (hooksettings.go), by the repositories of git (git.go), and by what the caller names.
// [Places.Check] then tells whether a path, and the file that was opened there, is one
// of them, by whatever name. [Places.Mentioned] does the same for the words of a shell
// command, which is reported and not refused.
//
// A place is looked for each time a file is opened: nothing is remembered, so that a
// link that a command made a moment ago counts. Up to 50,000 entries are looked at;
// beyond them a file with several hard links is not written.
//
// For the tools of another agent (package selfprotect) a [Scope] answers the same question
// without looking through the project, since it is asked for every call: [Scope.Write] for
// a file, [Scope.Tree] for a folder with all below it (scope.go).
package protect
