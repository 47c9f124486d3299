// Package agentcmd is the commands of the agent loop, hookd run and hookd sessions. A lean
// build leaves out this package, and with it all that only the loop needs.
//
// run.go reads the flags and finds out which kind of run is meant: one prompt or recipe,
// a conversation with a person (package chat), or a run that another program drives
// (package jsonsession). All three open their session with package conversation. Its
// questions are in package question, its output in package runview.
package agentcmd
