package loader

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
)

// holdPins settles what starts a hook that was allowed: the program that was seen
// then, whatever PATH says now. What is gone is replaced from the folders that do
// not depend on the caller, if nobody but the user or root can change what is
// there, and a person is told.
func (p *load) holdPins(f *found) {
	in := p.placeOf(f.scope, f.resolution.Hook.InPlace)
	var recorded pins
	if f.record != nil {
		recorded = f.record.recordedPins()
	}
	hold := func(now starter, was *pin, words string) *pin {
		switch {
		case now.refused:
			f.fail(executor.Changed, protocol.FailUntrusted, now.bad.Why, now.bad.Remedy)
			return nil
		case was != nil:
			if held := in.hold(*was); held != nil {
				return held
			}
			return p.replacePin(f, in, was, words)
		case now.bad != nil:
			f.fail(executor.Broken, protocol.FailSpawn, now.bad.Why, now.bad.Remedy)
			return nil
		}
		return &pin{Path: now.pin.Path, Real: now.pin.Real}
	}
	if word := f.programWord(); word != "" {
		f.pins.Program = hold(in.programOf(word), recorded.Program, word)
	}
	if program, is := f.script(); is {
		l, _ := program.line()
		f.pins.Interpreter = hold(in.starter(program), recorded.Interpreter, l.starter())
	}
}

// hold returns a pin that still holds, with the path to execute; nil if what was
// pinned is gone or has come to lie in the project.
func (in *place) hold(was pin) *pin {
	held, known := in.held[was]
	if !known {
		held = in.stillThere(was)
		in.held[was] = held
	}
	return held
}

func (in *place) stillThere(was pin) *pin {
	if real, err := filepath.EvalSymlinks(was.Path); err == nil && real == was.Real && isProgram(was.Path) {
		return &was
	}
	if !isProgram(was.Real) {
		return nil
	}
	if real, err := filepath.EvalSymlinks(was.Real); err != nil || in.foreign && files.Within(in.root, real) {
		return nil
	}
	return &pin{Path: was.Real, Real: was.Real}
}

func (p *load) replacePin(f *found, in *place, was *pin, words string) *pin {
	for _, folder := range in.fixed {
		candidate := filepath.Join(folder, filepath.Base(words))
		now, usable := in.judge(candidate, true)
		if usable && now.bad == nil && in.unsafe(candidate) == "" {
			p.add(report.Newf(report.StarterReplaced, f.path, f.name, "look at it and allow the hook again with: "+f.scope.trustCommand(),
				"what started it when it was allowed, %s, is gone; %s starts it now", was.Real, now.pin.Real))
			return &pin{Path: candidate, Real: now.pin.Real}
		}
	}
	why := fmt.Sprintf("what started it when it was allowed, %s, is gone, and nothing of that name lies in a folder that only you or root can change", was.Real)
	remedy := "install it again, or allow the hook again with: " + f.scope.trustCommand()
	f.fail(executor.Broken, protocol.FailSpawn, why, remedy)
	p.add(report.New(report.NotRunnable, f.path, 0, f.name, why, remedy))
	return nil
}

// recordedPins are what started the hook when it was allowed. Records of earlier
// versions have real paths among what was hashed.
func (t *trustRecord) recordedPins() pins {
	found := t.Pins
	legacy := func(real string) *pin {
		if !filepath.IsAbs(real) {
			return nil
		}
		return &pin{Path: real, Real: real}
	}
	if found.Interpreter == nil {
		found.Interpreter = legacy(t.Bundle.Interpreter)
	}
	if found.Program == nil {
		found.Program = legacy(t.Bundle.Program)
	}
	return found
}

// asRecorded makes a bundle as earlier versions hashed it, if the record is one of
// theirs: what they hashed of a starter is believed for what it is, and the words
// that lead to it are among the bytes of the hook. It returns nil if there is
// nothing to say of the record in this way.
func (b *bundle) asRecorded(r *trustRecord) *bundle {
	was := &r.Bundle
	if was.Interpreter == "" && was.Program == "" {
		return nil
	}
	old := *b
	old.Members = slices.Clone(b.Members)
	old.Interpreter, old.Program = was.Interpreter, was.Program
	if old.seal() != nil || old.hash != r.Hash {
		return nil
	}
	return &old
}

// believeRecord takes the bundle for what an earlier version would have hashed, if
// that is what was allowed.
func (f *found) believeRecord() {
	if f.record == nil || f.bundle == nil || f.bundle.hash == f.record.Hash {
		return
	}
	if old := f.bundle.asRecorded(f.record); old != nil {
		f.fresh, f.bundle = f.bundle.hash, old
	}
}

// programWord is what a command calls its program, "" if that is a file of the
// project, which is part of the bundle, or if there is no command.
func (f *found) programWord() string {
	if len(f.words) == 0 || f.ownProgram {
		return ""
	}
	return f.words[0]
}

// script is the script that a hook starts as, if it is one.
func (f *found) script() (program, bool) {
	switch {
	case f.ownProgram:
		return f.program, f.program.words != ""
	case f.file != nil && f.file.content != nil:
		return f.file.program, f.file.program.words != ""
	}
	return program{}, false
}

// start is how a hook's program is started.
type start struct {
	path   string
	argv   []string // argv[0] included
	script string   // the file that path reads, "" if path is the hook's program itself
	sets   []string // variables that its interpreter line sets
}

// startOf puts together what is executed: for a hook of the project what was
// pinned, with the words of the interpreter line, then the private copy. Elsewhere
// the kernel does it.
func (p *load) startOf(f *found) start {
	argv := p.argv(f)
	if f.pins.Program != nil {
		argv[0] = f.pins.Program.Path
	}
	s := start{path: argv[0], argv: argv}
	if f.pins.Interpreter == nil {
		return s
	}
	program, _ := f.script()
	l, _ := program.line()
	if l.vague {
		return s // in place, where env itself may read it
	}
	s.script, s.path, s.sets = argv[0], f.pins.Interpreter.Path, l.sets
	s.argv = slices.Concat([]string{s.path}, l.args, argv)
	return s
}

// startersNow are what would start a hook if it were allowed now.
func (p *load) startersNow(f *found) pins {
	in := p.placeOf(f.scope, f.resolution.Hook.InPlace)
	var now pins
	if !in.pinned {
		return now
	}
	if word := f.programWord(); word != "" {
		if s := in.programOf(word); s.bad == nil {
			now.Program = &s.pin
		}
	}
	if program, is := f.script(); is {
		if s := in.starter(program); s.bad == nil {
			now.Interpreter = &s.pin
		}
	}
	return now
}

// onFixedPath makes sure that what starts the hooks of a plan was not found by the
// PATH of one shell: what is allowed by its hash alone must start alike wherever
// the hash is the same.
func (p *Plan) onFixedPath() error {
	for i := range p.Items {
		for _, one := range p.Items[i].pins.each() {
			if one.stray {
				return fmt.Errorf("%s: what starts it, %s, lies in no folder of the fixed PATH: name its folder in hooks.path", p.Items[i].Hook, one.Path)
			}
		}
	}
	return nil
}

// freshHash is the bundle's hash as this version makes it.
func (f *found) freshHash() string { return cmp.Or(f.fresh, f.bundle.hash) }

// shownPins are the starters of a hook for a person: the program that runs, and
// the words that mean it.
func (f *found) shownPins(now pins) (interpreter, program string) {
	if script, is := f.script(); is {
		interpreter = pinText(now.Interpreter, "#!"+script.words)
	}
	if word := f.programWord(); word != "" {
		program = pinText(now.Program, word)
	}
	return interpreter, program
}

func pinText(found *pin, words string) string {
	if found == nil || found.Real == words || "#!"+found.Real == words {
		return strings.TrimPrefix(words, "#!")
	}
	return found.Real + " (" + words + ")"
}
