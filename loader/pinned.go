package loader

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
)

// holdPins settles what starts a hook that was allowed: the program that was seen
// then, whatever PATH says now. What is gone is replaced from the folders that do
// not depend on the caller, if nobody but the user or root can change what is
// there, and a person is told.
func (p *load) holdPins(f *found) {
	in := p.placeOf(f.scope, f.resolution.Hook.InPlace)
	var recorded interpreter.Pins
	if f.record != nil {
		recorded = f.record.RecordedPins()
	}
	hold := func(now interpreter.Starter, was *interpreter.Pin, words string) *interpreter.Pin {
		switch {
		case now.Refused:
			f.fail(executor.Changed, protocol.FailUntrusted, now.Bad.Why, now.Bad.Remedy)
			return nil
		case was != nil:
			if held := in.Hold(*was); held != nil {
				return held
			}
			return p.replacePin(f, in, was, words)
		case now.Bad != nil:
			f.fail(executor.Broken, protocol.FailSpawn, now.Bad.Why, now.Bad.Remedy)
			return nil
		}
		return &interpreter.Pin{Path: now.Pin.Path, Real: now.Pin.Real}
	}
	if word := f.ProgramWord(); word != "" {
		f.pins.Program = hold(in.ProgramOf(word), recorded.Program, word)
	}
	if program, is := f.Script(); is {
		l, _ := program.Line()
		f.pins.Interpreter = hold(in.Starter(program), recorded.Interpreter, l.Starter())
	}
}

func (p *load) replacePin(f *found, in *bundle.Builder, was *interpreter.Pin, words string) *interpreter.Pin {
	for _, folder := range in.Fixed {
		candidate := filepath.Join(folder, filepath.Base(words))
		now, usable := in.Judge(candidate, true)
		if usable && now.Bad == nil && in.Unsafe(candidate) == "" {
			p.Add(report.Newf(report.StarterReplaced, f.path, f.name, "look at it and allow the hook again with: "+f.scope.trustCommand(),
				"what started it when it was allowed, %s, is gone; %s starts it now", was.Real, now.Pin.Real))
			return &interpreter.Pin{Path: candidate, Real: now.Pin.Real}
		}
	}
	why := fmt.Sprintf("what started it when it was allowed, %s, is gone, and nothing of that name lies in a folder that only you or root can change", was.Real)
	remedy := "install it again, or allow the hook again with: " + f.scope.trustCommand()
	f.fail(executor.Broken, protocol.FailSpawn, why, remedy)
	p.Add(report.New(report.NotRunnable, f.path, 0, f.name, why, remedy))
	return nil
}

// believeRecord takes the bundle for what an earlier version would have hashed, if
// that is what was allowed.
func (f *found) believeRecord() {
	if f.record == nil || f.Bundle == nil || f.Bundle.Hash == f.record.Hash {
		return
	}
	if old := f.Bundle.AsRecorded(&f.record.Bundle, f.record.Hash); old != nil {
		f.Fresh, f.Bundle = f.Bundle.Hash, old
	}
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
	program, _ := f.Script()
	l, _ := program.Line()
	if l.Vague {
		return s // in place, where env itself may read it
	}
	s.script, s.path, s.sets = argv[0], f.pins.Interpreter.Path, l.Sets
	s.argv = slices.Concat([]string{s.path}, l.Args, argv)
	return s
}

// startersNow are what would start a hook if it were allowed now.
func (p *load) startersNow(f *found) interpreter.Pins {
	in := p.placeOf(f.scope, f.resolution.Hook.InPlace)
	var now interpreter.Pins
	if !in.Pinned {
		return now
	}
	if word := f.ProgramWord(); word != "" {
		if s := in.ProgramOf(word); s.Bad == nil {
			now.Program = &s.Pin
		}
	}
	if program, is := f.Script(); is {
		if s := in.Starter(program); s.Bad == nil {
			now.Interpreter = &s.Pin
		}
	}
	return now
}

// onFixedPath makes sure that what starts the hooks of a plan was not found by the
// PATH of one shell: what is allowed by its hash alone must start alike wherever
// the hash is the same.
func (p *Plan) onFixedPath() error {
	for i := range p.Items {
		for _, one := range p.Items[i].pins.Each() {
			if one.Stray {
				return fmt.Errorf("%s: what starts it, %s, lies in no folder of the fixed PATH: name its folder in hooks.path", p.Items[i].Hook, one.Path)
			}
		}
	}
	return nil
}
