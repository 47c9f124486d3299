package loader

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// seeUnwatched notes what a hook or server runs of the project that is not part of
// what is allowed: a program that decides by itself what of the working directory
// it runs, or code on the command line. It is about programs that start in the
// project.
func (e *environment) seeUnwatched(f *subject, inPlace, inProject bool) {
	if f.scope.layer != protocol.Project && !inProject || f.kind != "" && f.kind != records.KindServer {
		return
	}
	words := f.Words
	if script, is := f.Script(); is {
		if l, bad := script.Line(); bad == nil {
			words = slices.Concat([]string{l.Starter()}, l.Args, words)
			f.NoteShim(e.builder(f.scope, inPlace).Starter(script))
		}
	}
	if len(words) == 0 {
		return
	}
	if word := f.ProgramWord(); interpreter.KindOf(word).KnowsCodeOptions() {
		f.NoteShim(e.builder(f.scope, false).ProgramOf(word))
	}
	f.NoteKind(words)
}

// seeAnswer notes files of the project that the answer of a program names as
// arguments.
func (e *environment) seeAnswer(f *hook) {
	if f.scope.layer != protocol.Project || f.told == nil {
		return
	}
	in := e.builder(f.scope, false)
	for _, word := range f.resolution.Hook.Args {
		if at := in.Locate(word); at.Exists && f.Swaps[word].Name == "" {
			f.Note("its own answer names %s as an argument", at.Name)
		}
	}
}

// unwatchedText is what a person reads of one.
const unwatchedText = "runs code of the project that hookd does not watch"

// loadsCode is hookenv.LoadsCode, short.
func loadsCode(name string) bool { return hookenv.LoadsCode(name) }

// tellUnwatched notes and reports unwatched code of a subject. file and line say where
// it is named, if it has no file of its own.
func (e *environment) tellUnwatched(f *subject, file string, line int) {
	if len(f.Unwatched) == 0 || !f.listed {
		return
	}
	if f.path != "" {
		file, line = f.path, f.line
	}
	e.Add(report.New(report.Unwatched, file, line, f.name,
		unwatchedText+": "+strings.Join(f.Unwatched, "; "), "have it start a file that the command names, with its helpers in files"))
}

// tellNotPassed says which of a hook's variables are not passed on.
func (e *environment) tellNotPassed(f *hookCandidate) {
	if f.scope.layer == protocol.User {
		return
	}
	for _, name := range f.resolution.Hook.Env {
		if loadsCode(name) {
			e.Add(notPassed(f.path, f.name, name))
		}
	}
}

func notPassed(file, hook, name string) schema.Finding {
	return report.New(report.NotPassed, file, 0, hook, fmt.Sprintf("%s is not passed on: by it programs load code, and its value comes from whoever starts hookd", name),
		"set it in the hook, or in a script around it")
}
