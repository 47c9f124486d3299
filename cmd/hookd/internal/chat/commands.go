package chat

import (
	"context"
	"errors"
	"strings"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/conversation"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/sessionscmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/text"
)

// commands answers the commands of a conversation.
type commands struct {
	c    *conversation.Conversation
	tell func(string) // prints before the answer
	ask  func(context.Context, agentloop.Question) (agentloop.Answer, error)
}

const helpText = `/hooks                 the hooks of this project, in running order
/compact [INSTRUCTIONS] put a summary in the place of the conversation
/model [NAME]          say which model answers, or let another one answer
/sessions              the sessions of this project
/trust                 look at what of this project waits to be allowed
/show N                what is folded under #N (ctrl-o: the last one)
/help                  this help
/quit                  end the conversation (or ctrl-d)
Any other line goes to the model; a line that begins with the /NAME of a skill
uses it. While a turn runs, what you send waits for its end.
enter sends · alt-enter, ctrl-j or a \ before enter begins a new line · ↑ ↓ earlier lines
esc or ctrl-c aborts the turn, twice ends hookd`

// answer returns what a command prints.
func (k *commands) answer(ctx context.Context, e commandEffect, width int, color bool) string {
	var b strings.Builder
	p := &show.Printer{W: &b, Color: color, Width: width}
	var err error
	switch e.name {
	case "help":
		p.Indented("  ", show.Plain, helpText)
	case "hooks":
		err = k.hooks(ctx, p)
	case "model":
		err = k.model(p, e.args)
	case "sessions":
		err = k.sessions(ctx, p)
	case "trust":
		err = k.trust(ctx, p)
	}
	if err != nil {
		p.Print("%s %s\n", p.In(show.Bad, "!"), show.OneLine(err.Error()))
		var fault *cli.Fault
		if errors.As(err, &fault) && fault.Hint != "" {
			p.Print("  %s\n", p.In(show.Quiet, show.OneLine(fault.Hint)))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func (k *commands) model(p *show.Printer, name string) error {
	if name != "" {
		if err := k.c.SetModel(name); err != nil {
			return err
		}
	}
	p.Print("%s %s\n", p.In(show.Quiet, "model:"), show.Line(model.Origin(k.c.Model)))
	return nil
}

func (k *commands) hooks(ctx context.Context, p *show.Printer) error {
	if w := k.c.Engine.Watcher(); w != nil {
		report.Listing(p, engine.Describe(w.Snapshot()))
		return nil
	}
	listing, err := k.c.Hooks.Listing(ctx)
	if err == nil {
		report.Listing(p, listing)
	}
	return err
}

func (k *commands) sessions(ctx context.Context, p *show.Printer) error {
	if k.c.Engine.StateDir == "" {
		return cli.Usage("no-state", "no session is kept: there is no state folder", "")
	}
	folder := places.Conversations(k.c.Engine.StateDir)
	list, err := sessionscmd.Here(ctx, k.c.Hooks.Project, folder, false)
	if err != nil {
		return err
	}
	return sessionscmd.ShowTable(p, folder, list, false)
}

// nearCommand returns the command that a misspelt one was meant to be, "" if none is near.
// A word that is not near is a prompt, which may be the name of a skill.
func nearCommand(name string) string {
	if len(name) < 3 {
		return ""
	}
	for _, known := range []string{"hooks", "compact", "model", "sessions", "show", "help", "quit", "exit", "trust"} {
		if d := text.Distance(name, known); d <= 1 || d == 2 && len(known) > 5 {
			return known
		}
	}
	return ""
}
