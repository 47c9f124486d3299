package loader

import (
	"fmt"
	"path/filepath"

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
func (d *decider) holdPins(f *subject, v *verdict, inPlace bool) {
	in := d.env.builder(f.scope, inPlace)
	var recorded interpreter.Pins
	if f.record != nil {
		recorded = f.record.RecordedPins()
	}
	hold := func(now interpreter.Starter, was *interpreter.Pin, words string) *interpreter.Pin {
		switch {
		case now.Refused:
			v.failClosed(f.name, executor.Changed, protocol.FailUntrusted, now.Bad.Why, now.Bad.Remedy)
			return nil
		case was != nil:
			if held := in.Hold(*was); held != nil {
				return held
			}
			return d.replacePin(f, v, in, was, words)
		case now.Bad != nil:
			v.failClosed(f.name, executor.Broken, protocol.FailSpawn, now.Bad.Why, now.Bad.Remedy)
			return nil
		}
		return &interpreter.Pin{Path: now.Pin.Path, Real: now.Pin.Real}
	}
	if word := f.ProgramWord(); word != "" {
		v.pins.Program = hold(in.ProgramOf(word), recorded.Program, word)
	}
	if program, is := f.Script(); is {
		l, _ := program.Line()
		v.pins.Interpreter = hold(in.Starter(program), recorded.Interpreter, l.Starter())
	}
}

func (d *decider) replacePin(f *subject, v *verdict, in *bundle.Builder, was *interpreter.Pin, words string) *interpreter.Pin {
	for _, folder := range in.Fixed {
		candidate := filepath.Join(folder, filepath.Base(words))
		now, usable := in.Judge(candidate, true)
		if usable && now.Bad == nil && in.Unsafe(candidate) == "" {
			d.Add(report.Newf(report.StarterReplaced, f.path, f.name, "look at it and allow the hook again with: "+f.scope.trustCommand(),
				"what started it when it was allowed, %s, is gone; %s starts it now", was.Real, now.Pin.Real))
			return &interpreter.Pin{Path: candidate, Real: now.Pin.Real}
		}
	}
	why := fmt.Sprintf("what started it when it was allowed, %s, is gone, and nothing of that name lies in a folder that only you or root can change", was.Real)
	remedy := "install it again, or allow the hook again with: " + f.scope.trustCommand()
	v.failClosed(f.name, executor.Broken, protocol.FailSpawn, why, remedy)
	d.Add(report.New(report.NotRunnable, f.path, 0, f.name, why, remedy))
	return nil
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
