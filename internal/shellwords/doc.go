// Package shellwords reads a shell line as the simple commands in it, to compare
// their words with patterns. It runs nothing and evaluates nothing: what is not
// literal is undecided, and the caller asks a person about it.
//
// [Split] returns a [Line] of [Command]s. It finds the commands in lists, pipes,
// substitutions, functions and loops (read.go), those after wrappers such as sudo,
// env, timeout and xargs, and those in a literal text for a shell: eval, sh -c, a
// here-document (wrappers.go). A [Word] of a command is literal, with its quotes taken
// away, or it depends on the moment it runs ($X, $(date), *.go, {a,b}, ~/x) and is kept as
// it was written (words.go). A command that has bash run or evaluate a text in another
// way (trap, mapfile -C, PS4, an index with a hidden substitution) says so in Unclear
// (unclear.go, git.go); what the text would do is not worked out.
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
// "git push" also stands for "/usr/bin/git -C sub push origin".
//
// A line that is no readable bash, or too long, has Err: nothing in it is admitted,
// and its commands are guesses, good only for finding a denied one.
//
// This is a hurdle and not a wall. A script in a file, the interpreter of another
// language and an encoded text run what no reader of the line can know.
package shellwords
