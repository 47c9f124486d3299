// Package evasions holds the packs of rules (examples/hooks) against shell lines that are
// known to get past guards, and against harmless ones that only look like them.
//
//	spelling.txt      the words themselves: quotes, escapes, folders, blanks, order
//	expansion.txt     variables, substitutions, globs, braces
//	commands.txt      lists, loops and functions; programs that run their words
//	shells.txt        texts for a shell: -c, eval, traps, here-documents, encoded, downloaded
//	interpreters.txt  code of other languages, and programs that run an option's value
//	git.txt           pushes, forced pushes, work that is thrown away
//	system.txt        disks, the system's files, rights, processes, the machine
//	services.txt      databases, containers, clusters, clouds
//	harmless.txt      what must pass
//
// They are drawn from published bypasses of the guards of coding agents, from bug reports
// about them in both directions, and from the tests of internal/shellwords and
// internal/selfprotect.
//
// A set has a heading (## …) for each kind. ␤ stands for the end of a line inside of one,
// ⟨9⟩ for the character with that number. A line is an evasion only if a shell really does
// what the packs refuse; one that the packs ask about counts as refused, since nobody runs
// it unseen.
package evasions
