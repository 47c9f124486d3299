package environment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// NoteUnwatched notes what a hook or server runs of the project that is not part of
// what is allowed: a program that decides by itself what of the working directory
// it runs, or code on the command line. It is about programs that start in the
// project.
func (e *Environment) NoteUnwatched(f *candidate.Subject, inPlace, inProject bool) {
	if f.Scope.Layer != protocol.Project && !inProject || f.Kind != "" && f.Kind != records.KindServer {
		return
	}
	words := f.Words
	if script, is := f.Script(); is {
		if l, bad := script.Line(); bad == nil {
			words = slices.Concat([]string{l.Starter()}, l.Args, words)
			f.NoteShim(e.Builder(f.Scope, inPlace).Starter(script))
		}
	}
	if len(words) == 0 {
		return
	}
	if word := f.ProgramWord(); interpreter.KindOf(word).KnowsCodeOptions() {
		f.NoteShim(e.Builder(f.Scope, false).ProgramOf(word))
	}
	if f.Shell == nil { // the commands of a line were noted when it was read
		f.NoteKind(words)
	}
}

// unwatchedText is what a person reads of one.
const unwatchedText = "runs code of the project that hookd does not watch"

// ReportUnwatched reports the unwatched code of a subject. file and line say where it is
// named, if it has no file of its own.
func (e *Environment) ReportUnwatched(f *candidate.Subject, file string, line int) {
	if len(f.Unwatched) == 0 || !f.Listed {
		return
	}
	if f.Path != "" {
		file, line = f.Path, f.Line
	}
	e.Add(report.New(report.Unwatched, file, line, f.Name,
		unwatchedText+": "+strings.Join(f.Unwatched, "; "), "have it start a file that the command names, with its helpers in files"))
}

// ReportNotPassed reports which of a hook's variables are not passed on.
func (e *Environment) ReportNotPassed(f *candidate.Hook) {
	if f.Scope.Layer == protocol.User {
		return
	}
	for _, name := range f.Resolution.Hook.Env {
		if hookenv.LoadsCode(name) {
			e.Add(notPassed(f.Path, f.Name, name))
		}
	}
}

func notPassed(file, hook, name string) schema.Finding {
	return report.New(report.NotPassed, file, 0, hook, fmt.Sprintf("%s is not passed on: by it programs load code, and its value comes from whoever starts hookd", name),
		"set it in the hook, or in a script around it")
}
