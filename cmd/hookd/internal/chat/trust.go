package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/question"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/trustcmd"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// sayLater says what of it counts only in the next conversation: this one began without it.
func sayLater(p *show.Printer, plan *loader.Plan, allowed []string, inProject, takesSkills bool) {
	var later []string
	for i := range plan.Items {
		if item := &plan.Items[i]; slices.Contains(allowed, item.Hook) && countsLater(item, takesSkills) {
			later = append(later, item.Hook)
		}
	}
	switch {
	case !inProject: // the folder became a project just now
		p.Print("%s\n", p.In(show.Quiet, "this conversation began outside of a project: /new begins one with it"))
	case len(later) > 0:
		p.Print("%s\n", p.In(show.Quiet, trustcmd.CountKinds(plan, later)+": from the next conversation on, /new begins it"))
	}
}

// countsLater reports whether a conversation takes something only when it begins.
func countsLater(item *loader.PlanItem, takesSkills bool) bool {
	return item.Kind == loader.KindSkill && !takesSkills || item.Kind == loader.KindRecipe || item.Kind == loader.KindServer || item.Kind == loader.KindSettings && len(jsonspan.Get(item.Now.Entry, "agent")) > 0
}

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
	// The plan is a part of the question, so that a yes counts only after all of it was shown.
	fmt.Fprintf(&shown, "\n%s\n", p.In(show.Strong, fmt.Sprintf("allow %s%s?", trustcmd.CountKinds(plan, open), trustcmd.NotShown(plan, open))))
	answer, err := k.ask(ctx, agentloop.Question{
		Event: question.AboutTrust, AskedBy: "hookd", Text: strings.Trim(shown.String(), "\n"),
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
	sayLater(p, plan, open, k.c.Engine.Project() != "", k.c.TakesSkills())
	return nil
}
