package main

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// The exit codes of every command.
const (
	exitOK          = 0
	exitFailed      = 1
	exitRefused     = 2
	exitUsage       = 3 // usage or settings
	exitInterrupted = 130
)

// Fault is an error that ends a command: a stable code for programs, one line
// for people, and what to do about it.
type Fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
	Exit    int    `json:"-"`
}

func (f *Fault) Error() string { return f.Message }

// failed is a fault of exit code 1.
func failed(code string, err error, hint string) *Fault {
	return &Fault{Code: code, Message: err.Error(), Hint: hint, Exit: exitFailed}
}

// usage is a fault of exit code 3: wrong arguments or settings.
func usage(code, message, hint string) *Fault {
	return &Fault{Code: code, Message: message, Hint: hint, Exit: exitUsage}
}

// exitCode ends a command with a code after it has said everything itself.
type exitCode int

func (exitCode) Error() string { return "" }

// report prints an error and returns the process's exit code.
func (a *app) report(err error) int {
	var code exitCode
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	}
	var fault *Fault
	if !errors.As(err, &fault) {
		fault = failed("failed", err, "")
	}
	if a.json {
		line, _ := json.Marshal(struct {
			Error *Fault `json:"error"`
		}{fault})
		a.err.Raw(string(line) + "\n")
		return fault.Exit
	}
	a.err.Print("%s %s\n", a.err.In(show.Bad, "hookd: error:"), oneLine(fault.Message))
	if fault.Hint != "" {
		a.err.Print("%s %s\n", a.err.In(show.Quiet, "hookd: hint:"), oneLine(fault.Hint))
	}
	return fault.Exit
}

// oneLine keeps an error on one line, joined by blanks where it had line ends.
func oneLine(text string) string {
	return show.Line(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), " "))
}
