package chat

import (
	"context"
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/trustcmd"
	"github.com/hookd-dev/hookd/protocol"
)

// trust answers /trust, which is hookd trust in a conversation.
func (k *commands) trust(ctx context.Context, p *show.Printer) error {
	trust, err := k.c.Hooks.Project.OpenDecision()
	if err != nil {
		return err
	}
	plan, err := trust.Plan(ctx)
	if err != nil {
		return trustcmd.Fault(err)
	}
	var shown strings.Builder
	open := trustcmd.OpenItems(&show.Printer{W: &shown, Color: p.Color, Width: p.Width}, plan)
	if len(open) == 0 {
		p.Raw(shown.String())
		p.Print("nothing to decide\n")
		return nil
	}
	k.tell(strings.TrimRight(shown.String(), "\n"))
	answer, err := k.ask(ctx, agentloop.Question{
		Event: "trust", AskedBy: "hookd", Text: fmt.Sprintf("allow %s%s?", trustcmd.CountKinds(plan, open), trustcmd.NotShown(plan, open)),
		Options: []protocol.PermissionOption{{OptionID: "allow", Name: "Allow", Kind: "allow-once"}, {OptionID: "reject", Name: "Leave as it is", Kind: "reject-once"}},
	})
	if err != nil || answer.OptionID != "allow" {
		p.Print("not allowed; nothing changed\n")
		return nil
	}
	trust.How = trustcmd.HowDecided(false)
	if err := trust.Allow(plan, open...); err != nil {
		return trustcmd.Fault(err)
	}
	if w := k.c.Engine.Watcher(); w != nil { // no event is to come in between
		if _, err := w.Reload(ctx); err != nil {
			return cli.Failed("reload", err, "")
		}
	}
	p.Print("%s %s allowed; it counts from the next event on\n", p.In(show.Good, "✓"), trustcmd.CountKinds(plan, open))
	return nil
}
