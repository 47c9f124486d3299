// Package eventcmd is the commands that fire an event by hand: hookd fire, hookd try and
// hookd test.
//
// event.go makes the event, from --data or from a sample (sample.go). fire (fire.go) asks
// all hooks of the project. try (try.go, tryview.go) asks one, whatever it matches, and
// shows all that passed between hookd and the hook. With --fault, try puts a program that
// fails in the place of the hook's own (tryfault.go, tryfaultview.go; the programs are
// package faultyhook).
//
// test (test.go) runs the tests beside hooks. testfiles.go finds them (their form is package
// schema/testfile), testevent.go makes the event of each, testjudge.go asks the one hook
// through the executor, by try's way, and compares what came out with what is wanted.
// testview.go shows it to people and as JSON, testjunit.go as JUnit XML. What cannot be
// read, made or run is a failure there, never a test less.
package eventcmd
