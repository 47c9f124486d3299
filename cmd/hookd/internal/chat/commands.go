package chat

import (
	"context"
	"errors"
	"slices"
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
	c      *conversation.Conversation
	header *header
	tell   func(string) // prints before the answer
	ask    func(context.Context, agentloop.Question) (agentloop.Answer, error)
}

// command is a line that begins with a slash and that the conversation itself answers.
type command struct {
	name, args, does string
	between          bool // it works only between turns
}

// commandTable is all there is; help, completion and the search for misspelt ones read it.
var commandTable = []command{
	{name: "help", does: "this help"},
	{name: "hooks", does: "the hooks of this project, in running order"},
	{name: "trust", does: "look at what of this project waits to be allowed", between: true},
	{name: "skills", does: "the skills that the model may use"},
	{name: "recipes", does: "the recipes; /NAME runs one"},
	{name: "show", args: "[N]", does: "what is folded under #N (ctrl-o: the last one, then those before)"},
	{name: "cost", does: "what this conversation has used"},
	{name: "model", args: "[NAME]", does: "say which model answers, or let another one answer", between: true},
	{name: "compact", args: "[INSTRUCTIONS]", does: "put a summary in the place of the conversation", between: true},
	{name: "new", does: "end this conversation and begin another one", between: true},
	{name: "sessions", does: "the sessions of this project"},
	{name: "quit", does: "end the conversation (or ctrl-d)"},
	{name: "exit"},
}

// commandByName returns a row of the table, nil if there is none.
func commandByName(name string) *command {
	for i := range commandTable {
		if commandTable[i].name == name {
			return &commandTable[i]
		}
	}
	return nil
}

// helpEnd are the paragraphs after the table.
var helpEnd = []string{
	"Any other line goes to the model. /NAME runs the recipe of that name, with what follows as its arguments (KEY=VALUE), or uses the skill of that name. @FILE names a file of the project.",
	"!COMMAND runs a shell command of yours: hooks judge it, and the model reads it and its output with your next prompt.",
	"While a turn runs, what you send waits for its end.",
	"enter sends · alt-enter, ctrl-j or a \\ before enter begins a new line · ↑ ↓ earlier lines · tab completes · ctrl-o opens what is folded · esc or ctrl-c aborts the turn, twice ends hookd",
}

func help(p *show.Printer) {
	for _, c := range commandTable {
		if c.does != "" {
			p.Print("  %-23s %s\n", strings.TrimSpace("/"+c.name+" "+c.args), c.does)
		}
	}
	for _, text := range helpEnd {
		p.Paragraphs("  ", show.Plain, text)
	}
}

// callable returns all that may follow a slash at the begin of a line.
func callable(c *conversation.Conversation) (names []string) {
	for _, row := range commandTable {
		names = append(names, row.name)
	}
	for _, n := range append(c.Recipes(), c.Skills()...) {
		names = append(names, n.Name)
	}
	return names
}

// answer returns what a command prints.
func (k *commands) answer(ctx context.Context, e commandEffect, width int, color bool) string {
	var b strings.Builder
	p := &show.Printer{W: &b, Color: color, Width: width}
	var err error
	switch e.name {
	case "help":
		help(p)
	case "hooks":
		err = k.hooks(ctx, p)
	case "model":
		err = k.model(p, e.args)
	case "sessions":
		err = k.sessions(ctx, p)
	case "trust":
		err = k.trust(ctx, p)
	case "skills":
		list(p, k.c.Skills(), "no skill is there, or none may be used yet: /trust")
	case "recipes":
		list(p, k.c.Recipes(), "there is no recipe")
	}
	if err != nil {
		p.Print("%s %s\n", p.In(show.Bad, "!"), show.OneLine(err.Error()))
		var fault *cli.Fault
		if errors.As(err, &fault) && fault.Hint != "" {
			p.Print("  %s\n", p.In(show.Quiet, show.OneLine(fault.Hint)))
		}
	}
	p.Raw(k.header.redraw(p))
	return strings.TrimRight(b.String(), "\n")
}

// list prints what may be called by name.
func list(p *show.Printer, named []conversation.Named, none string) {
	if len(named) == 0 {
		p.Print("%s\n", p.In(show.Quiet, none))
	}
	for _, n := range named {
		name := show.Line(strings.TrimSpace("/" + n.Name + " " + n.Args))
		p.Print("%s%s %s\n", p.In(show.Name, name), strings.Repeat(" ", max(22-show.Width(name), 1)), show.Line(show.Shorten(n.Description, 200)))
	}
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

// nearName returns the command, or the one of the other names, that a misspelt one was meant to
// be, "" if none is near. A name that is not near is a prompt: a hook may know it.
func nearName(name string, others []string) string {
	if len(name) < 3 || slices.Contains(others, name) {
		return ""
	}
	isNear := func(known string) bool {
		d := text.Distance(name, known)
		return d <= 1 || d == 2 && len(known) > 5
	}
	for _, known := range commandTable {
		if isNear(known.name) {
			return known.name
		}
	}
	if i := slices.IndexFunc(others, isNear); i >= 0 {
		return others[i]
	}
	return ""
}
