// Package shellwords reads a shell line as the simple commands in it, to compare
// their words with patterns. It runs nothing and evaluates nothing: what is not
// literal is undecided, and the caller asks a person about it.
//
// [Split] returns a [Line] of [Command]s. One line goes through these files:
//
//	read.go      the line is parsed; each simple command in lists, pipes, substitutions,
//	             functions and loops becomes a Command
//	words.go     a [Word] is literal, with its quotes and escapes taken away, or it depends
//	             on the moment it runs ($X, $(date), *.go, ~/x) and is kept as written
//	pieces.go    what is known of such a word: build/*.o begins with build/
//	variables.go variables whose values show from the line
//	forms.go     what words come to with these values, with {a,b} and $(echo x)
//	input.go     what a command reads, where that shows, and what the line writes into a
//	             file and then runs
//	wrappers.go  commands in the words of others (sudo, timeout, xargs, docker exec), and in
//	             texts for a shell: eval, sh -c, a here-document
//	code.go      commands that the code of other languages runs: python -c, awk
//	texts.go     those in options of programs that are no shells: tar, vim, rsync; options
//	             that name the folder of a program
//	git.go       those that git is given
//	folders.go   in which folders the line runs its commands: cd, env -C
//	place.go     where a shell may be, and what a name means there
//	unclear.go   texts that bash runs or evaluates in another way (PS4, mapfile -C, an index
//	             with a hidden substitution): the command says so in Unclear
//	compare.go   patterns are compared with all that
//
// [Resolve] (resolve.go) is about the files that a line names.
//
// What the line gives its variables is in [Line.Values], and the text of a here-document
// in [Command].Input, for callers that work words out themselves.
//
// Two questions are answered with that (compare.go):
//
//   - [Line.Compare] compares a pattern with each command: Yes, No, or Undecided
//     where a part that is not literal could make the pattern match. A literal program
//     of another name decides it: "echo $X" never matches "rm *". To refuse, treat
//     Undecided as an ask.
//   - [Line.Admits] reports whether a list of patterns covers every command that the
//     shell itself runs, whatever the parts that are not literal turn out to be. What
//     is undecided is not admitted.
//
// A pattern sees more than one spelling of a command: with the folder of its program
// and without, and without the options before the first word that is none, so
// "git push" also stands for "/usr/bin/git -C sub push origin". A path in it counts as it
// is written and as short as it can be (a/../b is b), and as seen from the folder that the
// line went to before (cd / && rm home is also rm /home). Besides, a redirection is compared
// as > FILE and < FILE, a here-document and what echo prints into a pipe as PROGRAM < TEXT,
// and a pipe as its commands before, | and the program.
//
// A line that is no readable bash, or too long, has Err: nothing in it is admitted,
// and its commands are guesses, good only for finding a denied one.
//
// What is not known is modelled and not given up on: a pattern that no value can make
// match is No. Rules for that: a model stands for at least what the shell can make of a
// word, and where a variable, a function or an alias may be something else than it seems,
// nothing is known.
//
// This is a hurdle and not a wall. A script in a file, and code that puts a command
// together, run what no reader of the line can know.
package shellwords
