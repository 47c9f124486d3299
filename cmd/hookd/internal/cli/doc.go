// Package cli is what all commands of hookd share, whatever they do.
//
// A command speaks with its caller through a [Console] (console.go): the streams, the
// output for programs (--json), questions with yes or no, and notes (notes.go). A note is
// a line for the person apart from the output; where a program reads the output, it is part
// of that. output.go turns output that nobody can read into an error.
//
// A command ends with an error. A [Fault] (fault.go) has a code for programs, one line for
// people and a remedy; an [ExitCode] ends a command that has said everything itself; a
// [DataLossError] says that something was not kept. Console.Report prints the error and
// returns the exit code of the process: 0 done, 1 failed, 2 refused, 3 wrong usage or
// settings, 130 interrupted.
//
// [Closers] (closers.go) are what has to be done before the process ends. flags.go and
// eventname.go read what is on the command line.
package cli
