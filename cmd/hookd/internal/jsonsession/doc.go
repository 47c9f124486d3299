// Package jsonsession is hookd run --json without a prompt: a run that another program
// drives. docs/run-json.md is its page.
//
// The program writes a JSON object on each line of stdin: a prompt, an abort, or an answer
// to a question. input.go reads and checks these lines. [Run] (jsonsession.go) obeys them:
// a prompt begins a turn or waits for the one that runs. Questions of hooks become lines
// with an id, and only an answer with that id counts (ask.go). output.go has the lines that
// the program reads besides those of a turn, which package runview writes.
package jsonsession
