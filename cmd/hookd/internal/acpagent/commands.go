package acpagent

import (
	"context"
	"strings"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol/acp"
)

// ownCommands are those of a conversation that make sense in a client.
var ownCommands = []acp.Command{
	{Name: "hooks", Description: "The hooks of this project, in running order"},
	{Name: "model", Description: "Say which model answers, or let another one answer", Input: &acp.CommandInput{Hint: "PROVIDER:NAME"}},
	{Name: "compact", Description: "Put a summary in the place of the conversation", Input: &acp.CommandInput{Hint: "what to keep in mind"}},
}

// commands are all that may follow a slash: hookd's own, the recipes and the skills.
func (s *session) commands() *acp.Commands {
	list := &acp.Commands{Kind: acp.CommandsChanged, AvailableCommands: []acp.Command{}}
	taken := map[string]bool{}
	add := func(c acp.Command) {
		if !taken[c.Name] {
			taken[c.Name] = true
			list.AvailableCommands = append(list.AvailableCommands, c)
		}
	}
	for _, c := range ownCommands {
		add(c)
	}
	for _, n := range append(s.c.Skills(), s.c.Recipes()...) {
		c := acp.Command{Name: n.Name, Description: show.Line(show.Shorten(n.Description, 200))}
		if n.Args != "" {
			c.Input = &acp.CommandInput{Hint: show.Line(show.Shorten(n.Args, 200))}
		}
		add(c)
	}
	return list
}

// meant finds out what a prompt asks for: a run, or something that hookd itself tells, for which
// begin is nil.
func (t *turn) meant(prompt *agentloop.Prompt) (begin func(context.Context) (*agentloop.Run, error), told string, err error) {
	c := t.session.c
	name, args := commandIn(prompt)
	switch {
	case name == "hooks":
		if w := c.Engine.Watcher(); w != nil {
			told = printed(func(p *show.Printer) { report.Listing(p, engine.Describe(w.Snapshot())) })
		}
		return nil, told, nil
	case name == "model":
		if args != "" {
			if err = t.session.choices.chooseModel(args, nil); err == nil {
				t.session.show(t.ctx, t.session.choices.news())
			}
		}
		return nil, "model: " + show.Line(t.session.choices.modelNow().CurrentValue), err
	case name == "compact":
		return func(ctx context.Context) (*agentloop.Run, error) { return c.Compact(ctx, args) }, "", nil
	case name != "" && c.IsRecipe(name):
		return func(ctx context.Context) (*agentloop.Run, error) { return c.RunRecipe(ctx, name, args) }, "", nil
	}
	return func(ctx context.Context) (*agentloop.Run, error) { return c.Loop.RunPrompt(ctx, *prompt) }, "", nil
}

// commandIn returns the word after a slash at the begin of a prompt, and what follows it.
func commandIn(prompt *agentloop.Prompt) (name, args string) {
	rest, is := strings.CutPrefix(prompt.Text, "/")
	if !is || len(prompt.Attachments) > 0 {
		return "", ""
	}
	name = rest
	if end := strings.IndexAny(rest, " \t\n"); end >= 0 {
		name, args = rest[:end], strings.TrimSpace(rest[end:])
	}
	return name, args
}

// printed returns what is printed for a person, as a block of a message.
func printed(print func(*show.Printer)) string {
	var b strings.Builder
	print(&show.Printer{W: &b})
	return "```\n" + strings.TrimRight(b.String(), "\n") + "\n```"
}
