package trust

import (
	"fmt"
	"path/filepath"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
)

// holdPins decides what starts a hook that was allowed: the program that was there
// then, whatever PATH says now. A program that is gone is replaced from the folders
// that do not depend on the caller, if nobody but the user or root can change what is
// there; the replacement is reported.
func (d *Decider) holdPins(f *candidate.Subject, v *Verdict, inPlace bool) {
	in := d.Env.Builder(f.Scope, inPlace)
	var recorded interpreter.Pins
	if f.Record != nil {
		recorded = f.Record.RecordedPins()
	}
	hold := func(now interpreter.Starter, was *interpreter.Pin, words string) *interpreter.Pin {
		switch {
		case now.Refused:
			v.FailClosed(f.Name, executor.Changed, protocol.FailUntrusted, now.Bad.Why, now.Bad.Remedy)
			return nil
		case was != nil:
			if held := in.Hold(*was); held != nil {
				return held
			}
			return d.replacePin(f, v, in, was, words)
		case now.Bad != nil:
			v.FailClosed(f.Name, executor.Broken, protocol.FailSpawn, now.Bad.Why, now.Bad.Remedy)
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

func (d *Decider) replacePin(f *candidate.Subject, v *Verdict, in *bundle.Builder, was *interpreter.Pin, words string) *interpreter.Pin {
	for _, folder := range in.Fixed {
		candidate := filepath.Join(folder, filepath.Base(words))
		now, usable := in.Judge(candidate, true)
		if usable && now.Bad == nil && in.Unsafe(candidate) == "" {
			d.Add(report.Newf(report.StarterReplaced, f.Path, f.Name, "look at it and allow the hook again with: "+f.Scope.TrustCommand(),
				"what started it when it was allowed, %s, is gone; %s starts it now", was.Real, now.Pin.Real))
			return &interpreter.Pin{Path: candidate, Real: now.Pin.Real}
		}
	}
	why := fmt.Sprintf("what started it when it was allowed, %s, is gone, and nothing of that name lies in a folder that only you or root can change", was.Real)
	remedy := "install it again, or allow the hook again with: " + f.Scope.TrustCommand()
	v.FailClosed(f.Name, executor.Broken, protocol.FailSpawn, why, remedy)
	d.Add(report.New(report.NotRunnable, f.Path, 0, f.Name, why, remedy))
	return nil
}
