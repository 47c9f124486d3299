package conversation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/trustcmd"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader"
)

// reviewGuards asks at the start of a run whether the person wants to look at the guards
// that will refuse, since nobody allowed them as they are. It reports whether it asked.
// Without a terminal a note names the guards instead; below an agent nobody is asked.
func (o *opening) reviewGuards(ctx context.Context) (reviewed bool, err error) {
	if !o.console.PersonReads() || loader.MayDecide() != nil {
		return false, nil
	}
	if _, err := o.hooks.Processes.Start(true); err != nil { // for the run, which needs a guardian
		return false, err
	}
	snapshot, err := o.hooks.Look(ctx)
	if err != nil {
		return false, nil // it is said where the run begins
	}
	guards := engine.WaitingGuards(snapshot)
	if len(guards) == 0 {
		return false, nil
	}
	question := fmt.Sprintf("%s until you look at %s: review now?", andAre(guards), themOrIt(guards))
	err = o.console.Confirm(ctx, question)
	if err == nil {
		err = (&trustcmd.Commands{Console: o.console, Project: o.hooks.Project}).Review(ctx)
	}
	var fault *cli.Fault
	if errors.As(err, &fault) { // a no, or something that cannot be allowed: the run says what follows
		o.console.Err.Print("%s\n", o.console.Err.In(show.Quiet, show.OneLine(fault.Message)+"; /trust or hookd trust asks again"))
		return true, nil
	}
	return true, err
}

func andAre(guards []string) string {
	names := " (" + show.Shorten(strings.Join(guards, " "), 120) + ")"
	if len(guards) == 1 {
		return "1 guard" + names + " refuses"
	}
	return text.Count(len(guards), "guard") + names + " refuse"
}

func themOrIt(guards []string) string {
	if len(guards) == 1 {
		return "it"
	}
	return "them"
}
