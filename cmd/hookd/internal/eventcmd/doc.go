// Package eventcmd is the commands that fire an event by hand: hookd fire and hookd try.
//
// event.go makes the event, from --data or from a sample (sample.go). fire (fire.go) asks
// all hooks of the project. try (try.go, tryview.go) asks one, whatever it matches, and
// shows all that passed between hookd and the hook. With --fault, try puts a program that
// fails in the place of the hook's own (tryfault.go, tryfaultview.go; the programs are
// package faultyhook).
package eventcmd
