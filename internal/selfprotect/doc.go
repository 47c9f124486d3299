// Package selfprotect is the guard that hookd has in the guest role: it refuses calls of
// another agent's tools that would switch hookd off from inside.
//
// [Hook] is the guard as a hook, for events that another agent sends. One call goes through
// these files:
//
//	guard.go     Hook, Options; what was found becomes a reply
//	toolcall.go  the call of a tool, by its kind: shell lines, patches, code
//	toolargs.go  what the members of its args are, and which paths they name
//	line.go      a shell line: redirections, cd, each command (package shellwords reads it)
//	expand.go    words that are not literal: variables, ~, {a,b}, as far as they are known
//	pattern.go   a shell's patterns as package path reads them
//	target.go    whether a word names a protected place (package protect knows them)
//	programs.go  the table of programs that write, and what they do with their words
//	gitfind.go   git and find, which have rules of their own
//	special.go   so have tar, zip, sed, editors, rsync, package managers
//	given.go     texts that become commands: pipes into a shell, at, trap, docker run, ~/.bashrc
//	code.go      python -c and the like
//	ending.go    kill, pkill and their like
//	switches.go  the tables of words and variables by which an agent runs without hooks
//
// What is written as it stands is refused. What only shows when the line runs, and speaks
// of a protected place, is a question to the person where the host can put one, else a
// notice: a change of a project's hooks is caught by trust. Reading is free.
//
// The lines and calls that are tried are data: testdata (refused, undecided, passes).
//
// It is a hurdle and not a wall: a script in a file, a program that is not in the tables,
// and what puts a name together out of parts that nothing shows, pass. What must not happen
// needs settings that the user cannot write (the managed layer), or a sandbox.
package selfprotect
