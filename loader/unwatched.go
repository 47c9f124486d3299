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
func (p *load) seeUnwatched(f *found) {
	if f.layer != protocol.Project && !f.resolution.Hook.InProject || f.kind != "" && f.kind != records.KindServer {
		return
	}
	words := f.Words
	if script, is := f.Script(); is {
		if l, bad := script.Line(); bad == nil {
			words = slices.Concat([]string{l.Starter()}, l.Args, words)
			f.NoteShim(p.placeOf(f.scope, f.resolution.Hook.InPlace).Starter(script))
		}
	}
	if len(words) == 0 {
		return
	}
	if word := f.ProgramWord(); interpreter.KindOf(word).KnowsCodeOptions() {
		f.NoteShim(p.placeOf(f.scope, false).ProgramOf(word))
	}
	f.NoteKind(words)
	if f.layer == protocol.Project && f.told != nil {
		in := p.placeOf(f.scope, false)
		for _, word := range f.resolution.Hook.Args {
			if at := in.Locate(word); at.Exists && f.Swaps[word].Name == "" {
				f.Note("its own answer names %s as an argument", at.Name)
			}
		}
	}
}

// unwatchedText is what a person reads of one.
const unwatchedText = "runs code of the project that hookd does not watch"

// loadsCode is hookenv.LoadsCode, short.
func loadsCode(name string) bool { return hookenv.LoadsCode(name) }

func (p *load) tellUnwatched(f *found) {
	p.seeUnwatched(f)
	if len(f.Unwatched) == 0 || !f.listed {
		return
	}
	file, line := f.path, f.line
	if file == "" && len(f.described) > 0 {
		file, line = f.described[0].Pos.File, f.described[0].Pos.Line
	}
	p.Add(report.New(report.Unwatched, file, line, f.name,
		unwatchedText+": "+strings.Join(f.Unwatched, "; "), "have it start a file that the command names, with its helpers in files"))
}

// withoutCode leaves out variables that make programs load code and are named for
// hooks of a layer that does not say what their value is: it comes from the one who
// started hookd. They are not passed on.
func (p *load) withoutCode(layer protocol.Layer, names []string) []string {
	if layer == protocol.User {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), loadsCode)
}

// tellNotPassed says which of a hook's variables are not passed on.
func (p *load) tellNotPassed(f *found) {
	if f.layer == protocol.User {
		return
	}
	for _, name := range f.resolution.Hook.Env {
		if loadsCode(name) {
			p.Add(notPassed(f.path, f.name, name))
		}
	}
}

func notPassed(file, hook, name string) schema.Finding {
	return report.New(report.NotPassed, file, 0, hook, fmt.Sprintf("%s is not passed on: by it programs load code, and its value comes from whoever starts hookd", name),
		"set it in the hook, or in a script around it")
}
